"""Files of nothing but numbers: ``.npy``, or text without a header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.source import NPY, Sample, Source
from pyrovice.data.readers.structure import WHITESPACE, guess_separator
from pyrovice.data.readers.table import Table, read_without_header
from pyrovice.errors import DataError


def rows_of_numbers(sample: Sample) -> NDArray[np.float64] | None:
    """The first rows of a file, if the first of them holds numbers; rows unlike it are skipped."""
    if sample.array is not None:
        return sample.array.astype(float)
    if sample.kind != "text" or not sample.lines:
        return None
    separator = guess_separator(sample.lines[0])
    rows = [_floats(line, separator) for line in sample.lines]
    if rows[0] is None:
        return None
    return np.array([row for row in rows if row is not None and len(row) == len(rows[0])])


def _floats(line: str, separator: str) -> list[float] | None:
    try:
        return [float(part) for part in line.split(None if separator == WHITESPACE else separator)]
    except ValueError:
        return None


def numeric_table(source: Source, widths: Sequence[int], expected: str) -> Table:
    """All columns of a file of numbers; `widths` says how many there may be."""
    with source.open() as file:
        is_npy = file.read(len(NPY)) == NPY
    if is_npy or source.suffix == ".npy":
        array = read_npy(source, expected)
        if array.ndim != 2 or array.shape[1] not in widths:
            raise DataError(f"{source.label} holds an array of shape {array.shape}; {expected}.")
        if not len(array):
            raise DataError(f"{source.label} holds no judgments.")
        return Table(
            source,
            {i: array[:, i] for i in range(array.shape[1])},
            np.arange(len(array), dtype=np.int32),
            unit="row",
            show=lambda row: str(array[row].tolist()),
        )
    table = read_without_header(source)
    if len(table.columns) not in widths:
        raise DataError(
            f"{source.label}, line {table.lines[0]} has {len(table.columns)} columns; {expected}."
        )
    return table


def read_npy(source: Source, expected: str) -> NDArray[Any]:
    """A NumPy array of numbers; objects are never unpickled."""
    try:
        with source.open() as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise DataError(f"{source.label} is not a NumPy array of numbers ({error}).") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise DataError(f"{source.label} holds {getattr(array, 'dtype', type(array))}; {expected}.")
    return array
