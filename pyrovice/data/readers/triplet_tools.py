"""Tables of tripletTools (Rogers lab): anchored judgments with catch trials.

`head, winner, loser` are ids and `Center, Left, Right, Answer` the same by name. Where
`sampleAlg` is "check", the target itself is one of the options: a catch trial, passed by
choosing it. Catch trials are not judgments; they are in ``t.reading.catch``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pyrovice.data.readers.anchored import objects_in, odd_of
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import header, read_with_header
from pyrovice.errors import DataError

ROLES = ("head", "winner", "loser")
ROLES_BY_NAME = ("Center", "Left", "Right", "Answer")


def recognise(sample: Sample) -> str | None:
    """By its columns."""
    wanted = (*ROLES, "sampleAlg")
    return None if header(sample, wanted) is None else f"the columns {', '.join(wanted)}"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    found = header(source.sample(), ROLES)
    if found is None:
        raise DataError(
            f"{source.label}, line 1 has no columns {', '.join(ROLES)}; expected a table of "
            "tripletTools."
        )
    separator, columns = found
    by_name = set(ROLES_BY_NAME) <= set(columns)
    roles = ROLES_BY_NAME if by_name else ROLES
    table = read_with_header(
        source,
        separator,
        columns,
        (*roles, "worker_id", "rt", "sampleAlg", "sampleSet"),
        text=[*ROLES_BY_NAME, "worker_id", "sampleAlg", "sampleSet"],
    )
    shown = table.text(roles, "an object") if by_name else objects_in(table, roles)
    chosen = shown[:, 3 if by_name else 1]
    people = table.labels("worker_id") if "worker_id" in table else None
    # Catch trials are left out first: there the target may be among the options.
    catch = None
    if "sampleAlg" in table:
        check = (table.columns["sampleAlg"].str.strip() == "check").to_numpy(bool)
        table.leave_out(check, "catch trials")
        passed = chosen[check] == shown[check, 0]
        who = {} if people is None else {"participant": people[check]}
        catch = pd.DataFrame({**who, "passed": passed.astype(bool)}) if check.any() else None
    odd = odd_of(table, shown, chosen) if by_name else np.full(len(shown), 2)
    trials: dict[str, Any] = {}
    if "rt" in table:
        trials["reaction_time"] = table.measured("rt", "a reaction time")
    for name in ("sampleAlg", "sampleSet"):
        if name in table:
            trials[name] = table.columns[name].to_numpy(dtype=object)
    return finish(
        Found(
            table,
            shown[:, :3],
            odd,
            anchor=0,
            first_id=None,
            on_screen=by_name,
            participants=people,
            trials=trials,
            catch=catch,
        ),
        options,
        "tripletTools",
        decided,
    )
