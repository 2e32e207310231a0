"""Groups of people, checked and numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, tell
from pyrovice.model.people.people import People


def without_strangers(people: People, known: Sequence[Any]) -> People:
    """Without those in groups who did not judge, such as people who were excluded."""
    group_of, there = people.group_of(), set(known)
    strangers = [person for person in group_of if person not in there]
    left = {who: group for who, group in group_of.items() if who in there}
    # Where too few are left, they are rather misspelt, which is for `grouped` to say.
    if not strangers or not _can_be_compared(_sizes(left)):
        return people
    tell(
        f"groups= names people who did not judge, and who are left out ({len(strangers):,}: "
        f"{first_few(map(repr, strangers))}). Labels are compared as they are, and the first who "
        f"judged is {known[0]!r}."
    )
    return replace(people, groups=left)


def grouped(people: People, known: Sequence[Any]) -> tuple[tuple[str, ...], Tensor | None]:
    """The groups, and the number of everybody's; those in none have the last number."""
    if people.groups is None:
        return (), None
    group_of = people.group_of()
    strangers = [person for person in group_of if person not in set(known)]
    if strangers and known:
        raise DataError(
            f"groups= names people who did not judge ({len(strangers):,}): "
            f"{first_few(map(repr, strangers))}. Labels are compared as they are, and the first "
            f"who judged is {known[0]!r}."
        )
    sizes = _sizes(group_of)
    groups = tuple(sizes)
    if not _can_be_compared(sizes):
        said = ", ".join(f"{group!r} with {size}" for group, size in sizes.items())
        raise DataError(
            f"groups= has {said}; expected at least two groups of at least two people each: one "
            "person cannot say what is common to a group."
        )
    number = [groups.index(group_of[p]) if p in group_of else len(groups) for p in known]
    return groups, torch.tensor(number)


def _sizes(group_of: dict[Any, str]) -> dict[str, int]:
    return dict(sorted(Counter(group_of.values()).items()))


def _can_be_compared(sizes: dict[str, int]) -> bool:
    return len(sizes) >= 2 and min(sizes.values()) >= 2
