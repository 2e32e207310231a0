"""Rows of a file as columns, with a list of what is wrong with which of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.formulas import unescape
from pyrovice.data.naming import clean_name
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.structure import (
    SEPARATORS,
    WHITESPACE,
    Structure,
    fields_per_line,
    guess_separator,
)
from pyrovice.data.reading_report import LeftOut
from pyrovice.errors import DataError

Mask = NDArray[np.bool_]
Marked = Mask | np.bool_

# What programs write where a number is missing.
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
# A number as German, French and other spreadsheets write it.
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+")
# Whatever is between fields, such a comma does not stand before thousands.
SURELY_DECIMAL = re.compile(r"[+-]?\d*,(\d{1,2}|\d{4,})")
# Beyond this, neighbouring whole numbers are the same float.
LARGEST_WHOLE = 2**53
LARGEST_SHORT = 2**30
# Rows that are parsed in one go.
ROWS_AT_ONCE = 2**17
# Lines that are named after the first one with the same fault.
MOST_OTHER_LINES = 3


class Table:
    """Columns of a file, and where each row stands in it.

    A reader asks for columns and says which rows are wrong (`complain`) or not judgments
    (`leave_out`); `refuse` then names all the wrong ones at once.
    """

    def __init__(
        self,
        source: Source,
        columns: dict[Any, Any],
        lines: NDArray[np.integer],
        unit: str | None = None,
        show: Callable[[int], str] | None = None,
        decimal_comma: bool = False,
    ) -> None:
        self.source = source
        self.columns = columns
        self.lines = lines
        self.unit = unit or source.unit
        self.show = show or (lambda row: repr(source.line(int(lines[row]) + source.before)[:60]))
        self.decimal_comma = decimal_comma
        self.wrong: dict[str, Mask] = {}
        self.left: dict[str, Mask] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def __contains__(self, column: Any) -> bool:
        return column in self.columns

    # ------------------------------------------------------------------ columns

    def whole(self, names: Sequence[Any], what: str) -> NDArray[np.integer]:
        """Whole numbers, shape (n, columns); rows that hold anything else are wrong."""
        # Millions of ids take half of the room and time as short numbers.
        short = all(_are_integers_up_to(self.columns[name], LARGEST_SHORT) for name in names)
        out = np.zeros((len(self), len(names)), np.int32 if short else np.int64)
        for i, name in enumerate(names):
            values = self.columns[name]
            if short or _are_integers_up_to(values, LARGEST_WHOLE):
                out[:, i] = values
                continue
            numbers = _numbers(values)
            good = np.isfinite(numbers) & (np.abs(numbers) <= LARGEST_WHOLE)
            bare = good & (numbers == np.floor(np.where(good, numbers, 0)))
            empty = np.asarray(pd.isna(values))
            self.complain(empty, f"lacks {what}")
            self.complain(~good & ~empty, f"holds {what} that is not a number")
            self.complain(good & ~bare, f"holds {what} that is not whole")
            out[bare, i] = np.asarray(numbers)[bare].astype(np.int64)
        return out

    def text(self, names: Sequence[Any], what: str) -> NDArray[Any]:
        """Names without blanks around them, shape (n, columns); an empty one is wrong."""
        out = np.empty((len(self), len(names)), dtype=object)
        for i, name in enumerate(names):
            out[:, i] = stripped(self.columns[name])
            self.complain(out[:, i] == "", f"lacks {what}")
        return out

    def measured(self, name: Any, what: str) -> NDArray[np.float64]:
        """Numbers that may be missing."""
        values = self.columns[name]
        missing = np.asarray(pd.isna(values))
        if not pd.api.types.is_numeric_dtype(values):
            missing = missing | np.isin(stripped(values), MISSING)
        numbers = _numbers(values, self.decimal_comma)
        bad = ~np.isfinite(numbers) & ~missing
        reason = f"holds {what} that is not a number"
        self.complain(bad, reason + self.such_as(values, bad))
        return np.where(missing, np.nan, numbers)

    def labels(self, name: Any) -> NDArray[Any]:
        """Who judged: numbers if all of them are, otherwise text, and None where nobody says."""
        values = pd.Series(self.columns[name])
        if pd.api.types.is_integer_dtype(values):
            return values.to_numpy()
        missing = values.isna().to_numpy()
        if pd.api.types.is_float_dtype(values) and (values.dropna() % 1 == 0).all():
            found = values.fillna(0).to_numpy().astype(np.int64)
        else:
            found = stripped(values)
        if missing.any():
            found = found.astype(object)
            found[missing] = None
        return found

    # ------------------------------------------------------------------ rows

    def complain(self, rows: Marked, reason: str) -> None:
        """Say that rows are wrong; the first thing said about a row counts."""
        self._note(self.wrong, np.asarray(rows, bool) & ~self.unusable(), reason)

    def leave_out(self, rows: Marked, reason: str) -> None:
        """Say that rows are not judgments, though nothing is wrong with them."""
        self._note(self.left, np.asarray(rows, bool) & ~self.unusable(), reason)

    def such_as(self, values: Any, rows: Mask) -> str:
        """The first of the values that are wrong: long rows are not shown to their end."""
        wrong = np.flatnonzero(rows & ~self.unusable())
        return f", such as {str(pd.Series(values).iloc[wrong[0]])!r}" if len(wrong) else ""

    def unusable(self) -> Mask:
        """Rows that are wrong or left out so far."""
        marked = [*self.wrong.values(), *self.left.values()]
        return np.any(marked, axis=0) if marked else np.zeros(len(self), bool)

    def refuse(self) -> None:
        """Name all rows that are wrong, if there are any."""
        wrong = {reason: np.flatnonzero(rows) for reason, rows in self.wrong.items() if rows.any()}
        if not wrong:
            return
        said = []
        for reason, rows in wrong.items():
            first = f"{self.unit} {self.lines[rows[0]]}: {self.show(rows[0])} {reason}"
            others = ", ".join(str(line) for line in self.lines[rows[1 : MOST_OTHER_LINES + 1]])
            more = ", ..." if len(rows) > MOST_OTHER_LINES + 1 else ""
            units = self.unit if len(rows) == 2 else f"{self.unit}s"
            also = f" ({len(rows):,} such rows: also {units} {others}{more})"
            said.append(first + (also if len(rows) > 1 else ""))
        raise DataError(
            f"{self.source.label}, {'; '.join(said)}. Correct them, or leave them out: "
            f"{self.source.leave_out}."
        )

    def left_out(self) -> tuple[LeftOut, ...]:
        """All rows that are not read, by reason."""
        return tuple(
            LeftOut(reason, tuple(self.lines[rows].tolist()), self.unit)
            for reason, rows in (self.left | self.wrong).items()
            if rows.any()
        )

    @staticmethod
    def _note(into: dict[str, Mask], rows: Mask, reason: str) -> None:
        if rows.any():
            into[reason] = into[reason] | rows if reason in into else rows


def stripped(values: Any) -> NDArray[Any]:
    """Text without blanks around it, empty where there is none."""
    # There are far fewer different values than rows.
    codes, different = pd.factorize(np.asarray(values, dtype=object))
    return np.array([*(clean_name(str(value)) for value in different), ""], dtype=object)[codes]


def _are_integers_up_to(values: Any, largest: int) -> bool:
    """Whether a column has whole numbers of at most this size and nothing else."""
    if not pd.api.types.is_integer_dtype(values) or not len(values) or pd.isna(values).any():
        return False
    return values.min() >= -largest and values.max() <= largest


def as_numbers(values: Any, decimal_comma: bool) -> Any:
    """A column as numbers if it is nothing else, decimal commas allowed; otherwise as it is."""
    if pd.api.types.is_numeric_dtype(values):
        return np.asarray(values)
    column = pd.Series(values)
    missing = column.isna().to_numpy()
    if not missing.all() and (decimal_comma or _has_decimal_commas(column)):
        numbers = _numbers(column, decimal_comma=True)
        if np.isfinite(numbers[~missing]).all():
            return numbers
    return column.to_numpy(dtype=object)


def unescaped(column: pd.Series) -> pd.Series:
    """Without the apostrophes that keep spreadsheets from running names."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    different = [value for value in column.unique() if isinstance(value, str)]
    special = {value: plain for value in different if (plain := unescape(value)) != value}
    return column.replace(special) if special else column


