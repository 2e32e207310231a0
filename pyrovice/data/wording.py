"""How sentences name a few of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def some_of(names: Sequence[object], what: str) -> str:
    """How many there are, and the first few by name.

    Examples
    --------
    >>> some_of(["cat"], "object"), some_of(["cat", "dog"], "object")
    ("1 object ('cat')", "2 objects ('cat', 'dog')")
    """
    plural = "" if len(names) == 1 else "s"
    return f"{len(names):,} {what}{plural} ({first_few(map(repr, names))})"
