"""Which encoding a text has that is not UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import IO

from pyrovice.errors import DataError

WESTERN = "cp1252"
BYTES_AT_ONCE = 2**20
# Letters of western European languages and what is printed around them, in Windows-1252.
LETTERS = re.compile("[À-ÖØ-öø-ÿŠšŽžŒœŸ]")
OTHERS = re.compile("[‘’“”„‚‹›«»–—…°§€£´¡¿ªº²³µ·\u00a0]")
# Western words have few accents in a row; Cyrillic or Greek read as western have nothing else.
MANY_IN_A_ROW = re.compile(f"{LETTERS.pattern}{{3}}")


def is_utf8(stream: IO[bytes]) -> bool:
    """Whether all of it can be decoded."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := stream.read(BYTES_AT_ONCE):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def lines_outside_utf8(stream: IO[bytes]) -> Iterable[tuple[int, bytes]]:
    """Number and content of the lines that cannot be decoded."""
    for number, line in enumerate(stream, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            yield number, line


def western_text(content: bytes, label: str) -> tuple[str, str]:
    """Text in Windows-1252, and the first word that shows it; refuses what looks like no such text.

    Bytes that are UTF-8 beside others that are not say that a file is damaged.
    """
    try:
        text = content.decode(WESTERN)
    except UnicodeDecodeError:
        text = ""
    strange = {c for c in text if not c.isascii()}
    western = all(LETTERS.fullmatch(c) or OTHERS.fullmatch(c) for c in strange)
    utf8 = content.decode("utf-8", errors="ignore")
    if not text or not western or not utf8.isascii() or MANY_IN_A_ROW.search(text):
        number, line = next(iter(lines_outside_utf8(iter_lines(content))))  # type: ignore[arg-type]
        raise DataError(
            f"{label}, line {number} is not UTF-8 text: {line[:60]!r}. Save the file as UTF-8, or "
            "say what it is: Triplets.read(path, encoding='cp1251'), on the command line "
            "--encoding cp1251."
        )
    # A no-break space is white space too, and may be all there is.
    words = re.split(r"[ \t\r\n,;\"]+", text)
    shown = next(word for word in words if not word.isascii())
    return text, shown


def iter_lines(content: bytes) -> list[bytes]:
    """Lines with whatever ends them."""
    return content.splitlines(keepends=True)


def decoded(content: bytes, encoding: str, label: str) -> str:
    """Text in the encoding that the user named."""
    try:
        return content.decode(encoding)
    except LookupError:
        raise DataError(
            f"encoding={encoding!r} is unknown; expected a name that Python knows, for example "
            "'cp1252', 'latin-1', 'mac_roman' or 'shift_jis'."
        ) from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(f"{label}, line {line} is not {encoding} text ({error.reason}).") from error
