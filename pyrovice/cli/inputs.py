"""What commands are given and write: judgments, embeddings, tables, places to write to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import pyrovice as pv
from pyrovice.errors import DataError, OverwriteError, WriteError

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "example"


@contextmanager
def all_or_none() -> Iterator[list[Path]]:
    """Write new files that belong together: those on the list go if a later one fails."""
    written: list[Path] = []
    try:
        yield written
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def read_judgments(
    data: str,
    format: str = "auto",
    names: Path | Sequence[str] | None = None,
    part: str | None = None,
    **options: Any,
) -> pv.Triplets:
    """Judgments from a file or folder, or the built-in ones.

    A file of that name takes precedence over the built-in ones.
    """
    if data == EXAMPLE and not Path(data).exists():
        return pv.load_example().triplets
    given = {"names": names, "part": part, **options}
    return pv.Triplets.read(
        data, format, **{name: value for name, value in given.items() if value is not None}
    )


def with_catch_trials(data: pv.Triplets, path: Path) -> pv.Triplets:
    """The same judgments, with who passed catch trials from a table of its own."""
    import pandas as pd

    from pyrovice.data.named_tables import read_words
    from pyrovice.data.readers.catch_trials import passed_or_failed

    check_table(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; expected a table of participant and passed."
        )
    if data.reading is None or data.participants is None:
        raise DataError("These judgments do not say who judged, so that catch trials do not help.")
    try:
        table = read_words(path)
    except ValueError as error:
        raise DataError(f"{path} does not hold a table ({error}).") from error
    if not {"participant", "passed"} <= set(table):
        raise DataError(
            f"{path} has the columns {', '.join(map(str, table))}; expected participant and passed."
        )
    table = table.dropna(subset=["participant", "passed"])
    # A file has text where the judgments may have numbers.
    labels = {str(person): person for person in data.people()}
    catch = pd.DataFrame(
        {
            "participant": [labels.get(who, who) for who in table["participant"]],
            "passed": passed_or_failed(table["passed"], True, str(path)),
        }
    )
    return pv.Triplets(
        data.objects,
        data.odd,
        names=data.names,
        anchor=data.anchor,
        participants=data.participants,
        trials=data.trials,
        reading=replace(data.reading, catch=catch),
    )


def read_embedding(path: Path) -> pd.DataFrame:
    """An objects x dimensions table: of a fit, or from a file of numbers."""
    import numpy as np
    import pandas as pd

    from pyrovice.data.formulas import unescape
    from pyrovice.data.named_tables import read_text_table
    from pyrovice.data.writing import SEPARATOR_OF_ENDING

    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; expected a fit, a .csv or .tsv with an object column, or a "
            ".txt or .npy file of numbers."
        )
    try:
        if path.suffix in SEPARATOR_OF_ENDING:
            table = read_text_table(path)
            names = table.iloc[:, 0].astype(str).map(unescape)
            return table.iloc[:, 1:].set_axis(pd.Index(names)).astype(float)
        if path.suffix == ".npy":
            return pd.DataFrame(np.load(path, allow_pickle=False))
        if path.suffix == ".txt":
            return pd.DataFrame(np.loadtxt(path, ndmin=2))
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} does not hold a table of numbers ({error}).") from error
    return pv.load(path).embedding()


def check_table(path: Path, endings: Sequence[str] = (".csv", ".tsv")) -> None:
    """Refuse a table whose name does not say what it is."""
    if path.suffix not in endings:
        raise typer.BadParameter(f"{path} should end in {', '.join(endings)}.")


def write_table(table: pd.DataFrame, path: Path, overwrite: bool) -> None:
    """Write a table to a ``.csv`` or ``.tsv`` file."""
    from pyrovice.data.writing import SEPARATOR_OF_ENDING
    from pyrovice.storage.atomic import write_whole

    content = table.to_csv(sep=SEPARATOR_OF_ENDING[path.suffix])
    write_whole(path, content.encode(), replace=overwrite)


def check_output(path: Path, overwrite: bool | None = None) -> None:
    """Refuse, before any work is done, a place that cannot be written to.

    `overwrite` is None for commands that have no such option.
    """
    if not path.parent.is_dir():
        raise WriteError(
            f"There is no folder {path.parent} to write {path.name} to; make it first."
        )
    if path.is_dir():
        raise WriteError(f"{path} is a folder; expected the name of a file.")
    if path.exists() and not overwrite:
        other = "" if overwrite is None else ", or add --overwrite"
        raise OverwriteError(f"{path} exists and is not replaced; choose another name{other}.")
