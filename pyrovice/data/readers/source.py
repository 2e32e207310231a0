"""A file as a stream of bytes that can be read from its beginning again: unpacked, in UTF-8.

Workbooks, Parquet files and records in JSON become lines of text on the way.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.encodings import BYTES_AT_ONCE, decoded, is_utf8, western_text
from pyrovice.data.readers.other_tables import (
    PARQUET,
    WORKBOOK,
    parquet_as_text,
    records_as_text,
    refuse_foreign,
    workbook_as_text,
)
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, tell

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
GZIP, ZIP, NPY = b"\x1f\x8b", b"PK", b"\x93NUMPY"
SAMPLE_BYTES = 2**18
SAMPLE_LINES = 200
# What a packed file may unpack to unless the user says otherwise: some 100 million judgments.
UNPACKED_LIMIT = 2 * 2**30


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, to decide from.

    Attributes
    ----------
    kind : str
        ``"npy"``, ``"json"`` or ``"text"``.
    lines : tuple of str
        The first lines of text that are not blank.
    first : int
        Where the first of them is in the file, counted from 1 as in an editor.
    array : array or None
        The first rows of a NumPy array.
    """

    kind: str
    lines: tuple[str, ...] = ()
    first: int = 1
    array: NDArray[Any] | None = None


class Source:
    """A plain file, a ``.gz``, or the one member of a ``.zip``.

    Attributes
    ----------
    unit : str
        What its rows are called: lines, or rows of a sheet, or records.
    before : int
        How many lines stand before the first one that is counted.
    notes : list of str
        What was assumed about the file.
    """

    leave_out = (
        "Triplets.read(path, bad_rows='leave out'), on the command line pyrovice convert "
        "--leave-out-bad-rows"
    )

    def __init__(
        self,
        path: Path,
        unpacked_limit: int = UNPACKED_LIMIT,
        encoding: str | None = None,
        sheet: str | None = None,
    ) -> None:
        self.path = path
        self.unpacked_limit = unpacked_limit
        self.encoding = encoding
        self.sheet = sheet
        self.label = str(path)
        self.name = path.name
        self.unit = "line"
        self.before = 0
        self.notes: list[str] = []
        self._unpacked: IO[bytes] | None = None
        with path.open("rb") as file:
            start = file.read(2)
        if start == GZIP:
            self.name = path.stem
            self._keep(cast(IO[bytes], gzip.open(path)))  # noqa: SIM115
        elif start == ZIP and path.suffix != ".npz":
            self._unzip()
        try:
            self._to_text()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the unpacked copy."""
        if self._unpacked is not None:
            self._unpacked.close()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes from the beginning."""
        if self._unpacked is not None:
            self._unpacked.seek(0)
            yield self._unpacked
        else:
            with self.path.open("rb") as file:
                yield file

    def sample(self) -> Sample:
        """The beginning of the file, to decide from."""
        with self.open() as file:
            start = file.read(SAMPLE_BYTES)
        if start.startswith(NPY) or self.suffix == ".npy":
            return Sample("npy", array=self._first_rows())
        if b"\0" in start or start.startswith(ZIP):
            at = start[: start.find(b"\0")].count(b"\n") + 1
            raise DataError(
                f"{self.label} ends in {self.suffix!r}; expected .npy, text or JSON, but line {at} "
                "is not text."
            )
        text = start.decode("utf-8-sig", errors="replace")
        every = re.split(r"\r\n|\r|\n", text)
        lines = [line for line in every if line.strip()]
        if len(start) == SAMPLE_BYTES and len(lines) > 1:
            lines.pop()  # It may be cut off.
        kind = "json" if text.lstrip().startswith(("{", "[")) else "text"
        return Sample(kind, tuple(lines[:SAMPLE_LINES]), every.index(lines[0]) + 1 if lines else 1)

    def _first_rows(self) -> NDArray[Any] | None:
        """None if they cannot be read; reading the whole file then says why."""
        try:
            if self._unpacked is None:
                # Of the file itself only the first rows are read.
                array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            else:
                with self.open() as file:
                    array = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError, MemoryError):
            return None
        numbers = isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.ndim == 2
        return np.array(array[:SAMPLE_LINES]) if numbers else None

    @property
    def suffix(self) -> str:
        """The ending of the file itself, without that of its packing."""
        return PurePosixPath(self.name).suffix

    def line(self, number: int) -> str:
        """One line of text, counted from 1 as in an editor."""
        with self.open() as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
            found = next(islice(text, number - 1, None), "")
            text.detach()
        return found.strip()

    def _keep(self, stream: IO[bytes]) -> None:
        # On disk, because an archive may hold more than fits into memory.
        self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with stream:
                self._copy(stream, self._unpacked)
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            self.close()
            raise DataError(
                f"{self.label} cannot be unpacked ({error}); is it complete?"
            ) from error
        except DataError:
            self.close()
            raise

    def _copy(self, stream: IO[bytes], to: IO[bytes]) -> None:
        size = 0
        while block := stream.read(BYTES_AT_ONCE):
            size += len(block)
            if size > self.unpacked_limit:
                raise self._too_large()
            try:
                to.write(block)
            except OSError as error:
                raise DataError(
                    f"{self.label} cannot be unpacked into {tempfile.gettempdir()}: "
                    f"{error.strerror}. Make room there, or set TMPDIR to another folder."
                ) from error

    def _too_large(self) -> DataError:
        return DataError(
            f"{self.label} unpacks to more than {self.unpacked_limit:,} bytes. If that is right, "
            "raise the limit: Triplets.read(path, unpacked_limit=...), in bytes, or pyrovice "
            "convert --unpacked-limit."
        )

    def _unzip(self) -> None:
        try:
            with zipfile.ZipFile(self.path) as archive:
                members = [
                    member
                    for member in archive.namelist()
                    if not member.endswith("/") and not member.startswith("__MACOSX/")
                ]
                if WORKBOOK in members:
                    self._unpack_workbook(archive)
                    return
                if len(members) != 1:
                    raise DataError(
                        f"{self.label} holds {len(members)} files ({first_few(members)}); "
                        "expected one. Unpack it and give the path of the file to read."
                    )
                self.name = PurePosixPath(members[0]).name
                self.label = f"{self.path}/{members[0]}"
                self._keep(archive.open(members[0]))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
            raise DataError(f"{self.path} cannot be unpacked ({error}).") from error

    def _unpack_workbook(self, archive: zipfile.ZipFile) -> None:
        if sum(member.file_size for member in archive.infolist()) > self.unpacked_limit:
            raise self._too_large()
        with self.path.open("rb") as file:
            self._hold(workbook_as_text(file, self.label, self.sheet))
        self.unit, self.sheet = "row", None

    def _to_text(self) -> None:
        """Make lines of UTF-8 of it, if it is anything else that can be read."""
        with self.open() as file:
            start = file.read(SAMPLE_BYTES)
        if start.startswith(NPY) or self.suffix == ".npy":
            return
        refuse_foreign(self.label, start)
        if start.startswith(PARQUET):
            with self.open() as file:
                content = parquet_as_text(file, self.label)
            self._hold(content)
            self.unit, self.before = "row", 1
        elif b"\0" not in start or start[:2] in UTF16:
            self._to_utf8(start[:2] in UTF16)
            self._from_records()
        if self.sheet is not None:
            raise DataError(f"sheet={self.sheet!r} is for Excel workbooks; {self.label} is none.")

    def _to_utf8(self, utf16: bool) -> None:
        if self.encoding is None and not utf16:
            with self.open() as file:
                if is_utf8(file):
                    return
        with self.open() as file:
            content = file.read()
        if self.encoding is not None or utf16:
            text = decoded(content, self.encoding or "utf-16", self.label)
        else:
            text, shown = western_text(content, self.label)
            said = (
                f"{self.label} is not UTF-8; it was read as Windows-1252, in which one of its "
                f"words is {shown!r}."
            )
            self.notes.append(said)
            tell(
                f"{said} If that is wrong, say what it is: encoding='...', on the command line "
                "--encoding; if it is right, encoding='cp1252'."
            )
        self._hold(text.encode("utf-8", errors="replace"))

    def _from_records(self) -> None:
        with self.open() as file:
            start = file.read(SAMPLE_BYTES).decode("utf-8-sig", errors="ignore").lstrip()
            if not start.startswith(("{", "[")):
                return
            file.seek(0)
            content = file.read()
        lines = records_as_text(content.decode("utf-8-sig"), self.label)
        if lines is not None:
            self._hold(lines)
            self.unit, self.before = "record", 1

    def _hold(self, content: bytes) -> None:
        self.close()
        self._unpacked = io.BytesIO(content)
