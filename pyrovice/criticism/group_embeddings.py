"""Do two groups of people see objects differently? Fitted apart, and people exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.criticism.fits_alike import fits_of, likeness, matched, share_as_large, similarities
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError
from pyrovice.results.fit import Fit


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison:
    """Whether the embeddings of two groups differ; made by :func:`pyrovice.compare_groups`.

    Attributes
    ----------
    groups : tuple of str
        What the two are called.
    people, judgments : tuple of int
        How many each has.
    fits : tuple of Fit
        The fit of each group.
    observed : dict
        How unlike the two are, one minus a correlation: `similarity`, of all pairs of objects,
        and `dimensions`, the mean over dimensions with their best match.
    null : DataFrame
        The same for people dealt into groups of these sizes at random.
    """

    groups: tuple[str, str]
    people: tuple[int, int]
    judgments: tuple[int, int]
    fits: tuple[Fit, Fit]
    observed: dict[str, float]
    null: pd.DataFrame

    @property
    def p_value(self) -> pd.Series:
        """By measure: how often people dealt at random are as unlike as the groups are."""
        shares = {name: share_as_large(self.null[name], r) for name, r in self.observed.items()}
        return pd.Series(shares, name="p_value")

    def __repr__(self) -> str:
        who = " and ".join(
            f"{name} ({n} people, {judged:,} judgments)"
            for name, n, judged in zip(self.groups, self.people, self.judgments, strict=True)
        )
        lines = [f"{who}, fitted apart; people exchanged {len(self.null)} times"]
        for name, value in self.observed.items():
            low, high = np.quantile(self.null[name], (0.05, 0.95))
            lines.append(
                f"  1 − correlation of {name}: {value:.3f}, by chance {low:.3f} to {high:.3f}, "
                f"p = {self.p_value[name]:.3f}"
            )
        return "\n".join(lines)


def compare_groups(
    data: Triplets,
    groups: Mapping[Any, str] | pd.Series,
    *,
    permutations: int = 39,
    seed: int = 0,
    **fit_arguments: Any,
) -> GroupComparison:
    """Test whether two groups of people have different embeddings.

    Each group is fitted by itself. Then people, with all their judgments, are dealt into groups of
    the same sizes at random and these are fitted: what differs between groups by chance.

    Parameters
    ----------
    data : Triplets
        Judgments that say who judged.
    groups : mapping or Series
        The group of each person; two groups. People without one are left out.
    permutations : int
        How often people are exchanged; two fits each. With 39 a p-value is at least 0.025.
    seed : int
        Of the permutations.
    **fit_arguments
        As for :func:`fit`: ``prior``, ``dimensions``, ``training`` and so on.

    See Also
    --------
    Fit.groups : which dimensions groups weigh differently, in one fit with ``people=``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> half = {person: "a" if i % 2 else "b" for i, person in enumerate(data.people())}
    >>> short = pv.Training(schedule=pv.Anneal(steps=100))
    >>> found = pv.compare_groups(data, half, permutations=3, dimensions=8, training=short)
    >>> found.people
    (6, 6)
    """
    who, first, names = _two_groups(data, groups)
    rng = np.random.default_rng(seed)
    dealt = [first]
    dealt += [rng.permutation(first) for _ in range(whole(permutations, "permutations", least=1))]
    parts = [part for is_first in dealt for part in _parts(data, who, is_first)]
    fits = fits_of(parts, fit_arguments)
    unlike = [_unlike(*fits[i : i + 2]) for i in range(0, len(fits), 2)]
    return GroupComparison(
        groups=names,
        people=(int(first.sum()), int((~first).sum())),
        judgments=(len(parts[0]), len(parts[1])),
        fits=(fits[0], fits[1]),
        observed=unlike[0],
        null=pd.DataFrame(unlike[1:]),
    )


def _two_groups(
    data: Triplets, groups: Mapping[Any, str] | pd.Series
) -> tuple[list[Any], NDArray[np.bool_], tuple[str, str]]:
    """People who judged and have a group, who of them is in the first, and both names."""
    given = dict(groups)
    who = [person for person in data.people() if not pd.isna(given.get(person))]
    names = sorted({str(given[person]) for person in who})
    if len(names) != 2:
        raise DataError(
            f"There are {len(names)} groups of people who judged ({', '.join(names) or 'none'}); "
            "expected two, for example {'ann': 'expert', 'bob': 'novice'}."
        )
    first = np.array([str(given[person]) == names[0] for person in who])
    if min(first.sum(), (~first).sum()) < 2:
        raise DataError("A group has only one person; expected at least two to exchange.")
    return who, first, (names[0], names[1])


def _parts(data: Triplets, who: list[Any], first: NDArray[np.bool_]) -> tuple[Triplets, Triplets]:
    number = pd.Index(who).get_indexer(pd.Index(data.participants))
    of_first = np.append(first, False)[number]
    return data[(number >= 0) & of_first], data[(number >= 0) & ~of_first]


def _unlike(a: Fit, b: Fit) -> dict[str, float]:
    X, Y = (fit.embedding().to_numpy(float) for fit in (a, b))
    return {
        "similarity": 1 - likeness(similarities(a), similarities(b)),
        "dimensions": 1 - matched(X, Y),
    }