def _numbers(values: Any, decimal_comma: bool = False) -> NDArray[Any]:
    """Numbers, NaN where there is none."""
    if pd.api.types.is_bool_dtype(values):
        return np.full(len(values), np.nan)
    if pd.api.types.is_numeric_dtype(values):
        return np.asarray(values)
    column = pd.Series(values, dtype=object)
    if decimal_comma or _has_decimal_commas(column):
        column = column.map(
            lambda value: (
                value.strip().replace(".", "").replace(",", ".")
                if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip())
                else value
            )
        )
    return pd.to_numeric(column, errors="coerce").to_numpy(float)


def _has_decimal_commas(column: pd.Series) -> bool:
    """Whether commas are decimal ones, as in a table that was read without saying so."""
    text = [value.strip() for value in column.unique() if isinstance(value, str)]
    return any(map(SURELY_DECIMAL.fullmatch, text)) and not any("," in v and "." in v for v in text)


def header(sample: Sample, wanted: Sequence[str]) -> tuple[str, list[str]] | None:
    """The separator and all columns of the first line, if those wanted are among them."""
    if sample.kind != "text" or not sample.lines:
        return None
    for separator in SEPARATORS:
        columns = [column.strip() for column in fields_of(sample.lines[0], separator)]
        if set(wanted) <= set(columns):
            return separator, columns
    return None


