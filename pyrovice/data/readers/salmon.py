"""Salmon's ``responses.csv``: anchored judgments, with its present or former columns.

Now `head, left, right, winner, loser` (0-based ids; `head_object` and so on hold the names, if
there are any), `puid` and `response_time` in seconds. Formerly `Participant.ID, Center, Left,
Right, Answer, Alg.Label`, with names.
"""

from __future__ import annotations

from typing import Any

from pyrovice.data.readers.anchored import objects_in, odd_of
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import header, read_with_header
from pyrovice.errors import DataError

ROLES = ("head", "left", "right", "winner", "loser")
ROLES_BY_NAME = tuple(f"{role}_object" for role in ROLES)
FORMER = ("Participant.ID", "Center", "Left", "Right", "Answer")


def recognise(sample: Sample) -> str | None:
    """By its columns."""
    for wanted in (ROLES, FORMER):
        if header(sample, wanted):
            return f"the columns {', '.join(wanted)}"
    return None


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    sample = source.sample()
    if found := header(sample, ROLES):
        return _read_present(source, options, decided, *found)
    if found := header(sample, FORMER):
        return _read_former(source, options, decided, *found)
    raise DataError(
        f"{source.label}, line 1 has neither the columns {', '.join(ROLES)} nor "
        f"{', '.join(FORMER)}; expected Salmon's responses.csv."
    )


def _read_present(
    source: Source, options: Options, decided: str, separator: str, columns: list[str]
) -> dict[str, Any]:
    roles = ROLES_BY_NAME if set(ROLES_BY_NAME) <= set(columns) else ROLES
    table = read_with_header(
        source, separator, columns, (*roles, "puid", "response_time"), text=[*ROLES_BY_NAME, "puid"]
    )
    named = roles is ROLES_BY_NAME
    shown = table.text(roles, "an object") if named else objects_in(table, roles)
    trials = {}
    notes = []
    if "response_time" in table:
        trials["reaction_time"] = 1000 * table.measured("response_time", "a response_time")
        notes.append("response_time was taken to be in seconds")
    return finish(
        Found(
            table,
            shown[:, :3],
            odd_of(table, shown, shown[:, 3], shown[:, 4]),
            anchor=0,
            on_screen=True,
            participants=table.labels("puid") if "puid" in table else None,
            trials=trials,
            notes=notes,
        ),
        options,
        "salmon",
        decided,
    )


def _read_former(
    source: Source, options: Options, decided: str, separator: str, columns: list[str]
) -> dict[str, Any]:
    table = read_with_header(source, separator, columns, FORMER, text=FORMER)
    shown = table.text(FORMER[1:], "an object")
    return finish(
        Found(
            table,
            shown[:, :3],
            odd_of(table, shown, shown[:, 3]),
            anchor=0,
            on_screen=True,
            participants=table.labels("Participant.ID"),
        ),
        options,
        "salmon",
        decided,
    )
