"""The sentences that bad judgments get: what was got, what was expected, what to type."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.naming import clean_name
from pyrovice.errors import DataError, PyroviceError

NO_ANCHOR = -1
LARGEST_SEED = 2**32 - 1
# Characters of a name: a page of text is shorter.
LONGEST_NAME = 10_000


def whole_numbers(values: ArrayLike, what: str) -> NDArray[np.integer]:
    """Integers from integers, or from floats that are whole."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(
            f"{what} is ragged: its rows differ in length. Expected three object ids in each row."
        ) from error
    if array.size == 0:
        raise DataError(f"{what} is empty; expected at least one judgment.")
    if array.dtype == np.int32:
        return array  # As ids are kept; a copy of millions would take time and room.
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f":
        raise DataError(
            f"{what} holds {array.dtype} values; expected whole numbers. For objects given by "
            "name use Triplets.from_dataframe."
        )
    bad = np.argwhere(~np.isfinite(array) | (array != np.floor(array)))
    if bad.size:
        where = tuple(int(i) for i in bad[0])
        raise DataError(
            f"{what} holds {array[where]} at row {where[0]}; expected whole numbers. "
            "Remove rows with missing or fractional ids."
        )
    return array.astype(np.int64)


def check_names(names: Sequence[str] | None, ids: NDArray[np.integer]) -> tuple[str, ...]:
    """The names as a tuple, unique; the ids themselves where there are none."""
    if names is None:
        return default_names(max(int(ids.max()) + 1, 0))
    if isinstance(names, str):
        raise DataError(f"names is the single string {names!r}; expected one name per object.")
    given = tuple(str(name) for name in names)
    names = tuple(map(clean_name, given))
    longest = max(names, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise DataError(
            f"names: {longest[:40]!r}... has {len(longest):,} characters; expected at most "
            f"{LONGEST_NAME:,}. Give the objects short names, and keep long texts in a table."
        )
    for name in names:
        if not name.isascii() and not _is_text(name):
            raise DataError(
                f"names: {name!r} holds half of a character, which no file can hold; expected "
                "text. Was it decoded wrongly? Read it with encoding='utf-8'."
            )
    if len(set(names)) < len(names):
        twice = pd.Series(names).value_counts().index[0]
        if given.count(twice) < 2:
            ways = ", ".join(ascii(way) for way in given if clean_name(way) == twice)
            raise DataError(
                f"names are not unique: {twice!r} is written in several ways ({ways}), which "
                "differ in white space around it or in how accents are encoded. Give each object "
                "one name."
            )
        raise DataError(
            f"names are not unique: {twice!r} stands for several objects. Tell them apart, "
            f"for example {twice + '_1'!r} and {twice + '_2'!r}."
        )
    return names


def _is_text(name: str) -> bool:
    """Whether this can be written at all: a surrogate without its other half cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def default_names(n_objects: int) -> tuple[str, ...]:
    """Ids as names."""
    return tuple(map(str, range(n_objects)))


def check_ids(ids: NDArray[np.integer], names: tuple[str, ...]) -> None:
    """Refuse ids that do not belong to an object."""
    low, high, m = int(ids.min()), int(ids.max()), len(names)
    if low < 0:
        raise DataError(
            f"Row {np.argwhere(ids < 0)[0][0]} holds the negative id {low}; ids run from 0."
        )
    if high >= m:
        hint = (
            "The ids look 1-based: subtract 1."
            if low >= 1 and high == m
            else f"Pass names (or n_objects) for all {high + 1} objects."
        )
        raise DataError(
            f"Row {np.argwhere(ids >= m)[0][0]} holds the id {high}, but there are {m} names, "
            f"for ids 0 to {m - 1}. {hint}"
        )
    if m < 3:
        raise DataError(f"There are {m} objects; a triplet needs at least three.")


def check_rows(ids: NDArray[np.integer]) -> None:
    """Refuse rows that are not triplets in ascending order."""
    first, second, third = ids.T
    repeated = np.flatnonzero((first == second) | (second == third) | (first == third))
    if repeated.size:
        raise DataError(
            f"Row {repeated[0]} repeats an object: {ids[repeated[0]].tolist()}. A triplet has "
            f"three different ones; leave such rows out ({repeated.size} in all)."
        )
    unsorted = np.flatnonzero((first > second) | (second > third))
    if unsorted.size:
        raise DataError(
            f"Row {unsorted[0]} is not ascending: {ids[unsorted[0]].tolist()}. "
            "Triplets.from_array takes rows in any order."
        )


def positions_within(values: ArrayLike, n: int, what: str, lowest: int) -> NDArray[np.int8]:
    """Positions 0, 1, 2 (or `lowest` for none), one per judgment."""
    array = whole_numbers(values, what)
    if array.shape != (n,):
        raise DataError(f"{what} has shape {array.shape}, expected ({n},): one per judgment.")
    bad = np.flatnonzero((array < lowest) | (array > 2))
    if bad.size:
        allowed = "0, 1 or 2" if lowest == 0 else "0, 1, 2, or -1 for none"
        raise DataError(
            f"{what} is {array[bad[0]]} in row {bad[0]}; expected a position: {allowed}."
        )
    return array.astype(np.int8)


def check_anchor(anchor: ArrayLike | None, odd: NDArray[np.int8]) -> NDArray[np.int8]:
    """Positions of the anchors, none of which may be the odd one."""
    if anchor is None:
        return np.full(len(odd), NO_ANCHOR, np.int8)
    at = positions_within(anchor, len(odd), "anchor", lowest=NO_ANCHOR)
    clash = np.flatnonzero(odd == at)
    if clash.size:
        raise DataError(
            f"Row {clash[0]} has its anchor as the odd one (position {odd[clash[0]]}). "
            "An anchor is what the other two are compared with and cannot be picked; "
            "leave such rows out, or pass anchor=-1 for them."
        )
    return at


def check_participants(labels: ArrayLike, n: int) -> NDArray[Any]:
    """Labels of who judged, read-only; None where that is not known."""
    participants = np.array(labels)
    missing = pd.isna(participants)
    if missing.any() and missing.shape == (n,):
        # A column of whole numbers with a gap arrives as fractions.
        if participants.dtype.kind == "f" and not (participants[~missing] % 1).any():
            participants = np.where(missing, 0, participants).astype(np.int64)
        participants = participants.astype(object)
        participants[missing] = None
    if participants.shape != (n,):
        raise DataError(
            f"participants has shape {participants.shape}, expected ({n},): one label per judgment."
        )
    if participants.dtype.kind in "OU":
        for label in dict.fromkeys(participants.tolist()):
            if not _is_text(str(label)):
                raise DataError(
                    f"participants: {label!r} holds half of a character, which no file can hold; "
                    "expected text. Was it decoded wrongly? Read it with encoding='utf-8'."
                )
    participants.flags.writeable = False
    return participants


def check_trials(trials: pd.DataFrame, n: int) -> pd.DataFrame:
    """A copy with one row per judgment, in their order."""
    if not isinstance(trials, pd.DataFrame):
        raise DataError(
            f"trials is a {type(trials).__name__}; expected a DataFrame with a row per judgment."
        )
    if len(trials) != n:
        raise DataError(f"trials has {len(trials)} rows, expected {n}: one per judgment.")
    return trials.reset_index(drop=True)


def whole_seed(value: Any) -> int:
    """A seed; torch's generators make no difference between larger ones."""
    seed = whole(value, "seed", least=0)
    if seed > LARGEST_SEED:
        raise PyroviceError(f"seed={value!r}; expected a whole number from 0 to {LARGEST_SEED:,}.")
    return seed


def whole(value: Any, name: str, least: int) -> int:
    """A whole number, whatever its integer type."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        auto = " or 'auto'" if name == "dimensions" else ""
        raise PyroviceError(f"{name}={value!r}; expected a whole number of at least {least}{auto}.")
    return number
