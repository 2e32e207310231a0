"""Random parts of judgments: for training and testing, folds, studies of data efficiency.

All judgments of three objects go to the same part, whatever was asked about them, so that
nothing in a test part was seen in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.validation import whole
from pyrovice.errors import DataError


def check_fractions(fractions: Sequence[float]) -> Sequence[float]:
    """Positive shares of one whole."""
    if any(not isinstance(share, int | float | np.number) for share in fractions):
        raise DataError(
            f"split got {fractions}; expected numbers, for example t.split(0.9, 0.1, seed=0)."
        )
    shares = np.asarray(fractions, float)
    if not len(shares) or not np.all(np.isfinite(shares)) or np.any(shares <= 0):
        raise DataError(
            f"split got the fractions {tuple(fractions)}; expected positive numbers, "
            "for example t.split(0.9, 0.1, seed=0)."
        )
    if shares.sum() > 1 + 1e-9:
        raise DataError(
            f"The fractions {tuple(fractions)} sum to {shares.sum():g}, more than the whole. "
            "Use shares of 1, for example t.split(0.8, 0.1, 0.1, seed=0)."
        )
    return fractions


def equal_fractions(fraction: float) -> Sequence[float]:
    """As many parts of this size as there are in a whole."""
    if not isinstance(fraction, int | float | np.number) or not 0 < fraction <= 0.5:
        raise DataError(
            f"partitions(fraction={fraction!r}); expected a number above 0 and at most 0.5, for "
            "example t.partitions(0.1, seed=0) for ten parts."
        )
    # 1 / 0.1 may come out a hair below ten.
    return [float(fraction)] * int(1 / fraction + 1e-9)


def fold_fractions(k: int) -> Sequence[float]:
    """Equal shares for `k` test parts."""
    k = whole(k, "k", least=2)
    return [1 / k] * k


def deal(
    triplets: NDArray[np.int64],
    fractions: Sequence[float],
    seed: int,
    participants: NDArray[Any] | None = None,
) -> NDArray[np.intp]:
    """For each row its part 0, 1, ..., or the number of parts if it is in none.

    Parameters
    ----------
    triplets : array of shape (n,)
        A number per row, equal for rows that belong together.
    fractions : sequence of float
        The share of the rows for each part.
    seed : int
        The same seed gives the same parts.
    participants : array of shape (n,), optional
        Whose judgments to spread evenly over the parts.
    """
    _, first_row, triplet, times = np.unique(
        triplets, return_index=True, return_inverse=True, return_counts=True
    )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(times))
    if participants is not None:
        codes = pd.factorize(participants)[0]
        owner = codes[first_row]
        # What several people judged is a group of its own.
        owner[triplet[codes != owner[triplet]]] = -1
        order = _spread_evenly(order, owner, rng)
    # Triplets are dealt out in this order until a part has its share of the judgments.
    dealt = np.cumsum(times[order])
    ends = np.searchsorted(dealt, np.round(np.cumsum(fractions) * len(triplets)) - 0.5) + 1
    part_of_triplet = np.empty(len(times), np.intp)
    part_of_triplet[order] = np.searchsorted(ends, np.arange(len(times)), side="right")
    part = part_of_triplet[triplet]
    sizes = np.bincount(part, minlength=len(fractions))[: len(fractions)]
    if np.any(sizes == 0):
        raise DataError(
            f"{len(triplets)} judgments of {len(times)} triplets are too few for the fractions "
            f"{tuple(fractions)}: part {int(np.argmin(sizes)) + 1} would be empty."
        )
    return part


def _spread_evenly(
    order: NDArray[np.intp], group: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """A random order in which every stretch holds its share of every group."""
    by_group = order[np.argsort(group[order], kind="stable")]
    _, start, of, size = np.unique(
        group[by_group], return_index=True, return_inverse=True, return_counts=True
    )
    # Members of a group are spaced evenly over the whole, each group from a place of its own.
    offset = rng.random(len(start))
    place = (np.arange(len(order)) - start[of] + offset[of]) / size[of]
    return by_group[np.argsort(place, kind="stable")]
