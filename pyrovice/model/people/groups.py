"""Groups of people, checked and numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyrovice.data.wording import first_few
from pyrovice.errors import DataError
from pyrovice.model.people.people import People


def grouped(people: People, known: Sequence[Any]) -> tuple[tuple[str, ...], Tensor | None]:
    """The groups, and the number of everybody's; those in none have the last number."""
    if people.groups is None:
        return (), None
    group_of = people.group_of()
    strangers = [person for person in group_of if person not in set(known)]
    if strangers and known:
        how_many = "1 person" if len(strangers) == 1 else f"{len(strangers):,} people"
        raise DataError(
            f"groups= names {how_many} who did not judge: "
            f"{first_few(map(repr, strangers))}. Labels are compared as they are, and the first "
            f"who judged is {known[0]!r}."
        )
    groups = tuple(sorted(set(group_of.values())))
    sizes = {group: list(group_of.values()).count(group) for group in groups}
    if len(groups) < 2 or min(sizes.values()) < 2:
        said = ", ".join(f"{group!r} with {size}" for group, size in sizes.items())
        raise DataError(
            f"groups= has {said}; expected at least two groups of at least two people each: one "
            "person cannot say what is common to a group."
        )
    number = [groups.index(group_of[p]) if p in group_of else len(groups) for p in known]
    return groups, torch.tensor(number)
