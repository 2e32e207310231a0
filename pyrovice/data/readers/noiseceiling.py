"""THINGS' ``triplets_noiseceiling.csv``: repeated triplets, for the noise ceiling.

Whitespace between columns and no header: three ids, the position 1, 2 or 3 of the odd one, and
one more that is not read and may be missing. The format does not say where ids begin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.numbers import numeric_table, rows_of_numbers
from pyrovice.data.readers.source import Sample, Source

EXPECTED = "expected three ids, the position 1, 2 or 3 of the odd one, and one more"


def recognise(sample: Sample) -> str | None:
    """Five numbers per row, the fourth a position in most rows; or four, if it is one in all."""
    rows = rows_of_numbers(sample)
    if rows is None or not rows.size or rows.shape[1] not in (4, 5):
        return None
    positions = np.isin(rows[:, 3], (1, 2, 3))
    if not (positions.all() if rows.shape[1] == 4 else positions.mean() > 0.5):
        return None
    return f"{rows.shape[1]} columns of numbers, the fourth 1 to 3: the position of the odd one"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    table = numeric_table(source, (4, 5), EXPECTED)
    ids = table.whole([0, 1, 2], "an id")
    position = table.whole([3], "a choice")[:, 0]
    table.complain((position < 1) | (position > 3), "holds a choice outside 1 to 3")
    return finish(
        Found(
            table,
            ids,
            np.clip(position - 1, 0, 2),
            first_id=None,
            on_screen=True,
        ),
        options,
        "noiseceiling",
        decided,
    )