def read_with_header(
    source: Source,
    separator: str,
    columns: Sequence[str],
    wanted: Sequence[str],
    text: Sequence[str] = (),
) -> Table:
    """Some columns of a text file whose first line names them; those in `text` are not numbers."""
    twice = sorted({name for name in wanted if columns.count(name) > 1})
    if twice:
        raise DataError(f"{source.label}, line 1 names the column {twice[0]!r} twice.")
    at = {columns.index(name): name for name in wanted if name in columns}
    return _read_text(source, separator, len(columns), at, set(text), has_header=True)


def read_without_header(source: Source, separator: str | None = None, text: bool = False) -> Table:
    """All columns of a text file without a header, named 0, 1, ..."""
    first = source.sample().lines[:1]
    if not first:
        raise DataError(f"{source.label} is empty; expected a row per judgment.")
    separator = separator or guess_separator(first[0])
    width = len(fields_of(first[0], separator))
    at = {i: i for i in range(width)}
    return _read_text(source, separator, width, at, set(at) if text else set(), has_header=False)


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    if separator == WHITESPACE:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error:
        return [line]


def _read_text(
    source: Source,
    separator: str,
    width: int,
    at: dict[int, Any],
    text: set[Any],
    has_header: bool,
) -> Table:
    structure = fields_per_line(source, separator)
    lines, fields = structure.lines, structure.fields
    skipped = int(lines[0]) if has_header and len(lines) else 0
    lines, fields = (lines[1:], fields[1:]) if has_header else (lines, fields)
    if not len(lines):
        raise DataError(
            f"{source.label} ends after line {skipped}, which names its columns; expected a row "
            "per judgment."
        )
    try:
        columns = _parsed(source, structure, width, at, text, skipped)
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{source.label}, line {lines[0]} or later: {error}.") from error
    read = len(next(iter(columns.values())))
    if read != len(lines):
        raise DataError(
            f"{source.label} has {len(lines)} rows from line {lines[0]} on, but {read} were "
            "read; are there quotes or line breaks within a field?"
        )
    table = Table(source, columns, lines - source.before, decimal_comma=separator != ",")
    for count in np.unique(fields[fields != width]):
        than = "the header" if has_header else "the first line"
        table.complain(fields == count, f"has {count} columns, but {than} has {width}")
    return table


def _parsed(
    source: Source,
    structure: Structure,
    width: int,
    at: dict[int, Any],
    text: set[Any],
    skipped: int,
) -> dict[Any, pd.Series]:
    """The columns by name, put together from stretches of the file to save memory."""
    parts: dict[int, list[pd.Series]] = {i: [] for i in at}
    with source.open() as file:
        stream = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        stretches = pd.read_csv(
            stream,
            sep=structure.separator,
            header=None,
            names=list(range(width)),
            index_col=False,
            usecols=sorted(at),
            dtype={i: str for i, name in at.items() if name in text},
            skiprows=skipped,
            keep_default_na=False,
            na_values=[""],
            quoting=csv.QUOTE_MINIMAL if structure.quoted else csv.QUOTE_NONE,
            chunksize=ROWS_AT_ONCE,
            low_memory=False,
        )
        for stretch in stretches:
            for i, several in parts.items():
                several.append(stretch[i])
        stream.detach()
    # A column may hold numbers in one stretch and text in another; that is looked at later.
    return {name: pd.concat(parts.pop(i), ignore_index=True) for i, name in at.items()}
