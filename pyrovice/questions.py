"""Which judgments answer the same question.

A question is a triplet and, for anchored judgments, its anchor. People who were
asked the same question belong together: in one part of a split, and in one
distribution of answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyrovice.errors import DataError


def question_keys(
    objects: NDArray[np.int32], anchor: NDArray[np.int8], n_objects: int
) -> NDArray[np.int64]:
    """A number per row that is equal for equal questions and small enough to count with."""
    m = n_objects
    if 12 * m**3 > np.iinfo(np.int64).max:
        rows = np.column_stack([objects, anchor])
        return np.unique(rows, axis=0, return_inverse=True)[1].astype(np.int64)
    i, j, k = objects.astype(np.int64).T
    return ((i * m + j) * m + k) * 4 + (anchor + 1)


def repeated_questions(
    keys: NDArray[np.int64], odd: NDArray[np.int8]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row of each question asked more than once, and its answers by position."""
    _, first_row, question, times = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    answers = np.bincount(question * 3 + odd, minlength=3 * len(times)).reshape(-1, 3)
    return first_row[times > 1], answers[times > 1]


def parts_by_question(
    keys: NDArray[np.int64], fractions: Sequence[float], seed: int
) -> NDArray[np.intp]:
    """For each row its part 0, 1, ..., or the number of parts if it is in none."""
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
    _, question, times = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(times))
    # Questions are dealt out in random order until a part has its share of the judgments.
    dealt = np.cumsum(times[order])
    ends = np.searchsorted(dealt, np.round(np.cumsum(shares) * len(keys)) - 0.5) + 1
    part_of_question = np.empty(len(times), np.intp)
    part_of_question[order] = np.searchsorted(ends, np.arange(len(times)), side="right")
    part = part_of_question[question]
    sizes = np.bincount(part, minlength=len(shares))[: len(shares)]
    if np.any(sizes == 0):
        raise DataError(
            f"{len(keys)} judgments of {len(times)} triplets are too few for the fractions "
            f"{tuple(fractions)}: part {int(np.argmin(sizes)) + 1} would be empty."
        )
    return part
