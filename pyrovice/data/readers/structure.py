"""How many fields each line of a text file has.

The fast parser silently pads short rows and shortens long ones, so fields are counted here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.source import BYTES_AT_ONCE, Source
from pyrovice.errors import DataError

WHITESPACE = r"\s+"
SEPARATORS = ("\t", ",", ";")
# Bytes of a line: one of a hundred thousand columns has fewer.
LONGEST_LINE = 2**20


@dataclass(frozen=True)
class Structure:
    """The rows of a text file that are not blank.

    Attributes
    ----------
    lines, fields : array
        The line of each row (from 1), and how many fields it has.
    separator : str
        What is between fields: a single blank where any white space would do, which is
        faster to parse.
    quoted : bool
        Whether any field is quoted.
    """

    lines: NDArray[np.integer]
    fields: NDArray[np.integer]
    separator: str
    quoted: bool = False


def guess_separator(line: str) -> str:
    """A tab, comma or semicolon if there is one, else any run of white space."""
    return next((mark for mark in SEPARATORS if mark in line), WHITESPACE)


def fields_per_line(source: Source, separator: str) -> Structure:
    """Where the rows are, and how many fields each of them has."""
    counts: list[NDArray[np.int32]] = []
    blanks = 0
    quoted = tabs = False
    for block, before in _blocks(source):
        if b"\0" in block:
            at = before + block[: block.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{source.label}, line {at} holds a NUL byte; expected text.")
        quoted |= b'"' in block and separator != WHITESPACE
        if not quoted:
            data = np.frombuffer(block, np.uint8)
            counts.append(_count_fields(data, separator))
            blanks += int(np.count_nonzero(data == ord(" ")))
            tabs |= b"\t" in block
    if quoted:
        return _fields_per_quoted_line(source, separator)
    fields = np.concatenate(counts) if counts else np.zeros(0, np.int32)
    lines = np.arange(1, len(fields) + 1, dtype=np.int32)
    if not fields.all():
        lines, fields = lines[fields > 0], fields[fields > 0]
    if separator == WHITESPACE and not tabs and blanks == int(fields.sum()) - len(fields):
        separator = " "
    return Structure(lines, fields, separator)


def _blocks(source: Source) -> Iterator[tuple[bytes, int]]:
    """Whole lines, each ended by a line feed, and how many came before them."""
    with source.open() as file:
        seen = 0
        while block := file.read(BYTES_AT_ONCE):
            block += file.readline(LONGEST_LINE + 1)
            if not block.endswith(b"\n"):
                block += b"\n"
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            _refuse_long_lines(source, block, seen)
            yield block, seen
            seen += block.count(b"\n")


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


def _count_fields(data: NDArray[np.uint8], separator: str) -> NDArray[np.int32]:
    """Fields of each line, 0 where it is blank."""
    newline = data == ord("\n")
    ends = np.flatnonzero(newline)
    if separator != WHITESPACE:
        marks = _count_in_lines(data == ord(separator), ends)
        if marks.all():
            return marks + 1
    blank = newline | (data == ord(" ")) | (data == ord("\t"))
    if separator == WHITESPACE:
        starts = ~blank
        starts[1:] &= blank[:-1]
        return _count_in_lines(starts, ends)
    filled = (marks > 0) | (_count_in_lines(~blank, ends) > 0)
    return np.where(filled, marks + 1, 0)


def _count_in_lines(marks: NDArray[np.bool_], ends: NDArray[np.intp]) -> NDArray[np.int32]:
    places, lines = np.flatnonzero(marks), len(ends)
    each = len(places) // max(lines, 1)
    if each and len(places) == each * lines:
        # Nearly always all lines have as many, which is soon seen.
        rows = places.reshape(lines, each)
        if (rows[:, -1] < ends).all() and (rows[1:, 0] > ends[:-1]).all():
            return np.full(lines, each, np.int32)
    up_to = np.searchsorted(places, ends).astype(np.int32)
    return np.diff(up_to, prepend=np.int32(0))


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
    return Structure(np.array(lines, np.int64), np.array(fields, np.int64), separator, quoted=True)
