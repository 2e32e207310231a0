"""Whether fits of several seeds found the same dimensions (paper, "Reproducibility").

Dimensions have no names and come in any order, so those of one fit are first matched with
those of the others, by their correlation over the objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError, tell
from pyrovice.model.simulation import numeric_matrix
from pyrovice.results.dimension_numbers import numbered
from pyrovice.results.fit import Fit
from pyrovice.results.matching import SAME_DIMENSION, correlations, partners

MATCHINGS = ("best", "one-to-one")


@dataclass(frozen=True, eq=False, repr=False)
class Reproducibility:
    """Which dimensions come back; made by :func:`pyrovice.reproducibility`.

    Attributes
    ----------
    score : float
        Share of all dimensions that are reproducible.
    table : DataFrame
        A row per dimension of each model: `model` (its number among the fits, from 1 as for
        dimensions, so that model 1 is ``fits[0]``), `dimension`, `correlation` with its match,
        averaged over the other models, the `lowest` of these correlations, and `reproducible`,
        whether the average exceeds the threshold.
    threshold : float
        What the average must exceed.
    matching : str
        How matches were chosen.
    """

    score: float
    table: pd.DataFrame
    threshold: float
    matching: str

    @property
    def by_model(self) -> pd.DataFrame:
        """For each model, by its number from 1, how many dimensions and what share comes back."""
        found = self.table.groupby("model").reproducible
        return pd.DataFrame({"dimensions": found.size(), "score": found.mean()})

    def __repr__(self) -> str:
        by_model = self.by_model
        counts = by_model.dimensions
        spread = f"{counts.min()}" if counts.nunique() == 1 else f"{counts.min()} to {counts.max()}"
        return (
            f"Reproducibility({self.score:.1%} of the dimensions of {len(by_model)} models with "
            f"{spread} each correlate above {self.threshold:g} with their "
            f"{'best' if self.matching == 'best' else 'one-to-one'} match in the others; "
            f"mean correlation {self.table.correlation.mean():.3f})"
        )


def reproducibility(
    fits: Sequence[Fit | pd.DataFrame | ArrayLike],
    *,
    threshold: float = SAME_DIMENSION,
    matching: str = "best",
) -> Reproducibility:
    """How many dimensions come back in fits that differ in their seeds.

    For every kept dimension of every fit, its match in each other fit is found, and the
    Pearson correlations with the matches are averaged.

    Parameters
    ----------
    fits : sequence of Fit
        At least two, of the same objects. Embeddings (objects x dimensions) work as well, for
        example a published one.
    threshold : float
        A dimension is reproducible if its average correlation exceeds this; 0.8 in the paper.
    matching : {"best", "one-to-one"}
        ``"best"``, the paper's, takes the dimension that correlates most, which may be the
        match of several. ``"one-to-one"`` gives every dimension a partner of its own, so
        that the sum of correlations is largest; one that is left over counts as 0.

    Returns
    -------
    Reproducibility

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> X = np.random.default_rng(0).gamma(1.0, 1.0, (50, 3))
    >>> found = pv.reproducibility([X, X[:, [2, 0]]])
    >>> found.score
    0.8
    >>> found.table.round(3)
       model  dimension  correlation  lowest  reproducible
    0      1          1        1.000   1.000          True
    1      1          2        0.128   0.128         False
    2      1          3        1.000   1.000          True
    3      2          1        1.000   1.000          True
    4      2          2        1.000   1.000          True
    """
    if matching not in MATCHINGS:
        raise PyroviceError(
            f"matching={matching!r}; expected one of {', '.join(map(repr, MATCHINGS))}."
        )
    if not -1 <= threshold < 1:
        raise PyroviceError(f"threshold={threshold!r}; expected a correlation, for example 0.8.")
    embeddings = _embeddings(fits)
    rows: list[pd.DataFrame] = []
    for model, own in enumerate(embeddings, start=1):
        others = [other for i, other in enumerate(embeddings, start=1) if i != model]
        r = np.stack(
            [
                _correlations_with_match(own.to_numpy(), other.to_numpy(), matching)
                for other in others
            ]
        )
        of_model = {
            "model": model,
            "dimension": own.columns,
            "correlation": r.mean(axis=0),
            "lowest": r.min(axis=0),
        }
        rows.append(pd.DataFrame(of_model))
    table = pd.concat(rows, ignore_index=True)
    if table.empty:
        raise PyroviceError("None of these fits kept a dimension, so there is nothing to match.")
    table["reproducible"] = table.correlation > threshold
    return Reproducibility(float(table.reproducible.mean()), table, threshold, matching)


def align(fits: Sequence[Fit]) -> list[Fit]:
    """Fits with the same dimensions in the same order.

    The fit with the fewest kept dimensions (the first of several) is the reference. Each of its
    dimensions gets a partner of its own in every other fit, so that the sum of
    correlations is largest. What has no partner is left out, and a warning says so.

    Parameters
    ----------
    fits : sequence of Fit
        Of the same objects, for example of several seeds.

    Returns
    -------
    list of Fit
        Pruned, in the order given, all with the number of dimensions of the reference.
        :func:`reproducibility` says whether partners are alike: a dimension that only one
        fit has found gets a partner too.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> fits = [pv.fit(data, dimensions=8, training=short, seed=seed) for seed in (0, 1)]
    >>> first, second = pv.align(fits)
    >>> bool(first.embedding().corrwith(second.embedding()).min() > 0.95)
    True
    """
    fits = checked_fits(fits)
    embeddings = _embeddings(fits)
    counts = [embedding.shape[1] for embedding in embeddings]
    if not min(counts):
        raise PyroviceError(
            f"These fits keep {', '.join(map(str, counts))} dimensions; a fit without "
            "any has none in common with the others. Leave it out."
        )
    if len(set(counts)) > 1:
        tell(
            f"These fits keep {', '.join(map(str, counts))} dimensions; the {min(counts)} that "
            "have a partner in all of them are aligned, and the others are left out.",
        )
    reference = embeddings[int(np.argmin(counts))].to_numpy()
    aligned = []
    for fit, embedding in zip(fits, embeddings, strict=True):
        own = partners(correlations(reference, embedding.to_numpy()))
        columns = fit.kept_positions()[own]
        aligned.append(replace(fit._select(columns), pruned=True))
    return aligned


def redundancy(fit: Fit) -> pd.DataFrame:
    """How alike the kept dimensions of one model are.

    Returns
    -------
    DataFrame
        A row per dimension, the most redundant first: the `partner` among the other
        dimensions that it correlates most with, and the `correlation`. Two dimensions
        that correlate above 0.8 or so are one that was split.

    Examples
    --------
    >>> import pyrovice as pv
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=8, training=short)
    >>> bool(pv.redundancy(fit).correlation.max() < 0.5)
    True
    """
    embedding = fit.embedding()
    if embedding.shape[1] < 2:
        raise PyroviceError(
            f"This fit keeps {embedding.shape[1]} dimensions; expected at least two to compare."
        )
    r = correlations(embedding.to_numpy(), embedding.to_numpy())
    np.fill_diagonal(r, -np.inf)
    table = pd.DataFrame(
        {"partner": embedding.columns[r.argmax(axis=1)], "correlation": r.max(axis=1)},
        index=embedding.columns,
    )
    return table.sort_values("correlation", ascending=False, kind="stable")


def representative(
    fits: Sequence[Fit], validation: Triplets, *, draws: int = 50, seed: int = 0
) -> Fit:
    """The typical one of several fits: the one with the median cross-entropy on validation data.

    Of an even number it is the lower median, the better one of the two in the middle. Fits
    are scored by their kept dimensions, as in the paper.

    Parameters
    ----------
    fits : sequence of Fit
        For example of several seeds.
    validation : Triplets
        Judgments that none of them was fitted to.
    draws, seed : int
        As for ``fit.predict``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, validation = pv.load_example().triplets.split(0.9, 0.1, seed=0)
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> fit = pv.fit(train, dimensions=8, training=short)
    >>> worse = fit.prune(min_objects=15)
    >>> pv.representative([worse, fit], validation) is fit  # the better one of two
    True
    """
    fits = checked_fits(fits)
    if not fits:
        raise PyroviceError("representative got no fits; expected at least one.")
    errors = [fit.prune().evaluate(validation, draws, seed).cross_entropy for fit in fits]
    return fits[int(np.argsort(errors, kind="stable")[(len(fits) - 1) // 2])]


def checked_fits(fits: Fit | Iterable[Fit]) -> list[Fit]:
    """Fits, and nothing else."""
    found = _as_list(fits)
    for fit in found:
        if not isinstance(fit, Fit):
            raise TypeError(f"Got a {type(fit).__name__} among the fits; expected [fit, other].")
    return found


def _as_list(fits: Any) -> list[Any]:
    return [fits] if isinstance(fits, Fit) else list(fits)


def _embeddings(fits: Any) -> list[pd.DataFrame]:
    """The kept dimensions of each, all of the same objects."""
    found = [fit.embedding() if isinstance(fit, Fit) else _as_frame(fit) for fit in _as_list(fits)]
    if len(found) < 2:
        raise PyroviceError(
            f"Got {len(found)} fits; expected at least two, for example of several seeds: "
            "[pv.fit(data, seed=seed) for seed in range(5)]."
        )
    if len({len(embedding) for embedding in found}) > 1 or len(_different_names(found)) > 1:
        raise PyroviceError("These fits are of different objects, so no dimension has a match.")
    return found


def _as_frame(embedding: Any) -> pd.DataFrame:
    values = numeric_matrix(embedding)
    numbers = pd.DataFrame(values, columns=numbered(values.shape[1]))
    if isinstance(embedding, pd.DataFrame):
        return numbers.set_axis(embedding.index, axis=0).set_axis(embedding.columns, axis=1)
    return numbers


def _different_names(embeddings: list[pd.DataFrame]) -> set[tuple[str, ...]]:
    """The names of the objects, where they have any."""
    unnamed = tuple(str(i) for i in range(len(embeddings[0])))
    return {tuple(embedding.index.astype(str)) for embedding in embeddings} - {unnamed}


def _correlations_with_match(
    own: NDArray[np.floating], other: NDArray[np.floating], matching: str
) -> NDArray[np.float64]:
    """The correlation of each dimension with its match, 0 without one."""
    r = correlations(own, other)
    if not r.shape[1]:
        return np.zeros(len(r))
    if matching == "best":
        return r.max(axis=1)
    partner = partners(r)
    return np.where(partner >= 0, r[np.arange(len(r)), partner], 0.0)
