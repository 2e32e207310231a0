"""Would the same come out again? Two halves of the judgments, or of the people, fitted apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pyrovice.criticism.fits_alike import fits_of, likeness, matched, share_as_large, similarities
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PyroviceError

HALVES = ("judgments", "people")
MEASURES = {"similarity": "similarities of pairs of objects", "dimensions": "matched dimensions"}


@dataclass(frozen=True, eq=False, repr=False)
class SplitHalf:
    """Split-half reliability of an embedding; made by :func:`pyrovice.split_half`.

    Attributes
    ----------
    by : str
        What was split: ``"judgments"`` or ``"people"``.
    table : DataFrame
        A row per split: how many `judgments` each half has, how many dimensions each keeps, and
        the correlation between the halves of `similarity` (of all pairs of objects) and of
        `dimensions` (the mean over dimensions with their best match).
    null : DataFrame
        The means of both over splits if objects had nothing to do with each other: those of the
        second half exchanged at random.
    """

    by: str
    table: pd.DataFrame
    null: pd.DataFrame

    @property
    def summary(self) -> pd.DataFrame:
        """By measure: the mean over splits, corrected to the length of the data, and a p-value.

        `corrected` is Spearman and Brown's 2r / (1 + r), what two sets as large as the whole
        would correlate; `chance_95` the 95 % quantile of what chance does.
        """
        rows = {}
        for measure in MEASURES:
            r = float(self.table[measure].mean())
            null = self.null[measure].to_numpy()
            rows[measure] = {
                "correlation": r,
                "corrected": 2 * r / (1 + r) if r > -1 else np.nan,
                "chance_95": float(np.quantile(null, 0.95)),
                "p_value": share_as_large(null, r),
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")

    def __repr__(self) -> str:
        times = "1 split" if len(self.table) == 1 else f"{len(self.table)} splits"
        lines = [f"Halves of the {self.by}, {times}, fitted apart"]
        for measure, row in self.summary.iterrows():
            lines.append(
                f"  {MEASURES[str(measure)]}: r = {row.correlation:.3f} between halves, "
                f"{row.corrected:.3f} for the whole (Spearman-Brown); by chance up to "
                f"{row.chance_95:.3f}, p = {row.p_value:.3f}"
            )
        return "\n".join(lines)


def split_half(
    data: Triplets,
    *,
    by: str = "judgments",
    splits: int = 5,
    permutations: int = 1000,
    seed: int = 0,
    **fit_arguments: Any,
) -> SplitHalf:
    """How much of an embedding comes back in other judgments, or in other people.

    Parameters
    ----------
    data : Triplets
        The judgments.
    by : {"judgments", "people"}
        What to deal into halves. All judgments of a triplet, or of a person, stay together.
    splits : int
        How many ways to split; two fits each.
    permutations : int
        How often objects are exchanged for the null distribution, without new fits.
    seed : int
        Of the splits and permutations.
    **fit_arguments
        As for :func:`fit`: ``prior``, ``dimensions``, ``training`` and so on.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> short = pv.Training(schedule=pv.Anneal(steps=200))
    >>> found = pv.split_half(data, splits=1, permutations=99, dimensions=9, training=short)
    >>> bool(found.summary.correlation["similarity"] > 0.9), float(found.summary.p_value.max())
    (True, 0.01)
    """
    if by not in HALVES:
        raise PyroviceError(f"by={by!r}; expected 'judgments' or 'people'.")
    times = whole(splits, "splits", least=1)
    rng = np.random.default_rng(seed)
    halves = [
        half
        for _ in range(times)
        for half in (_of_people(data, rng) if by == "people" else _of_judgments(data, rng))
    ]
    fits = fits_of(halves, fit_arguments)
    S = [similarities(fit) for fit in fits]
    X = [fit.embedding().to_numpy(float) for fit in fits]
    rows = [
        {
            "judgments_1": len(halves[i]),
            "judgments_2": len(halves[i + 1]),
            "dimensions_1": fits[i].n_dimensions,
            "dimensions_2": fits[i + 1].n_dimensions,
            "similarity": likeness(S[i], S[i + 1]),
            "dimensions": matched(X[i], X[i + 1]),
        }
        for i in range(0, len(fits), 2)
    ]
    null = []
    for _ in range(whole(permutations, "permutations", least=1)):
        orders = [rng.permutation(data.n_objects) for _ in range(times)]
        pairs = list(zip(range(0, len(fits), 2), orders, strict=True))
        null.append(
            {
                "similarity": np.mean([likeness(S[i], S[i + 1][np.ix_(o, o)]) for i, o in pairs]),
                "dimensions": np.mean([matched(X[i], X[i + 1][o]) for i, o in pairs]),
            }
        )
    return SplitHalf(by, pd.DataFrame(rows), pd.DataFrame(null))


def _of_judgments(data: Triplets, rng: np.random.Generator) -> tuple[Triplets, ...]:
    return data.split(0.5, 0.5, seed=int(rng.integers(2**31)))


def _of_people(data: Triplets, rng: np.random.Generator) -> tuple[Triplets, Triplets]:
    people = data.people()
    if len(people) < 2:
        raise DataError(
            f"by='people' deals people into halves, and these judgments name {len(people)}; give "
            "participants, or split by='judgments'."
        )
    first = [people[i] for i in rng.permutation(len(people))[: len(people) // 2]]
    known = pd.notna(pd.Series(data.participants)).to_numpy()
    mine = np.isin(np.asarray(data.participants, dtype=object), np.array(first, dtype=object))
    return data[mine], data[known & ~mine]
