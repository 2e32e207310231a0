"""Wide tables of AnthroTools: a row per triad, a column per participant.

`NUM, item1, item2, item3`, then one column for each participant with the position 1, 2 or 3 of
the odd one. An empty cell is a triad that somebody did not answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import MISSING, Table, header, read_with_header, stripped
from pyrovice.errors import DataError

ITEMS = ("item1", "item2", "item3")


def recognise(sample: Sample) -> str | None:
    """By its columns."""
    found = header(sample, ITEMS)
    if found is None or len(found[1]) < 4:
        return None
    return f"the columns {', '.join(ITEMS)}, then one per participant"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    found = header(source.sample(), ITEMS)
    people = [name for name in found[1] if name not in (*ITEMS, "NUM", "")] if found else []
    if found is None or not people:
        raise DataError(
            f"{source.label}, line 1 has no columns {', '.join(ITEMS)} and one more per "
            "participant; expected a triad table of AnthroTools."
        )
    wide = read_with_header(source, *found, (*ITEMS, *people), text=(*ITEMS, *people))
    triads = np.arange(len(wide)).repeat(len(people))
    answers = np.column_stack([wide.columns[name].to_numpy(object, na_value="") for name in people])
    columns = {name: wide.columns[name].iloc[triads].reset_index(drop=True) for name in ITEMS}
    table = Table(source, {**columns, "answer": answers.ravel()}, wide.lines[triads])
    for reason, rows in wide.wrong.items():
        table.complain(rows[triads], reason)
    shown = table.text(ITEMS, "an item")
    unanswered = np.isin(stripped(answers.ravel()), MISSING)
    table.leave_out(unanswered, "triads that somebody did not answer")
    position = table.whole(["answer"], "an answer")[:, 0]
    table.complain((position < 1) | (position > 3), "holds an answer outside 1 to 3")
    return finish(
        Found(
            table,
            shown,
            np.clip(position - 1, 0, 2),
            on_screen=True,
            participants=np.tile(np.array(people, dtype=object), len(wide)),
        ),
        options,
        "triads",
        decided,
    )
