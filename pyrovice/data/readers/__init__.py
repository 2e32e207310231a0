"""Files of judgments: one small reader per on-disk format.

A reader recognises the beginning of a file of its format, and turns the file into the arguments
of :class:`pyrovice.Triplets`. Rows that are not judgments are named by line, all at once.

========================  ======================================================================
format                    what it is
========================  ======================================================================
``vice``, ``things-txt``  ``.npy`` or text: a kept pair and the odd one, perhaps a participant
``things``                the table published with THINGS
``noiseceiling``          three ids, the position of the odd one, one more column
``cblearn``               (i, j, k): i is nearer to j than to k; or the odd one first
``names``                 three names, the odd one last
``salmon``                Salmon's ``responses.csv``
``tripletTools``          anchored judgments with catch trials
``triads``                AnthroTools: a row per triad, a column per participant
``votes``                 JSON of Lagunas et al., and MagnaTagATune
``table``                 what ``Triplets.write`` makes of a ``.csv``
``columns``               any other table: ``objects=``, ``odd=`` and so on say what is where
========================  ======================================================================
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

from pyrovice.data.readers import (
    cblearn,
    judgments,
    names,
    noiseceiling,
    own_columns,
    salmon,
    things,
    triads,
    triplet_tools,
    vice,
    votes,
)
from pyrovice.data.readers.finishing import Options
from pyrovice.data.readers.source import Source
from pyrovice.errors import DataError

READERS: dict[str, ModuleType] = {
    "vice": vice,
    "things": things,
    "noiseceiling": noiseceiling,
    "cblearn": cblearn,
    "names": names,
    "salmon": salmon,
    "tripletTools": triplet_tools,
    "triads": triads,
    "votes": votes,
    "table": judgments,
    "columns": own_columns,
}
# The same layout under another name.
ALIASES = {"things-txt": "vice"}
COMMON_OPTIONS = tuple(field.name for field in fields(Options))


def read(path: Path, format: str, **options: Any) -> dict[str, Any]:
    """Read `path` with the reader named by `format`, or the one that recognises it."""
    known = [*READERS, *ALIASES]
    if format != "auto" and format not in known:
        raise DataError(
            f"format={format!r} is unknown; expected 'auto' or one of "
            f"{', '.join(map(repr, known))}."
        )
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist; expected a file of judgments or a folder that holds "
            "train_90 and test_10."
        )
    common = Options(**{name: options.pop(name) for name in COMMON_OPTIONS if name in options})
    if path.is_dir():
        _check_options(options, "a folder", vice.read_folder)
        return vice.read_folder(path, common, **options)
    if "part" in options:
        raise DataError(f"part={options['part']!r} chooses from a folder, and {path} is a file.")
    with _within_memory(path), common.opened(path) as source:
        if format == "auto" and own_columns.OPTIONS & set(options):
            format, decided = "columns", "its columns were named"
        elif format == "auto":
            format, decided = recognise(source)
        else:
            format, decided = ALIASES.get(format, format), "as requested"
        reader = READERS[format].read
        _check_options(options, f"format {format!r}", reader)
        return reader(source, common, decided, **options)


@contextmanager
def _within_memory(path: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise DataError(
            f"{path} does not fit into the memory of this machine ({path.stat().st_size:,} bytes); "
            "read it in parts and join them, Triplets.concat(parts)."
        ) from error


def recognise(source: Source) -> tuple[str, str]:
    """The format of a file and what decided it; refuses where two readings are possible."""
    sample = source.sample()
    said = {name: reader.recognise(sample) for name, reader in READERS.items()}
    found = {name: reason for name, reason in said.items() if reason is not None}
    if len(found) == 1:
        return next(iter(found.items()))
    if found:
        readings = "; ".join(f"{name!r} ({reason})" for name, reason in found.items())
        start = f", from line {sample.first} on," if sample.lines else ""
        raise DataError(
            f"{source.label}{start} can be read in more than one way: {readings}. Say which, for "
            f"example Triplets.read(path, format={next(iter(found))!r})."
        )
    if not sample.lines:
        raise DataError(f"{source.label} is empty; expected a row per judgment.")
    raise DataError(
        f"{source.label} is not in a known format; line {sample.first} is "
        f"{sample.lines[0][:80]!r}. Pass format=... if you know it, or say which column holds "
        "what: Triplets.read(path, objects=['a', 'b', 'c'], odd='d'), on the command line "
        "pyrovice convert FILE --objects a,b,c --odd d -o new.csv."
    )


def _check_options(options: dict[str, Any], what: str, reader: Any) -> None:
    given = ("source", "folder", "options", "decided")
    own = [name for name in inspect.signature(reader).parameters if name not in given]
    if reader is own_columns.read:
        own = sorted(own_columns.OPTIONS)
    unknown = sorted(set(options) - set(own))
    if unknown:
        allowed = ", ".join([*COMMON_OPTIONS, *own])
        raise TypeError(f"Reading {what} takes no option {unknown[0]!r}; it takes {allowed}.")
