"""Which judgments answer the same question.

A question is a triplet and, for anchored judgments, its anchor. People who were
asked the same question belong together in one distribution of answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.columns import OBJECT_COLUMNS

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets


def question_keys(
    objects: NDArray[np.integer], anchor: NDArray[np.int8], n_objects: int
) -> NDArray[np.int64]:
    """A number per row that is equal for equal questions and small enough to count with."""
    m = n_objects
    if 12 * m**3 > np.iinfo(np.int64).max:
        rows = np.column_stack([objects, anchor])
        return np.unique(rows, axis=0, return_inverse=True)[1].astype(np.int64)
    i, j, k = objects.astype(np.int64).T
    return ((i * m + j) * m + k) * 4 + (anchor + 1)


def triplet_keys(objects: NDArray[np.integer], n_objects: int) -> NDArray[np.int64]:
    """A number per row that is equal for the same three objects, whatever the anchor."""
    return question_keys(objects, np.zeros(len(objects), np.int8), n_objects)


def repeated_questions(
    keys: NDArray[np.int64], odd: NDArray[np.int8]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row of each question asked more than once, and its answers by position."""
    rows = _repeated(keys)
    _, first, question = np.unique(keys[rows], return_index=True, return_inverse=True)
    answers = np.bincount(question * 3 + odd[rows], minlength=3 * len(first)).reshape(-1, 3)
    return rows[first], answers


def different(keys: NDArray[np.int64]) -> int:
    """How many different numbers there are."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(np.diff(ordered))) + 1 if len(ordered) else 0


def _repeated(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where the numbers are that are there more than once."""
    order = np.argsort(keys)
    same = np.diff(keys[order]) == 0
    again = np.zeros(len(keys), bool)
    again[1:] |= same
    again[:-1] |= same
    return np.sort(order[again])


def repeats_table(triplets: Triplets) -> pd.DataFrame:
    """A row per question asked more than once; see `Triplets.repeats`."""
    rows, counts = triplets.repeated()
    shown = triplets.objects[rows]
    names = np.array(triplets.names, dtype=object)
    frame = pd.DataFrame(names[shown], columns=list(OBJECT_COLUMNS))
    for i in range(3):
        frame[f"odd_{i + 1}"] = counts[:, i]
    frame["judgments"] = counts.sum(axis=1)
    if triplets.anchored.any():
        anchors = np.take_along_axis(shown, triplets.anchor[rows, None] % 3, axis=1)
        frame["anchor"] = pd.Series(names[anchors[:, 0]]).where(triplets.anchored[rows])
    return frame
