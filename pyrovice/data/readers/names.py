"""Rows of three names, the odd one last, as the nature and vogue files have them.

Separated by white space, or by tabs, commas or semicolons if there are any.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.numbers import rows_of_numbers
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.structure import guess_separator
from pyrovice.data.readers.table import fields_of, read_without_header
from pyrovice.errors import DataError


def recognise(sample: Sample) -> str | None:
    """Three fields per row that are not all numbers."""
    if sample.kind != "text" or not sample.lines or rows_of_numbers(sample) is not None:
        return None
    separator = guess_separator(sample.lines[0])
    widths = [len(fields_of(line, separator)) for line in sample.lines]
    # A line or two may be wrong; they are named when the file is read.
    if widths[0] != 3 or np.mean(np.equal(widths, 3)) < 0.5:
        return None
    # Numbers below a line of text: that line is a header of a format that is not known.
    if rows_of_numbers(replace(sample, lines=sample.lines[1:])) is not None:
        return None
    return "three names in each row"


def read(
    source: Source, options: Options, decided: str, has_header: bool | None = None
) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    table = read_without_header(source, text=True)
    if len(table.columns) != 3:
        raise DataError(
            f"{source.label}, line {table.lines[0]} has {len(table.columns)} columns; expected "
            "three names, the odd one last."
        )
    shown = table.text([0, 1, 2], "a name")
    if has_header is None and _stands_alone(shown):
        raise DataError(
            f"{source.label}, line {table.lines[0]}: none of {', '.join(shown[0])} occurs again; "
            "is it a header or a judgment? Pass has_header=True or has_header=False."
        )
    if has_header:
        table.leave_out(np.arange(len(shown)) == 0, "header")
    return finish(
        Found(
            table,
            shown,
            np.full(len(shown), 2),
        ),
        options,
        "names",
        decided,
    )


def _stands_alone(shown: NDArray[Any]) -> bool:
    """Whether the names of the first row never recur, though others do."""
    others = shown[1:].ravel()
    recurring = len(others) >= 2 * len(set(others)) > 0
    return recurring and not np.isin(others, shown[0]).any()
