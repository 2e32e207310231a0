"""From what a reader found in a file to the arguments of `Triplets`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.arrays import MOST_UNNAMED, in_ascending_order, screen_places
from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.data.plausibility import doubts_about_objects
from pyrovice.data.readers.source import UNPACKED_LIMIT, Source
from pyrovice.data.readers.table import Table
from pyrovice.data.reading_report import Reading
from pyrovice.data.validation import NO_ANCHOR, check_names, default_names, whole
from pyrovice.errors import DataError, tell

logger = logging.getLogger("pyrovice")


@dataclass(frozen=True)
class Options:
    """What a user may say about any file.

    Attributes
    ----------
    names : sequence of str or path, optional
        All objects in the order wanted, or a text file with one name per line.
    n_objects : int, optional
        How many objects there are, where the file holds ids.
    first_id : int, optional
        0 or 1: where the file's ids begin, if not where its format says.
    bad_rows : str
        ``"refuse"`` the file, or ``"leave out"`` rows that are not judgments.
    unpacked_limit : int
        Bytes that a packed file may unpack to.
    encoding : str, optional
        Of a text file; by default UTF-8, or Windows-1252 where it clearly is that.
    sheet : str, optional
        Which sheet of a workbook holds the judgments.
    """

    names: Sequence[str] | str | Path | None = None
    n_objects: int | None = None
    first_id: int | None = None
    bad_rows: str = "refuse"
    unpacked_limit: int = UNPACKED_LIMIT
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.bad_rows not in ("refuse", "leave out"):
            raise DataError(f"bad_rows={self.bad_rows!r}; expected 'refuse' or 'leave out'.")
        if self.first_id not in (None, 0, 1):
            raise DataError(f"first_id={self.first_id!r}; expected 0 or 1.")
        whole(self.unpacked_limit, "unpacked_limit", least=1)
        if self.n_objects is not None:
            whole(self.n_objects, "n_objects", least=3)
        if (
            self.names is not None
            and not np.iterable(self.names)
            and not isinstance(self.names, Path)
        ):
            raise TypeError(
                f"names is a {type(self.names).__name__}; expected a name per object, or the path "
                "of a text file with one per line."
            )

    def opened(self, path: Path) -> Source:
        """The file, unpacked and in UTF-8."""
        return Source(path, self.unpacked_limit, self.encoding, self.sheet)

    def all_names(self) -> tuple[str, ...] | None:
        """The names themselves, if they are known."""
        names = self.names
        if isinstance(names, str | Path):
            names = read_names(Path(names))
        if names is not None:
            return check_names(names, np.zeros(1, np.int64))
        return None if self.n_objects is None else default_names(self.n_objects)


def read_names(path: Path) -> list[str]:
    """Object names from a text file, one per line."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected a file with one name per line.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text; expected one name per line.") from error
    return text.rstrip("\n").split("\n")


@dataclass(frozen=True, eq=False)
class Found:
    """What a reader found in a file.

    Attributes
    ----------
    table : Table
        The rows of the file; those that are wrong or left out do not become judgments.
    shown : array of shape (n, 3)
        Ids as the file has them, or names.
    odd : array of shape (n,)
        Which of the three columns holds the odd one.
    anchor : int or array of shape (n,), optional
        Which column holds the anchor, -1 for none.
    first_id : int or None
        Where ids begin in this format; None if it does not say.
    others : array, optional
        Ids of the same objects elsewhere, which tell how many there are.
    on_screen : bool
        Whether the columns are the places on the screen.
    places : array of shape (n, 3), optional
        Where the objects of the three columns stood, if they are not places themselves.
    participants, trials, catch, notes
        What else the file says.
    """

    table: Table
    shown: NDArray[Any]
    odd: NDArray[np.integer]
    anchor: int | NDArray[np.integer] | None = None
    first_id: int | None = 0
    others: NDArray[np.integer] | None = None
    on_screen: bool = False
    places: NDArray[np.integer] | None = None
    participants: NDArray[Any] | None = None
    trials: dict[str, Any] | None = None
    catch: pd.DataFrame | None = None
    notes: Sequence[str] = ()


