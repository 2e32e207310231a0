"""Does it matter that people were excluded? Fits with and without them, and without others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pyrovice.criticism.fits_alike import fits_of, likeness, matched, share_as_large, similarities
from pyrovice.data.participants import Review
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class ExclusionEffect:
    """What excluding people changes; made by :func:`pyrovice.exclusion_effect`.

    Attributes
    ----------
    excluded : tuple
        Who was excluded.
    table : DataFrame
        A row for the fit of everybody, of all but the excluded, and of all but as many others at
        random: `judgments`, `dimensions` kept, and how far it is from the fit of everybody, one
        minus a correlation: `similarity` of all pairs of objects, and `matched` dimensions.
    """

    excluded: tuple[Any, ...]
    table: pd.DataFrame

    @property
    def p_value(self) -> pd.Series:
        """How often excluding as many others at random changes as much."""
        _, own, others = self._rows()
        return pd.Series(
            {name: share_as_large(others[name], own[name]) for name in ("similarity", "matched")},
            name="p_value",
        )

    def _rows(self) -> tuple[pd.Series, pd.Series, pd.DataFrame]:
        return self.table.iloc[0], self.table.iloc[1], self.table.iloc[2:]

    def __repr__(self) -> str:
        everybody, own, others = self._rows()
        n = len(self.excluded)
        who, instead = (f"{n} people", f"{n} others") if n > 1 else ("1 person", "another")
        left, of = own.dimensions, everybody.dimensions
        count = (
            f"{left:.0f} dimensions as before"
            if left == of
            else (f"{left:.0f} instead of {of:.0f} dimensions")
        )
        lines = [
            f"Without {who} ({first_few(self.excluded)}) there are "
            f"{own.judgments:,.0f} of {everybody.judgments:,.0f} judgments, and {count}."
        ]
        for name, what in (("similarity", "similarities"), ("matched", "matched dimensions")):
            low, high = np.quantile(others[name], (0.05, 0.95))
            lines.append(
                f"  1 − correlation of {what} with those of everybody: {own[name]:.4f}; without "
                f"{instead} at random {low:.4f} to {high:.4f}, "
                f"p = {self.p_value[name]:.3f}"
            )
        return "\n".join(lines)


def exclusion_effect(
    data: Triplets,
    excluded: Review | Iterable[Any],
    *,
    others: int = 19,
    seed: int = 0,
    **fit_arguments: Any,
) -> ExclusionEffect:
    """Say what excluding people changes, beside excluding as many others at random.

    Parameters
    ----------
    data : Triplets
        All judgments, of those excluded too.
    excluded : Review or labels
        Who: what ``pv.participants.review(data, ...)`` found, or a list of people.
    others : int
        How many random sets of as many people to leave out instead; a fit each.
    seed : int
        Of the random sets.
    **fit_arguments
        As for :func:`fit`: ``prior``, ``dimensions``, ``training`` and so on.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> short = pv.Training(schedule=pv.Anneal(steps=100))
    >>> found = pv.exclusion_effect(data, ["p03"], others=2, dimensions=8, training=short)
    >>> found.table.index.unique().tolist()
    ['everybody', 'without them', 'others at random']
    """
    out = tuple(excluded.excluded if isinstance(excluded, Review) else excluded)
    people = data.people()
    unknown = [person for person in out if person not in people]
    if unknown or not 0 < len(out) < len(people):
        raise DataError(
            f"excluded is {first_few(map(repr, out)) or 'nobody'}; expected some, and not all, of "
            f"the {len(people)} people who judged: {first_few(map(repr, people))}."
        )
    rng = np.random.default_rng(seed)
    sets = [out] + [
        tuple(people[i] for i in rng.permutation(len(people))[: len(out)])
        for _ in range(whole(others, "others", least=1))
    ]
    labels = pd.Series(data.participants)
    parts = [data, *(data[~labels.isin(each).to_numpy()] for each in sets)]
    fits = fits_of(parts, fit_arguments)
    whole_S, whole_X = similarities(fits[0]), fits[0].embedding().to_numpy(float)
    rows = [
        {
            "judgments": len(part),
            "dimensions": fit.n_dimensions,
            "similarity": 1 - likeness(whole_S, similarities(fit)),
            "matched": 1 - matched(whole_X, fit.embedding().to_numpy(float)),
        }
        for part, fit in zip(parts, fits, strict=True)
    ]
    names = ["everybody", "without them"] + ["others at random"] * (len(sets) - 1)
    return ExclusionEffect(out, pd.DataFrame(rows, index=pd.Index(names, name="fit")))
