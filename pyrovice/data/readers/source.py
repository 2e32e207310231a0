"""A file as a stream of bytes that can be read from its beginning again: unpacked, in UTF-8."""

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

from pyrovice.data.wording import first_few
from pyrovice.errors import DataError

GZIP, ZIP, NPY = b"\x1f\x8b", b"PK", b"\x93NUMPY"
SAMPLE_BYTES = 2**18
SAMPLE_LINES = 200
# What a packed file may unpack to unless the user says otherwise: some 100 million judgments.
UNPACKED_LIMIT = 2 * 2**30
BYTES_AT_ONCE = 2**20


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
    """A plain file, a ``.gz``, or the one member of a ``.zip``."""

    def __init__(self, path: Path, unpacked_limit: int = UNPACKED_LIMIT) -> None:
        self.path = path
        self.unpacked_limit = unpacked_limit
        self.label = str(path)
        self.name = path.name
        self._unpacked: IO[bytes] | None = None
        with path.open("rb") as file:
            start = file.read(2)
        if start == GZIP:
            self.name = path.stem
            self._keep(cast(IO[bytes], gzip.open(path)))  # noqa: SIM115
        elif start == ZIP and path.suffix != ".npz":
            self._unzip()
        with self.open() as file:
            start = file.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            self._to_utf8()

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
            with self.open() as file:
                array = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError, MemoryError):
            return None
        numbers = isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.ndim == 2
        return array[:SAMPLE_LINES] if numbers else None

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
                raise DataError(
                    f"{self.label} unpacks to more than {self.unpacked_limit:,} bytes. If that is "
                    "right, raise the limit: Triplets.read(path, unpacked_limit=...), in bytes, or "
                    "pyrovice convert --unpacked-limit."
                )
            try:
                to.write(block)
            except OSError as error:
                raise DataError(
                    f"{self.label} cannot be unpacked into {tempfile.gettempdir()}: "
                    f"{error.strerror}. Make room there, or set TMPDIR to another folder."
                ) from error

    def _unzip(self) -> None:
        try:
            with zipfile.ZipFile(self.path) as archive:
                members = [
                    member
                    for member in archive.namelist()
                    if not member.endswith("/") and not member.startswith("__MACOSX/")
                ]
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

    def _to_utf8(self) -> None:
        with self.open() as file:
            content = file.read()
        self.close()
        try:
            self._unpacked = io.BytesIO(content.decode("utf-16").encode())
        except UnicodeError as error:
            raise DataError(f"{self.label} is not readable text ({error}).") from error
