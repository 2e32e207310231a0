"""Tables of features of objects: network activations, word vectors, ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from pyrovice.data.feature_files import read_features
from pyrovice.data.wording import first_few, some_of
from pyrovice.errors import DataError

# What a table is called that has no name of its own.
ONLY_BLOCK = "features"


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """One block of features, checked.

    Attributes
    ----------
    name : str
        What the block is called.
    objects : tuple of str or None
        The objects, one per row; None if rows are known by their number only.
    columns : tuple of str
        What the features are called.
    values : array of shape (objects, columns)
        Finite numbers.
    named_columns : bool
        Whether the features have names of their own, rather than a place only.
    """

    name: str
    objects: tuple[str, ...] | None
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    named_columns: bool


def feature_tables(given: Any) -> tuple[FeatureTable, ...]:
    """Blocks of features over the same objects, from whatever the user gave.

    Parameters
    ----------
    given : DataFrame, array, path, or dict of these
        A DataFrame is indexed by object names. The rows of an array are the objects in
        their own order. The keys of a dict are the names of blocks.

    Examples
    --------
    >>> import pandas as pd
    >>> size = pd.DataFrame({"cm": [3.0, 250.0]}, index=["mouse", "horse"])
    >>> [(block.name, block.objects) for block in feature_tables({"size": size})]
    [('size', ('mouse', 'horse'))]
    """
    if not isinstance(given, Mapping):
        given = {ONLY_BLOCK: given}
    if not given:
        raise DataError("The features are an empty dict; expected a table for each name in it.")
    blocks = [_block(str(name), table) for name, table in given.items()]
    if len({block.name for block in blocks}) < len(blocks):
        raise DataError("Two blocks of features have the same name; give each its own.")
    return _over_the_same_objects(blocks)


def _block(name: str, table: Any) -> FeatureTable:
    if isinstance(table, str | Path):
        table = read_features(table)
    if isinstance(table, pd.Series):
        table = table.to_frame(table.name if table.name is not None else name)
    if isinstance(table, pd.DataFrame):
        block = _of_frame(name, table)
    else:
        values = _numbers(name, table)
        columns = tuple(f"{name} {i}" for i in range(values.shape[1]))
        block = FeatureTable(name, None, columns, values, named_columns=False)
    _check(block)
    return block


def _of_frame(name: str, table: pd.DataFrame) -> FeatureTable:
    text = [column for column, kind in table.dtypes.items() if not is_numeric_dtype(kind)]
    if text:
        raise DataError(
            f"Features {name!r} have {some_of(text, 'column')} of text; expected numbers, with the "
            "names of the objects as the index: table.set_index('object')."
        )
    columns = tuple(map(str, table.columns))
    if len(set(columns)) < len(columns):
        raise DataError(f"Features {name!r} have two columns of the same name; rename one.")
    # 0, 1, 2, ... is what pandas says where nobody named anything.
    unnamed = isinstance(table.index, pd.RangeIndex)
    return FeatureTable(
        name,
        None if unnamed else tuple(map(str, table.index)),
        columns,
        table.to_numpy(dtype=float),
        named_columns=not isinstance(table.columns, pd.RangeIndex),
    )


def _numbers(name: str, table: Any) -> NDArray[np.float64]:
    try:
        values = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Features {name!r} are a {type(table).__name__}; expected a DataFrame indexed by "
            "object names, an array with a row per object, a file of one, or a dict of these."
        ) from error
    if values.ndim != 2:
        raise DataError(
            f"Features {name!r} have shape {values.shape}; expected objects x features."
        )
    return values


def _check(block: FeatureTable) -> None:
    rows, columns = block.values.shape
    if rows == 0 or columns == 0:
        raise DataError(f"Features {block.name!r} have {rows} rows and {columns} columns.")
    bad = ~np.isfinite(block.values)
    if bad.any():
        where = np.flatnonzero(bad.any(axis=1))
        named = [str(i) if block.objects is None else block.objects[i] for i in where]
        raise DataError(
            f"Features {block.name!r}: {bad.sum():,} of {bad.size:,} numbers are missing or not "
            f"finite, in the rows of {some_of(named, 'object')}. Fill them in, for example "
            "table.fillna(table.mean()), or leave these columns out: table.dropna(axis=1)."
        )
    if block.objects is not None:
        index = pd.Index(block.objects)
        if index.has_duplicates:
            twice = list(dict.fromkeys(index[index.duplicated()]))
            raise DataError(
                f"Features {block.name!r} have {some_of(twice, 'object')} more than once; have one "
                "row each, for example table.groupby(level=0).mean()."
            )


def _over_the_same_objects(blocks: Sequence[FeatureTable]) -> tuple[FeatureTable, ...]:
    """All blocks with the objects, and their order, of the first."""
    first = blocks[0]
    same = [first]
    for block in blocks[1:]:
        if (block.objects is None) != (first.objects is None):
            raise DataError(
                f"Features {first.name!r} and {block.name!r}: one has names of objects and the "
                "other has not; give both an index of names, or neither."
            )
        if first.objects is None:
            if len(block.values) != len(first.values):
                raise DataError(
                    f"Features {first.name!r} have {len(first.values):,} rows and {block.name!r} "
                    f"{len(block.values):,}; expected a row per object in both."
                )
            same.append(block)
            continue
        assert block.objects is not None
        rows = rows_of(first.objects, block.objects, f"Features {block.name!r}")
        extra = sorted(set(block.objects) - set(first.objects))
        if extra:
            raise DataError(
                f"Features {first.name!r} have no row for {some_of(extra, 'object')} of "
                f"{block.name!r}; give all blocks the same objects."
            )
        same.append(replace(block, objects=first.objects, values=block.values[rows]))
    return tuple(same)


def rows_of(wanted: Sequence[str], there: Sequence[str], what: str) -> NDArray[np.intp]:
    """Where the wanted objects are, or which of them are missing."""
    rows = pd.Index(there).get_indexer(pd.Index(wanted))
    if (rows < 0).any():
        missing = [name for name, row in zip(wanted, rows, strict=True) if row < 0]
        raise DataError(
            f"{what}: no row for {some_of(missing, 'object')} of {len(wanted):,}. Objects are "
            f"matched by name, and the table has {first_few(map(repr, there))}. Give every object "
            "a row."
        )
    return rows.astype(np.intp)
