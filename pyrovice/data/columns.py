"""Columns of tables of judgments: the names that they share, and which hold what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyrovice.errors import DataError

# The three objects of a judgment, in ascending order.
OBJECT_COLUMNS = ("object_1", "object_2", "object_3")
# Where each of them stood on the screen, in `Triplets.trials`.
PLACE_COLUMNS = ("place_1", "place_2", "place_3")
# What `Triplets.to_dataframe` has beside the columns of `Triplets.trials`.
JUDGMENT_COLUMNS = (*OBJECT_COLUMNS, "odd", "anchor", "participant")
TIME_UNITS = {"ms": 1, "s": 1000}


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what; see `Triplets.from_dataframe`."""

    objects: Sequence[str] = OBJECT_COLUMNS
    odd: str | None = None
    position: str | None = None
    chosen: str | None = None
    positions: Sequence[Any] = (1, 2, 3)
    anchor: str | None = None
    participant: str | None = None
    reaction_time: str | None = None
    reaction_time_unit: str = "ms"
    set: str | None = None
    on_screen: bool | None = None
    catch: str | None = None
    passed: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.objects, str) or len(self.objects) != 3:
            raise DataError(
                f"objects={self.objects!r}; expected the names of three columns, for example "
                "objects=['left', 'middle', 'right']."
            )
        if len(set(self.positions)) != 3:
            raise DataError(f"positions={self.positions!r}; expected three different values.")
        if self.reaction_time_unit not in TIME_UNITS:
            raise DataError(
                f"reaction_time_unit={self.reaction_time_unit!r}; expected 'ms' or 's'."
            )
        answers = {"odd": self.odd, "position": self.position, "chosen": self.chosen}
        given = [f"{name}={column!r}" for name, column in answers.items() if column is not None]
        if len(given) > 1:
            raise DataError(
                f"{' and '.join(given)}: expected one of them, the column that says which object "
                "is the odd one."
            )
        if self.chosen is not None and self.anchor is None:
            raise DataError(
                f"chosen={self.chosen!r} is what was chosen as more like the anchor; say which "
                "column holds the anchor: anchor='...'."
            )
        if self.passed is not None and self.catch is None:
            raise DataError(
                f"passed={self.passed!r} says which catch trials were passed; say which column "
                "marks them: catch='...', on the command line --catch."
            )

    @property
    def answer(self) -> str:
        """The column that says which is the odd one, directly or not."""
        return self.position or self.chosen or self.odd or "odd"

    def used(self) -> list[str]:
        """All columns that have a role."""
        more = (
            *(self.anchor, self.participant, self.reaction_time, self.set),
            *(self.catch, self.passed),
        )
        return [*self.objects, self.answer, *(name for name in more if name is not None)]

    def missing_from(self, names: Sequence[Any], what: str) -> None:
        """Refuse a table that lacks some of these columns."""
        lacking = [name for name in dict.fromkeys(self.used()) if name not in names]
        if lacking:
            raise DataError(
                f"{what} has no column {', '.join(map(repr, lacking))}; it has "
                f"{', '.join(map(repr, names))}. Say which columns hold what: objects=['a', 'b', "
                "'c'], odd='d', on the command line --objects a,b,c --odd d."
            )
