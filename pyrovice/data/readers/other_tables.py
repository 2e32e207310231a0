"""Tables that are not text, as text: Excel workbooks, Parquet files and records in JSON.

Each becomes comma-separated lines with a header, which every reader can read. Files of programs
that are not read are refused with what to do instead.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, Any

from pyrovice.data.wording import first_few
from pyrovice.errors import DataError

PARQUET = b"PAR1"
WORKBOOK = "xl/workbook.xml"

AS_CSV = "save the table as CSV (UTF-8) there"
IN_R = "use write.csv(table, 'judgments.csv', row.names = FALSE) there"
# How files of other programs begin, what they are, and what to do.
FOREIGN = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as .xlsx or as CSV (UTF-8)"),
    (b"$FL2", "an SPSS file", f"{AS_CSV}, or use pandas.read_spss(path)"),
    (b"$FL3", "an SPSS file", f"{AS_CSV}, or use pandas.read_spss(path)"),
    (b"MATLAB 5.0 MAT-file", "a Matlab file", "use writetable there, or scipy.io.loadmat(path)"),
    (b"\x89HDF", "an HDF5 or Matlab 7.3 file", "use writetable there, or h5py.File(path)"),
    (b"<stata_dta>", "a Stata file", f"{AS_CSV}, or use pandas.read_stata(path)"),
    (b"RDX2\n", "an R file", IN_R),
    (b"RDX3\n", "an R file", IN_R),
    (b"X\n\0", "an R file", IN_R),
    (b"ARROW1", "a Feather file", "use pandas.read_feather(path)"),
    (b"%PDF", "a PDF", "save the table itself, as CSV (UTF-8)"),
)


def refuse_foreign(label: str, start: bytes) -> None:
    """Say what a file of another program is, and how to get at its table."""
    for magic, what, instead in FOREIGN:
        if start.startswith(magic):
            from_pandas = "pandas" in instead or "scipy" in instead or "h5py" in instead
            then = " and Triplets.from_dataframe or from_array" if from_pandas else ""
            raise DataError(f"{label} is {what}, which is not read: {instead}{then}.")


def workbook_as_text(file: IO[bytes], label: str, sheet: str | None) -> bytes:
    """The rows of a sheet as lines, each where it stands in the sheet."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"{label} is an Excel workbook, and reading it needs openpyxl: pip install "
            "'pyrovice[excel]'. Or save it as CSV (UTF-8)."
        ) from None
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataError(f"{label} is not a readable Excel workbook ({error}).") from error
    try:
        rows = list(book[_sheet(book.sheetnames, label, sheet)].iter_rows(values_only=True))
    finally:
        book.close()
    return _as_lines(rows, label)


def _sheet(names: Sequence[str], label: str, wanted: str | None) -> str:
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted not in names:
        got = "" if wanted is None else f"no sheet {wanted!r}; it has "
        raise DataError(
            f"{label} has {got}{len(names)} sheets ({first_few(map(repr, names))}); say which: "
            "Triplets.read(path, sheet='...'), on the command line --sheet."
        )
    assert wanted is not None
    return wanted


def parquet_as_text(file: IO[bytes], label: str) -> bytes:
    """The rows of a Parquet file as lines below a header."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            f"{label} is a Parquet file, and reading it needs pyarrow: pip install "
            "'pyrovice[parquet]'."
        ) from None
    try:
        columns = pyarrow.parquet.read_table(pyarrow.BufferReader(file.read())).to_pydict()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{label} is not a readable Parquet file ({error}).") from error
    rows = zip(*columns.values(), strict=True)
    return _as_lines([list(columns), *rows], label)


def records_as_text(text: str, label: str) -> bytes | None:
    """Records in JSON as lines below a header; None if it is something else.

    A list of objects, an object in each line, or pandas' way, an object with a column each.
    """
    records = _records(text)
    if not records:
        return None
    names = list(dict.fromkeys(name for record in records for name in record))
    return _as_lines([names, *([record.get(name) for name in names] for record in records)], label)


def _records(text: str) -> list[dict[str, Any]] | None:
    try:
        content = json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            content = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            return None
    if isinstance(content, dict) and all(isinstance(each, dict) for each in content.values()):
        rows = list(dict.fromkeys(row for column in content.values() for row in column))
        return [{name: content[name].get(row) for name in content} for row in rows]
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        return content
    return None


def _as_lines(rows: Iterable[Sequence[Any]], label: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    width = None
    for number, row in enumerate(rows, start=1):
        cells = [_cell(value, label, number) for value in row]
        while cells and not cells[-1] and (width is None or len(cells) > width):
            cells.pop()
        if not any(cells):
            text.write("\n")
            continue
        width = len(cells) if width is None else width
        writer.writerow(cells)
    return text.getvalue().encode("utf-8", errors="replace")


def _cell(value: Any, label: str, number: int) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, list | dict | bytes):
        raise DataError(
            f"{label}, row {number} holds {str(value)[:40]!r} in one cell; expected text or a "
            "number."
        )
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # A line break within a cell would make two lines of it.
    return " ".join(str(value).splitlines()) if isinstance(value, str) else str(value)
