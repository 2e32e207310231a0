"""Files that are there whole or not at all, through crashes and power cuts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from pyrovice.errors import OverwriteError, WriteError


def write_whole(path: Path, content: bytes, *, replace: bool = False) -> None:
    """Give `path` this content in one instant; see :func:`whole_file`."""
    with whole_file(path, replace=replace) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path, *, replace: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to that gets its name in one instant, when it is complete.

    It is written to a draft beside it (``.name.….part``) and renamed when it is on
    the disk, so that nobody ever reads half of it. A process that is killed may leave
    its draft behind; nothing reads those.

    Parameters
    ----------
    path : Path
        The file.
    replace : bool
        Whether a file that has this name may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with whole_file(path) as file:
    ...     _ = file.write(b"half of it")
    ...     path.exists()
    False
    >>> path.read_text()
    'half of it'
    """
    draft = path.with_name(f".{path.name[:40]}.{uuid4().hex[:12]}.part")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(draft, path)
        else:
            _claim(draft, path)
        _settle(path.parent)
    except OverwriteError:
        raise
    except OSError as error:
        raise WriteError(
            f"{path} could not be written: {error.strerror or error}. What was there before is "
            "unharmed; make room or choose a folder that can be written to, and run again."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _claim(draft: Path, path: Path) -> None:
    """Give a finished draft its name unless somebody took that name meanwhile."""
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise OverwriteError(f"{path} exists and is not replaced; choose another name.") from error
    except OSError:
        # A file system without hard links: the window between check and rename is small.
        if path.exists():
            raise OverwriteError(f"{path} exists and is not replaced.") from None
        os.rename(draft, path)


def _settle(folder: Path) -> None:
    """Have the new name itself on the disk, where the system can be asked for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
