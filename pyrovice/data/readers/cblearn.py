"""Arrays of cblearn: rows (i, j, k), where i is nearer to j than to k.

They are anchored judgments with the anchor first. Responses, in a fourth column or an array of
their own, reverse that where they are false or negative; numbers beyond one count how often.
In cblearn's odd-one-out rows the odd one is in the first column: ``odd="first"``.

A file of three columns looks like one of VICE, so this format is never guessed from them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.arrays import ODD_COLUMNS
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.numbers import numeric_table, rows_of_numbers
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import Table
from pyrovice.data.readers.votes import repeated_rows
from pyrovice.errors import DataError

EXPECTED = "expected three columns (i, j, k), and at most one more with the responses"


def recognise(sample: Sample) -> str | None:
    """Four numbers per row, the last of them sometimes negative, which a participant never is."""
    rows = rows_of_numbers(sample)
    if rows is None or not rows.size or rows.shape[1] != 4 or rows[:, 3].min() >= 0:
        return None
    return "three columns of ids and one of responses, some negative"


def read(
    source: Source,
    options: Options,
    decided: str,
    responses: ArrayLike | str | Path | None = None,
    odd: str | None = None,
) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    if odd is not None and odd not in ODD_COLUMNS:
        raise DataError(f"odd={odd!r}; expected 'first', 'last', or nothing for (i, j, k).")
    table = numeric_table(source, (3, 4), EXPECTED)
    ids = table.whole([0, 1, 2], "an id")
    counts = _responses(table, responses)
    if odd is not None and counts is not None:
        raise DataError("Odd-one-out rows have no responses; leave out odd=... or responses=...")
    if counts is None:
        column = np.full(len(ids), ODD_COLUMNS[odd or "last"])
    else:
        table.leave_out(counts == 0, "without a response")
        column = np.where(counts > 0, 2, 1)
        table, rows = repeated_rows(table, np.abs(counts))
        ids, column = ids[rows], column[rows]
    return finish(
        Found(
            table,
            ids,
            column,
            anchor=None if odd else 0,
        ),
        options,
        "cblearn",
        decided,
    )


def _responses(
    table: Table, responses: ArrayLike | str | Path | None
) -> NDArray[np.integer] | None:
    """How often j was nearer, negative where k was; None if always j."""
    if responses is None:
        return table.whole([3], "a response")[:, 0] if 3 in table else None
    if 3 in table:
        raise DataError("The responses are in the fourth column already; leave out responses=...")
    if isinstance(responses, str | Path):
        path = Path(responses)
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist; expected a .npy file of responses.")
        try:
            responses = np.load(path, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise DataError(f"{path} is not a NumPy array of responses ({error}).") from error
    array = np.asarray(responses)
    if array.shape != (len(table),):
        raise DataError(f"responses has shape {array.shape}, expected ({len(table)},).")
    if array.dtype == bool:
        return np.where(array, 1, -1)
    column = Table(table.source, {3: array}, table.lines, table.unit, table.show)
    counts = column.whole([3], "a response")[:, 0]
    for reason, rows in column.wrong.items():
        table.complain(rows, reason)
    return counts
