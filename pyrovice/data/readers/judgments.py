"""Tables as `Triplets.write` makes them: names in `object_1` ... `object_3`, and `odd`.

`anchor` and `participant` may follow, and columns of `Triplets.trials`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pyrovice.data.columns import OBJECT_COLUMNS
from pyrovice.data.formulas import unescape
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import header, read_with_header, stripped
from pyrovice.errors import DataError

WANTED = (*OBJECT_COLUMNS, "odd")
TEXT = (*WANTED, "anchor")


def recognise(sample: Sample) -> str | None:
    """By its columns."""
    return None if header(sample, WANTED) is None else f"the columns {', '.join(WANTED)}"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    found = header(source.sample(), WANTED)
    if found is None:
        raise DataError(f"{source.label}, line 1 has no columns {', '.join(WANTED)}.")
    separator, columns = found
    # R and pandas may write row numbers, in a column without a name.
    wanted = [name for name in columns if name]
    table = read_with_header(source, separator, columns, wanted, text=TEXT)
    for name in (*TEXT, "participant"):
        if name in table:
            table.columns[name] = _unescaped(table.columns[name])
    shown = table.text(OBJECT_COLUMNS, "an object")
    odd = table.text(["odd"], "the odd object")
    match = shown == odd
    table.complain(~match.any(axis=1), "names an odd object that it does not show")
    anchor = None
    if "anchor" in table:
        given = table.columns["anchor"].notna().to_numpy()
        named = stripped(table.columns["anchor"])
        at = shown == named[:, None]
        table.complain(given & ~at.any(axis=1), "names an anchor that it does not show")
        anchor = np.where(at.any(axis=1), np.argmax(at, axis=1), -1)
        table.complain(
            given & (anchor == np.argmax(match, axis=1)), "has its anchor as the odd one"
        )
    more = [name for name in wanted if name not in (*TEXT, "participant")]
    trials = {name: _values(table.columns[name]) for name in more}
    return finish(
        Found(
            table,
            shown,
            np.argmax(match, axis=1),
            anchor=anchor,
            participants=table.labels("participant") if "participant" in table else None,
            trials=trials,
        ),
        options,
        "table",
        decided,
    )


def _unescaped(column: pd.Series) -> pd.Series:
    """Without the apostrophes that keep spreadsheets from running names."""
    different = [value for value in column.unique() if isinstance(value, str)]
    special = {value: plain for value in different if (plain := unescape(value)) != value}
    return column.replace(special) if special else column


def _values(column: pd.Series) -> Any:
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy()
    return _unescaped(column).to_numpy(dtype=object)
