"""Long names, shortened in the middle, so that what tells them apart is still to be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence


def shorten(name: str, longest: int) -> str:
    """Beginning and end of a name, if it is longer than this.

    Examples
    --------
    >>> shorten("incomprehensibilities", 9)
    'inco…ties'
    """
    one_line = " ".join(str(name).split())
    if len(one_line) <= longest:
        return one_line
    tail = (longest - 1) // 2
    return f"{one_line[: longest - 1 - tail]}…{one_line[-tail:]}"


def short_names(names: Iterable[str], longest: int) -> dict[str, str]:
    """Every name shortened, no two different ones to the same text.

    Where beginning and end are shared, what is between them is shown.

    Examples
    --------
    >>> short_names(["face_set_one_happy_front.png", "face_set_one_angry_front.png"], 12)
    {'face_set_one_happy_front.png': '…one_happy_…', 'face_set_one_angry_front.png': '…one_angry_…'}
    """
    different = list(dict.fromkeys(map(str, names)))
    return dict(zip(different, _apart(different, longest), strict=True))


def _apart(names: Sequence[str], longest: int) -> list[str]:
    short = [shorten(name, longest) for name in names]
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
        for place, text in zip(places, _apart(inner, max(longest - 2, 3)), strict=True):
            short[place] = f"{'…' if first else ''}{text}{'…' if last else ''}"
    return short


def _shared(names: Sequence[str]) -> int:
    """How many letters all of them begin with."""
    low, high = min(names), max(names)
    both = zip(low, high, strict=False)
    return next((i for i, (a, b) in enumerate(both) if a != b), min(len(low), len(high)))
