"""Tables as `Triplets.write` makes them: names in `object_1` ... `object_3`, and `odd`.

`anchor` and `participant` may follow, and columns of `Triplets.trials`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrovice.data.columns import OBJECT_COLUMNS, PLACE_COLUMNS
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import as_numbers, header, read_with_header, stripped, unescaped
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
            table.columns[name] = unescaped(table.columns[name])
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
    placed = set(PLACE_COLUMNS) <= set(wanted)
    known = (*TEXT, "participant", *(PLACE_COLUMNS if placed else ()))
    trials = {
        name: as_numbers(unescaped(table.columns[name]), table.decimal_comma)
        for name in wanted
        if name not in known
    }
    return finish(
        Found(
            table,
            shown,
            np.argmax(match, axis=1),
            anchor=anchor,
            participants=table.labels("participant") if "participant" in table else None,
            trials=trials,
            places=table.whole(PLACE_COLUMNS, "a place") if placed else None,
        ),
        options,
        "table",
        decided,
    )
