"""The format of the VICE and SPoSE programs, also of THINGS' ``trainset.txt``.

``.npy`` or whitespace-separated ``.txt``, one judgment per row, 0-based ids:
the kept pair, then the odd one, then optionally a 0-based participant. A folder
holds the two parts ``train_90`` and ``test_10``, each as either kind of file.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.numbers import numeric_table, rows_of_numbers
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import Table
from pyrovice.errors import DataError

PARTS = {"train": "train_90", "test": "test_10", "inference": "test_triplets"}
EXPECTED = "expected rows of three 0-based object ids, the odd one last"
LAYOUT = "ids from 0, the odd one third"


def recognise(sample: Sample) -> str | None:
    """Three whole numbers per row, or a fourth that is never negative."""
    rows = rows_of_numbers(sample)
    if rows is not None and rows.size and rows.shape[1] == 3:
        return f"three columns of whole numbers: {LAYOUT}"
    if rows is not None and rows.size and rows.shape[1] == 4 and rows[:, 3].min() >= 0:
        return f"four columns of whole numbers: {LAYOUT}, then a participant"
    # Whatever else a .npy file holds, this reader can say what is wrong with it.
    return "a NumPy array" if sample.kind == "npy" and (rows is None or not rows.size) else None


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets` for a file."""
    return _judgments(_table(source), options, decided)


def read_folder(folder: Path, options: Options, part: str = "train") -> dict[str, Any]:
    """The arguments of `Triplets` for one part of a folder: all parts are of the same objects."""
    if part not in PARTS:
        raise DataError(f"part={part!r}; expected {', '.join(map(repr, PARTS))}.")
    found = {name: _part_file(folder, stem) for name, stem in PARTS.items()}
    if found[part] is None:
        raise FileNotFoundError(
            f"{folder} holds no {PARTS[part]}.npy or {PARTS[part]}.txt; expected a folder with "
            "train_90 and test_10. To read one file, give its path."
        )
    with ExitStack() as opened:
        tables = {
            name: _table(opened.enter_context(options.opened(file)))
            for name, file in found.items()
            if file is not None
        }
        others = [_ids(table)[~table.unusable()] for table in tables.values()]
        decided = f"a folder with {', '.join(PARTS[name] for name in tables)}"
        return _judgments(tables[part], options, decided, np.concatenate(others))


def _part_file(folder: Path, stem: str) -> Path | None:
    files = [folder / f"{stem}{suffix}" for suffix in (".npy", ".txt")]
    present = [file for file in files if file.is_file()]
    if len(present) == 2:
        raise DataError(f"{folder} holds both {stem}.npy and {stem}.txt; give the path of one.")
    return present[0] if present else None


def _table(source: Source) -> Table:
    return numeric_table(source, (3, 4), f"{EXPECTED}, and at most one more with the participant")


def _ids(table: Table) -> NDArray[np.integer]:
    return table.whole([0, 1, 2], "an id")


def _judgments(
    table: Table, options: Options, decided: str, others: NDArray[np.integer] | None = None
) -> dict[str, Any]:
    ids = _ids(table)
    people = table.whole([3], "a participant")[:, 0] if 3 in table else None
    if people is not None:
        table.complain(people < 0, "holds a negative participant; they are counted from 0")
    return finish(
        Found(
            table,
            ids,
            np.full(len(ids), 2, np.int8),
            others=others,
            participants=people,
        ),
        options,
        "vice",
        decided,
    )
