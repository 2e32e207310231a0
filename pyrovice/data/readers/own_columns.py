"""A table of one's own: any columns, of which the user says which hold what.

All other columns stay beside the judgments, in `Triplets.trials`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.columns import (
    JUDGMENT_COLUMNS,
    OBJECT_COLUMNS,
    PLACE_COLUMNS,
    TIME_UNITS,
    Columns,
)
from pyrovice.data.readers.catch_trials import catch_rows, passed_by
from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.structure import SEPARATORS
from pyrovice.data.readers.table import (
    Table,
    as_numbers,
    fields_of,
    header,
    read_with_header,
    stripped,
    unescaped,
)
from pyrovice.errors import DataError, tell

# A median reaction time below this many milliseconds must be one in seconds.
SECONDS_BELOW = 60
GIVEN = "_given"
OPTIONS = {field.name for field in fields(Columns)}


def recognise(sample: Sample) -> str | None:
    """Never: it is for the user to say which column is which."""
    return None


def read(source: Source, options: Options, decided: str, **columns: Any) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    wanted = Columns(**columns)
    sample = source.sample()
    found = header(sample, wanted.used())
    if found is None:
        first = sample.lines[0] if sample.lines else ""
        names = max((fields_of(first, mark) for mark in SEPARATORS), key=len)
        wanted.missing_from([name.strip() for name in names], f"{source.label}, line 1:")
        raise DataError(f"{source.label} is not a table with a header.")
    separator, names = found
    # R and pandas may write row numbers, in a column without a name.
    named = [name for name in names if name]
    text = [*wanted.objects, wanted.odd or wanted.chosen or "odd", wanted.anchor]
    table = read_with_header(
        source, separator, names, named, text=[name for name in text if name is not None]
    )
    for name in named:
        table.columns[name] = unescaped(table.columns[name])
    return finish(judgments_in(table, wanted, of_text=True), options, "columns", decided)


def judgments_in(table: Table, columns: Columns, of_text: bool = False) -> Found:
    """What the rows of a table say, its other columns beside it.

    In a table `of_text`, columns of nothing but digits hold ids.
    """
    catch = np.zeros(len(table), bool)
    if columns.catch is not None:
        # Before anything else: what would be wrong with a judgment need not be with them.
        catch = catch_rows(table, columns.catch)
        table.leave_out(catch, "catch trials")
    shown = _objects(table, columns, of_text)
    labels = shown if shown.dtype == object else shown.astype(str).astype(object)
    anchor = _anchor(table, columns, labels)
    odd = _odd(table, columns, labels, anchor)
    if anchor is not None:
        table.complain(odd == anchor, "has its anchor as the odd one")
    trials, places = _trials(table, columns)
    on_screen = columns.on_screen
    if on_screen is None:
        on_screen = places is None and _are_places(columns, labels[~catch], odd[~catch])
    if on_screen and "position" in trials:
        trials[f"position{GIVEN}"] = trials.pop("position")
    return Found(
        table,
        shown,
        odd,
        anchor=anchor,
        on_screen=on_screen,
        places=places,
        participants=None if columns.participant is None else table.labels(columns.participant),
        trials=trials,
        catch=passed_by(table, columns, catch, labels, _answers(table, columns, labels))
        if catch.any()
        else None,
    )


def _answers(table: Table, columns: Columns, labels: NDArray[Any]) -> NDArray[Any]:
    """The object that each answer names or points at, empty where there is none."""
    if columns.position is None:
        return _labels(table, columns.answer)
    column = _column_of_position(table.columns[columns.position], columns.positions)
    return np.where(column < 0, "", labels[np.arange(len(labels)), np.maximum(column, 0)])


def _objects(table: Table, columns: Columns, of_text: bool) -> NDArray[Any]:
    """Names; or ids, if all three columns hold nothing but numbers."""
    values = [table.columns[name] for name in columns.objects]
    if all(_are_digits(each) if of_text else _are_numbers(each) for each in values):
        return table.whole(list(columns.objects), "an object")
    return table.text(columns.objects, "an object")


def _are_numbers(values: Any) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _are_digits(values: Any) -> bool:
    """Whether they are whole numbers as text; 007 is a name."""
    different = {value for value in stripped(values) if value}
    return bool(different) and all(
        value.isascii() and value.isdecimal() and value == str(int(value)) for value in different
    )


def _anchor(table: Table, columns: Columns, labels: NDArray[Any]) -> NDArray[np.intp] | None:
    if columns.anchor is None:
        return None
    named = _labels(table, columns.anchor)
    at = labels == named[:, None]
    table.complain((named != "") & ~at.any(axis=1), "names an anchor that it does not show")
    return np.where(at.any(axis=1), np.argmax(at, axis=1), -1)


def _odd(
    table: Table, columns: Columns, labels: NDArray[Any], anchor: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """Which of the three columns holds the odd one."""
    said = f"has no answer in the column {columns.answer!r}"
    if columns.position is not None:
        column = _column_of_position(table.columns[columns.position], columns.positions)
        table.complain(_empty(table.columns[columns.position]), said)
        table.complain(
            column < 0,
            f"holds a {columns.position!r} other than {list(columns.positions)}; for other values "
            "pass positions=[...]",
        )
        return np.maximum(column, 0)
    named = _labels(table, columns.answer)
    table.complain(named == "", said)
    at = labels == named[:, None]
    not_shown = f"names an object in the column {columns.answer!r} that it does not show"
    not_shown += table.such_as(named, ~at.any(axis=1) & (named != ""))
    if not at.any():
        not_shown += f"; if that column holds positions, pass position={columns.answer!r}"
    table.complain(~at.any(axis=1), not_shown)
    column = np.argmax(at, axis=1)
    if columns.chosen is None:
        return column
    assert anchor is not None
    table.complain(anchor < 0, f"has no anchor, so that {columns.chosen!r} says nothing")
    table.complain(column == anchor, "has its anchor as the chosen one")
    return np.clip(3 - anchor - column, 0, 2)


def _column_of_position(values: Any, positions: Sequence[Any]) -> NDArray[np.intp]:
    column = pd.Series(values)
    if pd.api.types.is_numeric_dtype(column):
        return pd.Index(positions).get_indexer(column)
    return pd.Index([str(place) for place in positions]).get_indexer(stripped(column))


def _are_places(columns: Columns, labels: NDArray[Any], odd: NDArray[np.intp]) -> bool:
    """Whether the three columns are places: neither roles of the objects nor sorted."""
    if columns.position is not None:
        return True
    if columns.answer in columns.objects or len(set(odd.tolist())) == 1:
        return False
    return bool((labels[:, :-1] > labels[:, 1:]).any())


def _trials(table: Table, columns: Columns) -> tuple[dict[str, Any], NDArray[np.integer] | None]:
    """All that a table says beside the judgments, and where the three objects stood if it does."""
    places = None
    if set(PLACE_COLUMNS) <= set(table.columns) and tuple(columns.objects) == OBJECT_COLUMNS:
        if columns.position == "position":
            raise DataError(
                "The columns place_1 ... place_3 say where each object stood, so that `position` "
                "is the place of the answer on the screen and not among object_1 ... object_3: "
                "pass odd='odd' instead of position='position'."
            )
        places = table.whole(PLACE_COLUMNS, "a place")
    roles = {*columns.used(), *(PLACE_COLUMNS if places is not None else ())}
    trials = {
        f"{name}{GIVEN}" if name in JUDGMENT_COLUMNS else str(name): as_numbers(
            values, table.decimal_comma
        )
        for name, values in table.columns.items()
        if name not in roles
    }
    if columns.reaction_time is not None:
        trials["reaction_time"] = _times(table, columns)
    if columns.set is not None:
        trials["set"] = np.asarray(table.columns[columns.set])
    return trials, places


def _times(table: Table, columns: Columns) -> NDArray[np.float64]:
    """Reaction times in milliseconds."""
    assert columns.reaction_time is not None
    times = table.measured(columns.reaction_time, "a reaction time")
    times = times * TIME_UNITS[columns.reaction_time_unit]
    usual = float(np.nanmedian(times)) if np.isfinite(times).any() else np.inf
    if usual < SECONDS_BELOW:
        tell(
            f"The median of {columns.reaction_time!r} is {usual:.3g} milliseconds; if these are "
            "seconds, say reaction_time_unit='s', on the command line --seconds."
        )
    return times


def _labels(table: Table, name: str) -> NDArray[Any]:
    """Names as text; whole numbers without a fraction, whatever type their column has."""
    values = pd.Series(table.columns[name])
    if pd.api.types.is_float_dtype(values) and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    return stripped(values)


def _empty(values: Any) -> NDArray[np.bool_]:
    return stripped(values) == ""
