"""Files of judgments: one small reader per on-disk format.

A reader is a function from a path (and its options) to the arguments of
:class:`pyrovice.Triplets`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyrovice.errors import DataError
from pyrovice.readers import vice

READERS: dict[str, Callable[..., dict[str, Any]]] = {"vice": vice.read}


def read(path: Path, format: str, **options: Any) -> dict[str, Any]:
    """Read `path` with the reader named by `format`."""
    if format != "auto" and format not in READERS:
        raise DataError(
            f"format={format!r} is unknown; expected 'auto' or one of "
            f"{', '.join(map(repr, READERS))}."
        )
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist; expected a file of judgments (.npy or .txt) or a folder "
            "that holds train_90 and test_10."
        )
    # "vice" is the one format so far: nothing to choose between.
    reader = READERS["vice" if format == "auto" else format]
    return reader(path, **options)
