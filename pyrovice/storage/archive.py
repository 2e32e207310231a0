"""Numbers and text in one file: a zip of plain arrays and one JSON record.

Nothing is pickled, so reading runs no code.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pyrovice.errors import PyroviceError

RECORD = "record"
READ_ERRORS = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, KeyError, TypeError,
    AttributeError, NotImplementedError, RuntimeError, MemoryError, OverflowError,
    RecursionError, IndexError, SyntaxError, tokenize.TokenError, AssertionError, ArithmeticError,
)  # fmt: skip


def pack(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of a file."""
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    file = BytesIO()
    np.savez(file, allow_pickle=False, **{RECORD: text}, **arrays)
    return file.getvalue()


def unpack(source: Path | bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The record and the arrays of a file, by its path or its content."""
    with source.open("rb") if isinstance(source, Path) else BytesIO(source) as file:
        # NumPy would take anything else for a pickle, and advise to trust it.
        if not zipfile.is_zipfile(file):
            raise ValueError("it is not an archive of arrays")
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive:
            # What is written here is not compressed, so that no small file can be huge inside.
            members = archive.zip.infolist()
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ValueError("it is compressed")
            # Nor by naming the same bytes many times.
            if sum(member.file_size for member in members) > file.seek(0, SEEK_END):
                raise ValueError("its parts are larger than the file")
            arrays = {name: archive[name] for name in archive.files}
    if RECORD not in arrays:
        raise ValueError("it holds no record")
    record = json.loads(arrays.pop(RECORD).tobytes().decode())
    if not isinstance(record, dict):
        raise ValueError("its record is not one")
    return record, arrays


@contextmanager
def reading(source: Path | bytes, what: str, error: type[PyroviceError]) -> Iterator[None]:
    """Turn any error in reading a file into one sentence that names it."""
    name = source if isinstance(source, Path) else "The content"
    try:
        yield
    except error as known:
        raise error(f"{name}: {known}") from known
    except READ_ERRORS as unknown:
        raise error(f"{name} is not {what}, or it is damaged ({unknown}).") from unknown


def group(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays called ``name/...``, without that."""
    prefix = f"{name}/"
    return {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