def finish(found: Found, options: Options, format: str, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`.

    Parameters
    ----------
    found : Found
        What is in the file.
    options : Options
        What the user said about it.
    format, decided : str
        How the file is read, and why.
    """
    table, shown = found.table, found.shown
    first, second, third = shown.T
    table.complain(
        (first == second) | (second == third) | (first == third),
        "repeats an object; a triplet has three different ones",
    )
    ids, names, begins = _numbered(found, options)
    if options.bad_rows == "refuse":
        table.refuse()
    keep = ~table.unusable()
    if not keep.any():
        said = "; ".join(map(str, table.left_out()))
        raise DataError(f"{table.source.label} holds no judgments: {said}.")
    if not keep.all():
        ids = ids[keep]
    if names is None:
        ids, names = _number_names(shown[keep])
    reading = Reading(
        path=table.source.label,
        format=format,
        decided=decided,
        # A row of the file may hold several judgments, one after another.
        rows=1 + int(np.count_nonzero(np.diff(table.lines))),
        left_out=table.left_out(),
        first_id=begins,
        catch=found.catch,
        notes=(*table.source.notes, *found.notes),
    )
    _log_and_warn(table, reading, ids, names, options)
    people = found.participants
    return {
        **_answers(found, ids, keep),
        "names": names,
        "participants": None if people is None else people[keep],
        "reading": reading,
    }


def _numbered(
    found: Found, options: Options
) -> tuple[NDArray[np.integer], tuple[str, ...] | None, int | None]:
    """Ids from 0 on, the names of all objects if they are known, and where the file's ids begin."""
    names = options.all_names()
    if found.shown.dtype == object:
        return _ids_of_names(found.table, found.shown, names), names, None
    begins = _where_ids_begin(found.table, found.shown, options, found.first_id, names)
    ids = found.shown.astype(np.int64) - begins if begins else found.shown
    return ids, _names_of_ids(found.table, ids, names, found.others, begins), begins


def _answers(found: Found, ids: NDArray[np.integer], keep: NDArray[np.bool_]) -> dict[str, Any]:
    """Objects in ascending order, where the odd one and the anchor went, and what trials say."""
    odd = np.asarray(found.odd)[keep].astype(np.int8)
    ascending, position = in_ascending_order(ids, odd)
    known = {name: np.asarray(values)[keep] for name, values in (found.trials or {}).items()}
    at = column = None
    if found.anchor is not None:
        column = np.broadcast_to(found.anchor, len(keep))[keep].astype(np.int8)
        at = in_ascending_order(ids, np.maximum(column, 0))[1]
        at = np.where(column < 0, NO_ANCHOR, at)
    if found.on_screen:
        known |= screen_places(ids, odd, column)
    elif found.places is not None:
        # They move with their objects.
        moved = np.take_along_axis(found.places[keep], np.argsort(ids, axis=1), axis=1)
        known |= dict(zip(PLACE_COLUMNS, moved.T.astype(np.int8), strict=True))
    trials = pd.DataFrame(known) if known else None
    return {"objects": ascending, "odd": position, "anchor": at, "trials": trials}


def _log_and_warn(
    table: Table,
    reading: Reading,
    ids: NDArray[np.integer],
    names: Sequence[str],
    options: Options,
) -> None:
    logger.info("%s", reading)
    wrong = sum(int(rows.sum()) for rows in table.wrong.values())
    if wrong:
        tell(
            f"{wrong:,} of {len(table):,} rows of {table.source.label} are not judgments and were "
            "left out; `data.reading` says which and why, and so does `pyrovice convert`.",
        )
    told = options.names is not None or options.n_objects is not None
    for doubt in doubts_about_objects(ids, names, told=told):
        tell(f"{table.source.label}: {doubt}")


def _where_ids_begin(
    table: Table,
    shown: NDArray[np.integer],
    options: Options,
    first_id: int | None,
    names: tuple[str, ...] | None,
) -> int:
    """Where ids begin: as the user or the format says, otherwise as the ids themselves show."""
    if options.first_id is not None:
        return options.first_id
    if first_id is not None:
        return first_id
    good = shown[~table.unusable()]
    if not good.size or good.min() <= 0:
        return 0
    if names is not None and good.max() == len(names):
        return 1
    row = np.flatnonzero(~table.unusable())[0]
    raise DataError(
        f"{table.source.label}, {table.unit} {table.lines[row]}: no row holds the id 0, and this "
        "format does not say whether ids begin at 0 or at 1; pass first_id=0 or first_id=1."
    )


def _names_of_ids(
    table: Table,
    ids: NDArray[np.integer],
    names: tuple[str, ...] | None,
    others: NDArray[np.integer] | None,
    begins: int,
) -> tuple[str, ...]:
    """The names of all objects; rows with any other id are wrong."""
    below = f"holds an id below {begins}, where ids begin" if begins else "holds a negative id"
    lowest, highest = int(ids.min(initial=0)), int(ids.max(initial=0))
    if lowest < 0:
        table.complain((ids < 0).any(axis=1), below + ("" if begins else "; ids run from 0"))
    if names is None and highest < MOST_UNNAMED and others is None and not table.unusable().any():
        return default_names(highest + 1)
    if names is None:
        table.complain(
            (ids >= MOST_UNNAMED).any(axis=1),
            f"holds an id beyond {MOST_UNNAMED:,}; if ids are labels with gaps, read the table "
            "with pandas and use Triplets.from_dataframe with text columns",
        )
        known = [ids[~table.unusable()].ravel(), np.zeros(1, np.int64)]
        if others is not None:
            known.append(others.ravel().astype(np.int64) - begins)
        return default_names(int(np.concatenate(known).max()) + 1)
    if highest < len(names):
        return names
    good = ids[(ids >= 0).all(axis=1)]
    one_based = begins == 0 and good.size and good.min() == 1 and good.max() == len(names)
    table.complain(
        (ids >= len(names)).any(axis=1),
        f"holds an id beyond the {len(names)} names"
        + (" (the ids look 1-based: pass first_id=1)" if one_based else ""),
    )
    return names


def _ids_of_names(
    table: Table, shown: NDArray[Any], names: tuple[str, ...] | None
) -> NDArray[np.integer]:
    """Numbers of the names given; rows with any other name are wrong."""
    if names is None:
        return np.zeros(shown.shape, np.int64)
    ids = pd.Index(names, dtype=object).get_indexer(shown.ravel()).reshape(shown.shape)
    table.complain(
        (ids < 0).any(axis=1), f"shows an object that is not among the {len(names)} names"
    )
    return ids.astype(np.int64)


def _number_names(shown: NDArray[Any]) -> tuple[NDArray[np.integer], tuple[str, ...]]:
    """Names in alphabetical order, or by value if all of them are numbers."""
    codes, found = pd.factorize(shown.ravel())
    numbers = pd.to_numeric(pd.Series(found), errors="coerce").to_numpy(float)
    # Not as an array of text, in which every name would take the room of the longest.
    names = pd.Index(found).map(str)
    check_names(names, np.zeros(1, np.int64))
    order = np.argsort(
        names.to_numpy(object) if np.isnan(numbers).any() else numbers, kind="stable"
    )
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes].reshape(shown.shape), tuple(map(str, found[order]))
