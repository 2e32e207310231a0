"""One numbering of dimensions for everything that people read."""

from __future__ import annotations

import pandas as pd


def numbered(count: int) -> pd.RangeIndex:
    """The numbers of dimensions, which count from 1 as a reader of a paper does.

    Tables, figures, files, coordinates and arguments have these numbers. Plain arrays are
    addressed by position, from 0, as numpy does.

    Examples
    --------
    >>> list(numbered(3))
    [1, 2, 3]
    """
    return pd.RangeIndex(1, count + 1, name="dimension")
