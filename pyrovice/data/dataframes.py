"""Judgments as a pandas table with named columns, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pyrovice.data.columns import OBJECT_COLUMNS, Columns
from pyrovice.data.naming import clean_name
from pyrovice.data.readers.finishing import Options, finish
from pyrovice.data.readers.own_columns import judgments_in
from pyrovice.data.readers.table import Table
from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError


class _InMemory:
    """What a table says about itself where there is no file."""

    label = "The table"
    unit = "row"
    before = 0
    notes = ()

    def __init__(self, gaps: bool) -> None:
        self.leave_out = "Triplets.from_dataframe(table, ..., bad_rows='leave out')"
        if gaps:
            self.leave_out += (
                ". If objects are called NA, None or NULL, pandas took them for missing: "
                "Triplets.read(path, objects=[...], odd=...) does not"
            )


def columns_to_judgments(
    frame: pd.DataFrame, columns: Columns, names: Sequence[str] | None, bad_rows: str
) -> dict[str, Any]:
    """The arguments of `Triplets` for a table; see `Triplets.from_dataframe`."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"from_dataframe got a {type(frame).__name__}; expected a pandas DataFrame, for "
            "example pd.read_csv(path)."
        )
    frame = _with_clean_names(frame)
    columns.missing_from(list(frame.columns), "The table")
    if frame.empty:
        raise DataError("The table is empty; expected at least one judgment.")
    shown = list(dict.fromkeys([*columns.objects, columns.answer]))

    def row(number: int) -> str:
        return ", ".join(f"{name} {frame[name].iloc[number]!r}" for name in shown)

    table = Table(
        _InMemory(bool(frame[shown].isna().any(axis=None))),  # type: ignore[arg-type]
        {name: frame[name].reset_index(drop=True) for name in frame},
        np.arange(len(frame)),
        show=row,
    )
    found = judgments_in(table, columns)
    return finish(found, Options(names=names, bad_rows=bad_rows), "columns", "a DataFrame")


def _with_clean_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Without what cannot be seen around the names of columns, such as a byte-order mark."""
    clean = [
        clean_name(name.removeprefix("\ufeff")) if isinstance(name, str) else name
        for name in frame.columns
    ]
    if len(set(clean)) < len(clean):
        twice = next(name for name in clean if clean.count(name) > 1)
        raise DataError(f"The table has two columns {twice!r}; give them different names.")
    return frame.set_axis(clean, axis=1)


def judgments_to_columns(triplets: Triplets) -> pd.DataFrame:
    """One row per judgment, by name, with the columns of `trials`."""
    names = np.array(triplets.names, dtype=object)
    shown = names[triplets.objects]
    rows = np.arange(len(triplets))
    frame = pd.DataFrame(shown, columns=list(OBJECT_COLUMNS))
    frame["odd"] = shown[rows, triplets.odd]
    if triplets.anchored.any():
        frame["anchor"] = pd.Series(shown[rows, triplets.anchor]).where(triplets.anchored)
    if triplets.participants is not None:
        frame["participant"] = triplets.participants
    if triplets.trials is not None:
        frame = pd.concat([frame, triplets.trials], axis=1)
    return frame
