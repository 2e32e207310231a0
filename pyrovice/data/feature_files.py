"""Features of objects from files, as the tools that compute them write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.named_tables import read_text_table
from pyrovice.data.writing import SEPARATOR_OF_ENDING
from pyrovice.errors import DataError

EXPECTED = (
    ".npy, .csv, .tsv, .txt or .parquet with a row per object, or a folder with one .npy per object"
)


def read_features(
    path: str | Path, *, names: Sequence[str] | str | Path | None = None
) -> pd.DataFrame:
    """Read a table of features, objects x features.

    Parameters
    ----------
    path : path
        A ``.npy`` or ``.txt`` file of numbers, a row per object; a ``.csv``, ``.tsv`` or
        ``.parquet`` table, whose first column has the names of the objects if it is text; or a
        folder with one ``.npy`` per object, named after it.
    names : sequence of str, or path of a text file, optional
        The objects of the rows, one per line of the file, for tables that do not have them.

    Returns
    -------
    DataFrame
        Indexed by the names of the objects, or by 0, 1, 2, ... where there are none: the rows
        are then taken in the order of the objects.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.save(folder / "cat.npy", np.array([0.1, 2.0]))
    >>> np.save(folder / "dog.npy", np.array([0.3, 1.0]))
    >>> read_features(folder)
         0    1
    cat  0.1  2.0
    dog  0.3  1.0
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; expected {EXPECTED}.")
    table = _from_folder(path) if path.is_dir() else _from_file(path)
    if names is None:
        return table
    if isinstance(names, str | Path):
        names = Path(names).read_text(encoding="utf-8").splitlines()
    if len(names) != len(table):
        raise DataError(f"{path} has {len(table):,} rows, and there are {len(names):,} names.")
    return table.set_axis(pd.Index([str(name) for name in names]))


def _from_file(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".npy":
            return pd.DataFrame(_matrix(np.load(path, allow_pickle=False), path))
        if path.suffix == ".txt":
            return pd.DataFrame(np.loadtxt(path, ndmin=2))
        if path.suffix in SEPARATOR_OF_ENDING:
            return _named(read_text_table(path))
        if path.suffix == ".parquet":
            return _named(_parquet(path))
    except DataError:
        raise
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} does not hold a table of numbers ({error}).") from error
    raise DataError(f"{path} ends in {path.suffix!r}; expected {EXPECTED}.")


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise DataError(
            f"{path}: reading .parquet needs pyarrow; pip install 'pyrovice[parquet]'."
        ) from error


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """With the first column as the index, if it is names rather than numbers."""
    if isinstance(table.index, pd.RangeIndex) and len(table.columns):
        first = table.iloc[:, 0]
        if not pd.api.types.is_numeric_dtype(first):
            table = table.iloc[:, 1:].set_axis(pd.Index(first.astype(str)))
    return table


def _matrix(values: NDArray, path: Path) -> NDArray:
    if values.ndim < 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds {values.dtype} of shape {values.shape}; expected numbers, a row per "
            "object."
        )
    # Activations of a layer may have channels and places; all of them are features.
    return values.reshape(len(values), -1)


def _from_folder(path: Path) -> pd.DataFrame:
    files = sorted(path.glob("*.npy"))
    if not files:
        raise DataError(f"There is no .npy file in the folder {path}; expected {EXPECTED}.")
    rows = {}
    for file in files:
        try:
            row = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise DataError(f"{file} does not hold numbers ({error}).") from error
        rows[file.stem] = _matrix(row.reshape(1, -1), file)[0]
    sizes = {len(row) for row in rows.values()}
    if len(sizes) > 1:
        raise DataError(
            f"The files of {path} hold {min(sizes):,} to {max(sizes):,} numbers; expected equally "
            "many for all objects."
        )
    return pd.DataFrame(np.stack(list(rows.values())), index=list(rows))
