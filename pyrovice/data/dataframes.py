"""Judgments as a pandas table with named columns, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.arrays import in_ascending_order, screen_places
from pyrovice.data.columns import OBJECT_COLUMNS
from pyrovice.data.naming import clean_labels
from pyrovice.data.plausibility import doubts_about_objects
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import NO_ANCHOR, check_names, whole_numbers
from pyrovice.data.wording import some_rows
from pyrovice.errors import DataError, tell


def columns_to_judgments(
    frame: pd.DataFrame,
    objects: list[str],
    odd: str,
    position: str | None,
    positions: list[Any],
    anchor: str | None,
    participant: str | None,
    names: Sequence[str] | None,
) -> dict[str, Any]:
    """The arguments of `Triplets` for a table; see `Triplets.from_dataframe`."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"from_dataframe got a {type(frame).__name__}; expected a pandas DataFrame, for "
            "example pd.read_csv(path)."
        )
    if len(objects) != 3:
        raise DataError(f"objects={objects!r} names {len(objects)} columns, expected three.")
    if len(set(positions)) != 3:
        raise DataError(f"positions={positions!r}; expected three different values.")
    wanted = [*objects, position or odd, *filter(None, (anchor, participant))]
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise DataError(
            f"The table has no column {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(repr, frame.columns))}. Say which columns hold what: "
            "Triplets.from_dataframe(table, objects=['a', 'b', 'c'], odd='d')."
        )
    if frame.empty:
        raise DataError("The table is empty; expected at least one judgment.")
    shown = frame[objects]
    empty = np.flatnonzero(shown.isna().any(axis=1))
    if empty.size:
        raise DataError(
            f"{empty.size} rows lack an object: {some_rows(empty)}; leave them out with "
            f"table.dropna(subset={objects})."
        )
    answer = position or odd
    unanswered = np.flatnonzero(frame[answer].isna())
    if unanswered.size:
        raise DataError(
            f"{unanswered.size} rows have no answer in column {answer!r}: {some_rows(unanswered)}; "
            f"leave them out with table.dropna(subset=[{answer!r}])."
        )
    told = names is not None
    ids, names = _ids_of(shown, names)
    labels = clean_labels(shown.to_numpy(dtype=object))
    if position is None:
        column = _column_of(clean_labels(frame[odd].to_numpy(dtype=object)), labels, odd)
    else:
        column = _column_of_position(frame[position].to_numpy(), positions, position)
    ascending, odd_position = in_ascending_order(ids, column)
    judgments: dict[str, Any] = {"objects": ascending, "odd": odd_position, "names": names}
    anchored: NDArray[np.int64] | None = None
    if participant is not None:
        judgments["participants"] = frame[participant].to_numpy()
    if anchor is not None:
        given = frame[anchor].notna().to_numpy()
        anchored = np.full(len(frame), NO_ANCHOR)
        anchors = clean_labels(frame[anchor].to_numpy(dtype=object)[given])
        anchored[given] = _column_of(anchors, labels[given], anchor)
        at = in_ascending_order(ids, np.maximum(anchored, 0))[1]
        judgments["anchor"] = np.where(given, at, NO_ANCHOR)
    if position is not None:
        judgments["trials"] = pd.DataFrame(screen_places(ids, column, anchored))
    for doubt in doubts_about_objects(ids, check_names(names, ids), told):
        tell(doubt)
    return judgments


def judgments_to_columns(triplets: Triplets) -> pd.DataFrame:
    """One row per judgment, by name."""
    names = np.array(triplets.names, dtype=object)
    shown = names[triplets.objects]
    rows = np.arange(len(triplets))
    frame = pd.DataFrame(shown, columns=list(OBJECT_COLUMNS))
    frame["odd"] = shown[rows, triplets.odd]
    if triplets.anchored.any():
        frame["anchor"] = pd.Series(shown[rows, triplets.anchor]).where(triplets.anchored)
    if triplets.participants is not None:
        frame["participant"] = triplets.participants
    return frame


def _ids_of(
    shown: pd.DataFrame, names: Sequence[str] | None
) -> tuple[NDArray[np.int64], Sequence[str] | None]:
    """Columns of numbers hold 0-based ids; anything else is a name."""
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in shown.dtypes):
        return whole_numbers(shown.to_numpy(), "objects"), names
    text = clean_labels(shown.astype(str).to_numpy(dtype=object))
    known = (
        sorted(set(text.ravel())) if names is None else check_names(names, np.zeros(1, np.int64))
    )
    ids = pd.Index(known).get_indexer(text.ravel()).reshape(text.shape)
    unknown = np.argwhere(ids < 0)
    if unknown.size:
        row, column = unknown[0]
        raise DataError(
            f"Row {row} shows {text[row, column]!r}, which is not among the {len(known)} names. "
            f"This concerns {some_rows(np.unique(unknown[:, 0]))}."
        )
    return ids.astype(np.int64), known


def _column_of(values: NDArray[Any], shown: NDArray[Any], what: str) -> NDArray[np.int64]:
    """The column of `shown` in which each value stands."""
    match = shown == values[:, None]
    lost = np.flatnonzero(~match.any(axis=1))
    if lost.size:
        row = lost[0]
        raise DataError(
            f"Column {what!r} says {values[row]!r} in row {row}, which is not one of the objects "
            f"shown there: {shown[row].tolist()}. This concerns {some_rows(lost)}. If the column "
            f"holds positions, pass position={what!r}."
        )
    return np.argmax(match, axis=1)


def _column_of_position(values: NDArray[Any], positions: list[Any], what: str) -> NDArray[np.int64]:
    column = pd.Index(positions).get_indexer(values)
    lost = np.flatnonzero(column < 0)
    if lost.size:
        raise DataError(
            f"Column {what!r} says {values.tolist()[lost[0]]!r} in row {lost[0]}; expected one of "
            f"{positions} for the first, second and third object. This concerns "
            f"{some_rows(lost)}. For other values pass positions=[...]."
        )
    return column.astype(np.int64)
