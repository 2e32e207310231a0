"""Judgments from rows of object ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.data.plausibility import doubts_about_objects
from pyrovice.data.validation import default_names, positions_within, whole_numbers
from pyrovice.errors import DataError, tell

# More objects than this would take gigabytes to name, and the square of that to fit.
MOST_UNNAMED = 1_000_000
# Columns of an array that may hold the odd one in every row.
ODD_COLUMNS = {"last": 2, "first": 0}


def rows_to_judgments(
    array: ArrayLike,
    odd: str | ArrayLike,
    names: Sequence[str] | None,
    n_objects: int | None,
) -> dict[str, Any]:
    """The arguments of `Triplets` for rows of ids; see `Triplets.from_array`."""
    ids = whole_numbers(array, "array")
    if ids.ndim != 2 or ids.shape[1] != 3:
        raise DataError(
            f"array has shape {ids.shape}, expected (n, 3): the three objects of one "
            "judgment in each row."
        )
    if isinstance(odd, str):
        if odd not in ODD_COLUMNS:
            raise DataError(
                f"odd={odd!r} is not a column: use odd='last', odd='first' or an array "
                "with one column number (0, 1 or 2) per row."
            )
        column = np.full(len(ids), ODD_COLUMNS[odd], np.int8)
    else:
        column = positions_within(odd, len(ids), "odd", lowest=0)
    if names is None and n_objects is not None:
        names = default_names(n_objects)
    if names is None and ids.max() >= MOST_UNNAMED:
        row = int(np.argmax(ids.max(axis=1)))
        raise DataError(
            f"Row {row} holds the id {ids[row].max()}. If ids are labels with gaps, use "
            "Triplets.from_dataframe with columns of text; if there really are that many objects, "
            "pass n_objects."
        )
    if names is None and ids.min() >= 0:
        for doubt in doubts_about_objects(ids, default_names(int(ids.max()) + 1), told=False):
            tell(doubt)
    ascending, position = in_ascending_order(ids, column)
    # A column number per row says that the columns are places, not roles.
    trials = None if isinstance(odd, str) else pd.DataFrame(screen_places(ids, column))
    return {"objects": ascending, "odd": position, "names": names, "trials": trials}


def in_ascending_order(
    ids: NDArray[np.integer], column: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.int8]]:
    """Rows sorted, and where the object of the given column went."""
    # Column by column: NumPy is slow at sorting many short rows.
    first, second, third = ids.T
    ascending = np.empty_like(ids, order="C")
    np.minimum(first, second, out=ascending[:, 0])
    np.maximum(first, second, out=ascending[:, 2])
    np.minimum(ascending[:, 2], third, out=ascending[:, 1])
    np.maximum(ascending[:, 2], third, out=ascending[:, 2])
    lowest = np.minimum(ascending[:, 0], ascending[:, 1])
    np.maximum(ascending[:, 0], ascending[:, 1], out=ascending[:, 1])
    ascending[:, 0] = lowest
    chosen = np.where(column == 0, first, np.where(column == 1, second, third))
    # As many objects come before it as have smaller ids.
    position = np.zeros(len(ids), np.int8)
    for other in (first, second, third):
        position += other < chosen
    return ascending, position


def screen_places(
    ids: NDArray[np.integer],
    odd: NDArray[np.integer],
    anchor: NDArray[np.integer] | None = None,
) -> dict[str, NDArray[np.int8]]:
    """Columns of `Triplets.trials`: where the answer and each object stood on the screen.

    Parameters
    ----------
    ids : array of shape (n, 3)
        The objects by place, from left to right.
    odd : array of shape (n,)
        Which of them is the odd one.
    anchor : array of shape (n,), optional
        Which of them is the anchor, -1 for none. With an anchor the answer is the
        other object that is not odd.

    Returns
    -------
    dict
        `position`, the place 1, 2 or 3 of the answer, and `place_1` ... `place_3`, those of
        the objects in ascending order.
    """
    answer = odd if anchor is None else np.where(anchor < 0, odd, 3 - anchor - odd)
    place = np.argsort(ids, axis=1).astype(np.int8) + np.int8(1)
    return {
        "position": (answer + 1).astype(np.int8),
        **dict(zip(PLACE_COLUMNS, place.T, strict=True)),
    }
