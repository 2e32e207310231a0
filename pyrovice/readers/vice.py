"""The format of the VICE and SPoSE programs.

``.npy`` or whitespace-separated ``.txt``, one judgment per row, 0-based ids:
the kept pair, then the odd one, then optionally a 0-based participant. A folder
holds the two parts ``train_90`` and ``test_10``, each as either kind of file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.arrays import in_ascending_order
from pyrovice.errors import DataError, OverwriteError
from pyrovice.validation import default_names

if TYPE_CHECKING:
    from pyrovice.triplets import Triplets

PARTS = {"train": "train_90", "test": "test_10"}
EXPECTED = "expected rows of three 0-based object ids, the odd one last"


def read(
    path: Path,
    *,
    part: str | None = None,
    names: Sequence[str] | str | Path | None = None,
    n_objects: int | None = None,
) -> dict[str, Any]:
    """The arguments of `Triplets` for a file, or for one part of a folder."""
    if isinstance(names, str | Path):
        names = read_names(Path(names))
    if path.is_dir():
        rows, highest = _read_folder(path, part or "train")
    elif part is not None:
        raise DataError(f"part={part!r} chooses from a folder, and {path} is a file.")
    else:
        rows = _read_rows(path)
        highest = int(rows[:, :3].max())
    if names is None:
        names = default_names(max(n_objects or 0, highest + 1))
    _check_triplets(path, rows, len(names))
    objects, odd = in_ascending_order(rows[:, :3], np.full(len(rows), 2))
    return {
        "objects": objects,
        "odd": odd,
        "names": names,
        "participants": rows[:, 3] if rows.shape[1] == 4 else None,
    }


def read_names(path: Path) -> list[str]:
    """Object names from a text file, one per line."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected a file with one name per line.")
    return path.read_text(encoding="utf-8-sig").splitlines()


def write(triplets: Triplets, path: Path) -> None:
    """Write the kept pair, the odd one and numeric participants."""
    if triplets.anchored.any():
        raise DataError(
            f"{int(triplets.anchored.sum())} judgments have an anchor, which this format cannot "
            "hold; write triplets.to_dataframe() as a table instead."
        )
    rows = np.arange(len(triplets))
    pair = np.argsort(np.arange(3) == triplets.odd[:, None], axis=1, kind="stable")
    columns = triplets.objects[rows[:, None], pair]
    if triplets.participants is not None:
        if triplets.participants.dtype.kind not in "iu":
            raise DataError(
                "The participants have names, and this format holds numbers; write "
                "triplets.to_dataframe() as a table instead."
            )
        columns = np.column_stack([columns, triplets.participants])
    if path.suffix not in (".npy", ".txt"):
        raise DataError(f"{path.name} ends in {path.suffix!r}; expected .npy or .txt.")
    try:
        with path.open("xb") as file:
            if path.suffix == ".npy":
                np.save(file, columns, allow_pickle=False)
            else:
                np.savetxt(file, columns, fmt="%d")
    except FileExistsError as error:
        raise OverwriteError(f"{path} exists and is not replaced; choose another name.") from error


def _read_folder(folder: Path, part: str) -> tuple[NDArray[np.int64], int]:
    """The rows of one part, and the highest id in either: both are of the same objects."""
    if part not in PARTS:
        raise DataError(f"part={part!r}; expected 'train' or 'test'.")
    found = {name: _part_file(folder, stem) for name, stem in PARTS.items()}
    if found[part] is None:
        raise FileNotFoundError(
            f"{folder} holds no {PARTS[part]}.npy or {PARTS[part]}.txt; expected a folder with "
            "train_90 and test_10. To read one file, give its path."
        )
    rows = {name: _read_rows(file) for name, file in found.items() if file is not None}
    return rows[part], max(int(part_rows[:, :3].max()) for part_rows in rows.values())


def _part_file(folder: Path, stem: str) -> Path | None:
    files = [folder / f"{stem}{suffix}" for suffix in (".npy", ".txt")]
    present = [file for file in files if file.is_file()]
    if len(present) == 2:
        raise DataError(f"{folder} holds both {stem}.npy and {stem}.txt; give the path of one.")
    return present[0] if present else None


def _read_rows(path: Path) -> NDArray[np.int64]:
    if path.suffix == ".npy":
        table = _read_npy(path)
    elif path.suffix == ".txt":
        table = _read_txt(path)
    else:
        raise DataError(f"{path} ends in {path.suffix!r}; expected .npy, .txt or a folder.")
    if table.ndim != 2 or table.shape[1] not in (3, 4):
        raise DataError(
            f"{path} holds an array of shape {table.shape}; {EXPECTED}, and at most one more "
            "column with the participant."
        )
    if len(table) == 0:
        raise DataError(f"{path} holds no judgments.")
    bad = np.flatnonzero(~(np.isfinite(table) & (table == np.floor(table))).all(axis=1))
    if bad.size:
        raise DataError(
            f"{path}, {_line(path, bad[0])}: {table[bad[0]].tolist()} holds a number that is "
            f"not whole; {EXPECTED}."
        )
    return table.astype(np.int64)


def _read_npy(path: Path) -> NDArray[Any]:
    try:
        table = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} is not a NumPy array of numbers ({error}).") from error
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "iuf":
        raise DataError(f"{path} holds {getattr(table, 'dtype', type(table))}; {EXPECTED}.")
    return table


def _read_txt(path: Path) -> NDArray[np.float64]:
    try:
        # Ids are exact in float64, and some programs write them as 12.0.
        return pd.read_csv(
            path, sep=r"\s+", header=None, dtype=np.float64, encoding="utf-8-sig", comment=None
        ).to_numpy()
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path} is empty; {EXPECTED}.") from error
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise DataError(_first_bad_line(path) or f"{path}: {error}") from error


def _first_bad_line(path: Path) -> str | None:
    """Name the line that the fast parser stumbled over."""
    width = None
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.split()
            if not fields:
                continue
            width = width or len(fields)
            try:
                [float(field) for field in fields]
            except ValueError:
                return f"{path}, line {number}: {line.strip()[:60]!r} is not numbers; {EXPECTED}."
            if len(fields) != width:
                return (
                    f"{path}, line {number} has {len(fields)} columns and the first line "
                    f"{width}; {EXPECTED}."
                )
    return None


def _line(path: Path, row: int) -> str:
    """Where a row stands in its file; blank lines count, as in an editor."""
    if path.suffix == ".npy":
        return f"row {row}"
    with path.open(encoding="utf-8-sig") as lines:
        filled = (number for number, line in enumerate(lines, start=1) if line.strip())
        return f"line {next(number for i, number in enumerate(filled) if i == row)}"


def _check_triplets(path: Path, rows: NDArray[np.int64], n_objects: int) -> None:
    ids = rows[:, :3]
    a, b, c = ids.T
    for bad, complaint in (
        ((ids < 0).any(axis=1), "holds a negative id; ids run from 0"),
        (
            (ids >= n_objects).any(axis=1),
            f"holds an id beyond the {n_objects} names"
            + (" (the ids look 1-based)" if ids.min() == 1 and ids.max() == n_objects else ""),
        ),
        ((a == b) | (b == c) | (a == c), "repeats an object; a triplet has three different ones"),
    ):
        at = np.flatnonzero(bad)
        if at.size:
            more = f" ({at.size} such rows)" if at.size > 1 else ""
            raise DataError(
                f"{path}, {_line(path, at[0])}: {ids[at[0]].tolist()} {complaint}.{more}"
            )
