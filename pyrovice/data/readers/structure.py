"""How many fields each line of a text file has.

The fast parser silently pads short rows and shortens long ones, so fields are counted here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.source import BYTES_AT_ONCE, Source
from pyrovice.errors import DataError

WHITESPACE = r"\s+"
SEPARATORS = ("\t", ",", ";")
# Bytes of a line: one of a hundred thousand columns has fewer.
LONGEST_LINE = 2**20

Structure = tuple[NDArray[np.int64], NDArray[np.int64], bool]


def guess_separator(line: str) -> str:
    """A tab, comma or semicolon if there is one, else any run of white space."""
    return next((mark for mark in SEPARATORS if mark in line), WHITESPACE)


def fields_per_line(source: Source, separator: str) -> Structure:
    """Line numbers (from 1) and numbers of fields of all rows that are not blank.

    Also whether any field is quoted.
    """
    counts: list[NDArray[np.int64]] = []
    seen = 0
    quoted = False
    for block in _blocks(source):
        if b"\0" in block:
            at = seen + block[: block.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{source.label}, line {at} holds a NUL byte; expected text.")
        seen += block.count(b"\n")
        quoted |= b'"' in block and separator != WHITESPACE
        if not quoted:
            counts.append(_count_fields(np.frombuffer(block, np.uint8), separator))
    if quoted:
        return _fields_per_quoted_line(source, separator)
    every = np.concatenate(counts) if counts else np.zeros(0, np.int64)
    filled = np.flatnonzero(every)
    return filled + 1, every[filled], False


def _blocks(source: Source) -> Iterator[bytes]:
    """Whole lines, each ended by a line feed."""
    with source.open() as file:
        seen = 0
        while block := file.read(BYTES_AT_ONCE):
            block += file.readline(LONGEST_LINE + 1)
            if not block.endswith(b"\n"):
                block += b"\n"
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            _refuse_long_lines(source, block, seen)
            seen += block.count(b"\n")
            yield block


def _refuse_long_lines(source: Source, block: bytes, before: int) -> None:
    """Refuse what would take many times its size in memory, and is not a row of judgments."""
    if len(block) <= LONGEST_LINE:
        return
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    long = np.flatnonzero(np.diff(ends, prepend=-1) > LONGEST_LINE)
    if long.size:
        raise DataError(
            f"{source.label}, line {before + long[0] + 1} has more than {LONGEST_LINE:,} bytes; "
            "expected a judgment in each line. Does it lack line breaks?"
        )


def _count_fields(data: NDArray[np.uint8], separator: str) -> NDArray[np.int64]:
    """Fields of each line, 0 where it is blank."""
    newline = data == ord("\n")
    ends = np.flatnonzero(newline)
    blank = newline | (data == ord(" ")) | (data == ord("\t"))
    if separator == WHITESPACE:
        starts = ~blank
        starts[1:] &= blank[:-1]
        return _count_in_lines(starts, ends)
    marks = data == ord(separator)
    filled = _count_in_lines(~blank | marks, ends) > 0
    return np.where(filled, _count_in_lines(marks, ends) + 1, 0)


def _count_in_lines(marks: NDArray[np.bool_], ends: NDArray[np.intp]) -> NDArray[np.int64]:
    before = np.searchsorted(np.flatnonzero(marks), ends)
    return np.diff(before, prepend=0)


def _fields_per_quoted_line(source: Source, separator: str) -> Structure:
    lines, fields = [], []
    with source.open() as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        rows = csv.reader(text, delimiter=separator, strict=True)
        began = 1
        try:
            for row in rows:
                if len(row) > 1 or (row and row[0].strip()):
                    lines.append(began)
                    fields.append(len(row))
                began = rows.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"{source.label}, line {began}: its quotes do not match ({error})."
            ) from error
        finally:
            text.detach()
    return np.array(lines, np.int64), np.array(fields, np.int64), True
