"""Tables of anchored judgments: a head, and which of two others is more like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.readers.table import Table

DECIDING_ROWS = 1_000


def objects_in(table: Table, columns: Sequence[str]) -> NDArray[Any]:
    """Ids if all of these columns hold numbers in most of the first rows, otherwise names."""
    first = [
        pd.to_numeric(table.columns[name].iloc[:DECIDING_ROWS], errors="coerce") for name in columns
    ]
    if all(numbers.notna().mean() > 0.5 for numbers in first):
        return table.whole(columns, "an id")
    return table.text(columns, "an object")


def odd_of(
    table: Table, shown: NDArray[Any], winner: NDArray[Any], loser: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Which of the columns head, left, right is odd: the option that did not win."""
    first, second = winner == shown[:, 1], winner == shown[:, 2]
    table.complain(first == second, "names a winner that is neither left nor right")
    odd = np.where(first, 2, 1)
    if loser is not None:
        other = shown[np.arange(len(shown)), odd]
        table.complain(loser != other, "names a loser that is not the other option")
    return odd
