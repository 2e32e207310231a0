"""Catch trials among the rows of a table: which rows they are, and which were passed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.columns import Columns
from pyrovice.data.readers.table import Table, stripped
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError

YES, NO = {"1", "1.0", "true", "yes"}, {"0", "0.0", "false", "no"}
# What stands for it where kinds of trials have names, also in lists of pyrovice and tripletTools.
MARKS = YES | {"catch", "check"}
PASSED, FAILED = YES | {"passed", "correct"}, NO | {"failed", "incorrect", "wrong"}


def catch_rows(table: Table, column: str) -> NDArray[np.bool_]:
    """Which rows are catch trials."""
    said = _lower(table.columns[column])
    found = np.isin(said, list(MARKS))
    if not found.any():
        there = first_few(repr(value) for value in sorted(set(said.tolist())))
        raise DataError(
            f"The column {column!r} marks no catch trial; it holds {there}, and was expected to "
            "hold 1, true, yes or catch where there is one."
        )
    return found


def passed_by(
    table: Table,
    columns: Columns,
    rows: NDArray[np.bool_],
    shown: NDArray[Any],
    answers: NDArray[Any],
) -> pd.DataFrame:
    """Whether each of the catch trials in these rows was passed, and by whom.

    Parameters
    ----------
    table : Table
        All rows.
    columns : Columns
        Which columns hold what.
    rows : array of shape (n,)
        Which rows are catch trials.
    shown : array of shape (n, 3)
        The objects as text.
    answers : array of shape (n,)
        The odd object, or with an anchor the one that was chosen, as text; empty where there is
        no answer. Such trials are neither passed nor failed.
    """
    if columns.passed is not None:
        passed, answered = _as_told(table, columns.passed, rows)
    else:
        once, twice = _once_and_twice(table, rows, shown)
        passed = np.asarray(answers == (once if columns.chosen is None else twice), bool)
        answered = answers != ""
    frame = pd.DataFrame({"passed": passed[rows & answered]})
    if columns.participant is not None:
        frame.insert(0, "participant", table.labels(columns.participant)[rows & answered])
    return frame


def passed_or_failed(values: Any, rows: Any, what: str) -> NDArray[np.bool_]:
    """Whether a column says that these rows were passed; `what` holds the column."""
    said = _lower(values)
    passed = np.isin(said, list(PASSED))
    unclear = said[rows & ~passed & ~np.isin(said, ["", *FAILED])]
    if len(unclear):
        raise DataError(
            f"{what} says {unclear[0]!r} of a catch trial; expected 1 or true where it was "
            "passed, 0 or false where not, and nothing where there was no answer."
        )
    return passed


def _as_told(
    table: Table, column: str, rows: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    values = table.columns[column]
    passed = passed_or_failed(values, rows, f"{table.source.label}, the column {column!r}")
    return passed, stripped(values) != ""


def _once_and_twice(
    table: Table, rows: NDArray[np.bool_], shown: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The object that catch trials show once, and the one that they show twice."""
    same = shown[:, [0, 0, 1]] == shown[:, [1, 2, 2]]
    unclear = np.flatnonzero(rows & (same.sum(axis=1) != 1))
    if len(unclear):
        raise DataError(
            f"{table.source.label}, {table.unit} {table.lines[unclear[0]]} is a catch trial that "
            "does not show one object twice and another once, so that its answer does not tell "
            "who passed. Name the column that does: passed='...', on the command line --passed."
        )
    # The pairs above leave out the third, the second and the first.
    alone = 2 - same.argmax(axis=1)
    each = np.arange(len(shown))
    return shown[each, alone], shown[each, (alone + 1) % 3]


def _lower(values: Any) -> NDArray[Any]:
    return np.array([value.lower() for value in stripped(values)], dtype=object)
