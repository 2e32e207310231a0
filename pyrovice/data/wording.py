"""How sentences name a few of many."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

MOST_NAMED = 5


def first_few(items: Iterable[object]) -> str:
    """The first few of many in words.

    Examples
    --------
    >>> first_few("abc"), first_few(range(10))
    ('a, b, c', '0, 1, 2, 3, 4, ...')
    """
    texts = [str(item) for item in islice(items, MOST_NAMED + 1)]
    return ", ".join(texts[:MOST_NAMED]) + (", ..." if len(texts) > MOST_NAMED else "")


def some_rows(rows: NDArray[np.integer]) -> str:
    """The first few of many row numbers, and how many there are."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    return f"rows {first_few(rows)} ({len(rows):,} in all)"
