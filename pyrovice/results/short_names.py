"""Long names, shortened in the middle, so that what tells them apart is still to be seen."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

# Shared beginnings and ends of fewer letters stay.
LEAST_SHARED = 4
# What is left of a beginning or an end without the word that is cut in two.
LEAST_LEFT = 1 / 3
# An ending such as .jpg, which nobody misses.
EXTENSION = re.compile(r"\.[A-Za-z]\w{1,3}")

Shorten = Callable[[str, int], str]


def shorten(name: str, longest: int) -> str:
    """Beginning and end of a name, if it is longer than this, in whole words where possible.

    Examples
    --------
    >>> shorten("incomprehensibilities", 9), shorten("a plate of hot soup", 15)
    ('inco…ties', 'a plate of…soup')
    """
    one_line = " ".join(str(name).split())
    if len(one_line) <= longest:
        return one_line
    room = longest - 1
    end = _whole_words(one_line[::-1], room // 2)[::-1]
    start = _whole_words(one_line, room - len(end))
    return f"{start}…{end}"


def _whole_words(text: str, room: int) -> str:
    """What a text begins with, without a part of a word unless that is most of it."""
    cut = whole = text[:room]
    if text[room : room + 1].isalnum():
        while whole and whole[-1].isalnum():
            whole = whole[:-1]
    while whole and not whole[-1].isalnum():
        whole = whole[:-1]
    return whole if len(whole) >= room * LEAST_LEFT else cut


def _in_letters(name: str, longest: int) -> str:
    """Beginning and end of a name, as much as there is room for."""
    one_line = " ".join(name.split())
    if len(one_line) <= longest:
        return one_line
    tail = (longest - 1) // 2
    return f"{one_line[: longest - 1 - tail]}…{one_line[-tail:]}"


def short_names(names: Iterable[str], longest: int) -> dict[str, str]:
    """Every name shortened, no two different ones to the same text.

    The words that all that are too long begin with, and those that they end with, are left out.
    Where beginning and end are shared by some, what is between them is shown.

    Examples
    --------
    >>> short_names(["face_set_one_happy_front.png", "face_set_one_angry_front.png"], 12)
    {'face_set_one_happy_front.png': '…happy…', 'face_set_one_angry_front.png': '…angry…'}
    """
    different = list(dict.fromkeys(map(str, names)))
    for cut in (shorten, _in_letters):
        short = _without_shared(different, longest, cut)
        tidy = {name: text.replace("……", "…") for name, text in short.items()}
        if len(set(tidy.values())) == len(tidy):
            return tidy
    return short


def _without_shared(different: list[str], longest: int, cut: Shorten) -> dict[str, str]:
    plain = dict(zip(different, _apart(different, longest, cut), strict=True))
    too_long = [name for name in different if len(name) > longest]
    start, end = _shared_words(too_long) if len(too_long) > 1 else (0, 0)
    if not start and not end:
        return plain
    first, last = too_long[0][:start], too_long[0][len(too_long[0]) - end :]
    coded = [name for name in different if _between(name, first, last)]
    before = "…" if start else ""
    after = "…" if end and not EXTENSION.fullmatch(last) else ""
    inner = [name[start : len(name) - end] for name in coded]
    parts = _apart(inner, max(longest - len(before) - len(after), 3), cut)
    short = plain | {
        name: f"{before}{part}{after}" for name, part in zip(coded, parts, strict=True)
    }
    # A name of those that share nothing may look like what is left of another.
    return short if len(set(short.values())) == len(short) else plain


def _between(name: str, first: str, last: str) -> bool:
    """Whether a name begins and ends like this, with something between."""
    there = name.startswith(first) and name.endswith(last)
    return there and len(name) > len(first) + len(last)


def _shared_words(names: Sequence[str]) -> tuple[int, int]:
    """How many letters all begin and end with, without a part of a word or number.

    Zero where so little is shared that leaving it out would gain nothing.
    """
    start = _shared(names)
    while start and any(
        name[start - 1].isalnum() and name[start : start + 1].isalnum() for name in names
    ):
        start -= 1
    start = start if start >= LEAST_SHARED else 0
    rest = [name[start:] for name in names]
    end = _shared([name[::-1] for name in rest])
    while end and any(
        name[-end].isalnum() and name[: len(name) - end][-1:].isalnum() for name in rest
    ):
        end -= 1
    end = end if end >= LEAST_SHARED else 0
    if not all(len(name) > end for name in rest):
        return 0, 0
    return start, end


def _apart(names: Sequence[str], longest: int, cut: Shorten) -> list[str]:
    short = [cut(name, longest) for name in names]
    alike: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(short):
        alike[text].append(place)
    for places in alike.values():
        if len(places) == 1:
            continue
        whole = [names[place] for place in places]
        start = _shared(whole)
        end = _shared([name[start:][::-1] for name in whole])
        # What differs, with as much of what is around it as there is room for.
        room = max(0, longest - 2 - max(len(name) - start - end for name in whole))
        before = min(start, room - room // 3)
        first, last = start - before, end - min(end, room - before)
        inner = [name[first : len(name) - last] for name in whole]
        if max(map(len, inner)) >= max(map(len, whole)):
            continue
        for place, text in zip(places, _apart(inner, max(longest - 2, 3), cut), strict=True):
            short[place] = f"{'…' if first else ''}{text}{'…' if last else ''}"
    return short


def _shared(names: Sequence[str]) -> int:
    """How many letters all of them begin with."""
    low, high = min(names), max(names)
    both = zip(low, high, strict=False)
    return next((i for i, (a, b) in enumerate(both) if a != b), min(len(low), len(high)))
