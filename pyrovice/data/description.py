"""What a set of judgments is like, before anything is fitted to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.connections import groups_of_pairs, shown_pairs
from pyrovice.data.plausibility import doubts_about_objects
from pyrovice.data.reading_report import Reading
from pyrovice.data.repeats import different, triplet_keys
from pyrovice.data.wording import first_few

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets

# With fewer judgments than this, little is known about an object's weights.
FEW_JUDGMENTS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """What `Triplets.describe` found.

    Attributes
    ----------
    judgments, objects : int
        How many there are; objects that were never judged count.
    sightings : Series
        By object, how many judgments show it.
    triplets : int
        How many different sets of three objects were judged.
    repeated : int
        How many questions were asked more than once.
    anchored : int
        How many judgments have an anchor.
    participants : Series or None
        By participant, how many judgments they made.
    positions : Series
        By place 1, 2 and 3, how many answers stood there.
    on_screen : bool
        Whether those are places on the screen; if not, they follow the order of ids.
    pairs : Series
        By number of times, how many pairs of objects were shown together that often.
    groups : int
        How many groups the judged objects fall into, where no chain of judgments connects one
        group with another. The weights of two groups cannot be compared.
    reading : Reading or None
        How the file was read, if they come from one.
    copies : int
        How many judgments say the same as an earlier one in everything, reaction time included.
    doubts : tuple of str
        What looks wrong, though it may be right.
    """

    judgments: int
    objects: int
    sightings: pd.Series
    triplets: int
    repeated: int
    anchored: int
    participants: pd.Series | None
    positions: pd.Series
    on_screen: bool
    pairs: pd.Series
    groups: int
    reading: Reading | None
    copies: int
    doubts: tuple[str, ...]

    @property
    def coverage(self) -> float:
        """The share of all pairs of objects that were shown together at least once."""
        return float(1 - self.pairs.get(0, 0) / self.pairs.sum())

    @property
    def connected(self) -> bool:
        """Whether a chain of judgments connects all objects that were judged."""
        return self.groups == 1

    def __repr__(self) -> str:
        seen = self.sightings[self.sightings > 0]
        lines = [f"{self.judgments:,} judgments of {self.objects:,} objects"]
        if self.reading is not None:
            lines += [f"  {line.strip()}" for line in str(self.reading).splitlines()]
        if self.anchored:
            lines.append(f"  {self.anchored:,} with an anchor")
        if self.participants is not None:
            lines.append(
                f"  {len(self.participants):,} participants, {self.participants.min():,} to "
                f"{self.participants.max():,} judgments each"
            )
        lines.append(
            f"  {self.triplets:,} different triplets; {self.repeated:,} questions were asked more "
            "than once"
        )
        where = "on the screen" if self.on_screen else "in the order of ids"
        shares = self.positions / self.positions.sum()
        places = dict(zip(("first", "second", "third"), shares, strict=True))
        if self.anchored == self.judgments and min(shares) == 0:
            # Where the anchor always stands, there can be no answer.
            places = {name: share for name, share in places.items() if share}
        *but_last, last = places
        at = f"{', '.join(but_last)} and {last}" if but_last else last
        said = ", ".join(f"{share:.1%}" for share in places.values())
        lines.append(f"  answers at the {at} place {where}: {said}")
        lines.append(
            f"  an object is in {seen.min():,} to {seen.max():,} judgments (median "
            f"{seen.median():,.0f}); {self.coverage:.1%} of all pairs were shown together"
        )
        lines += [f"  note: {doubt}" for doubt in self.notes]
        return "\n".join(lines)

    @property
    def notes(self) -> list[str]:
        """All that a user should look at, in words."""
        notes = list(self.doubts)
        if self.copies:
            notes.append(
                f"{self.copies:,} judgments are copies of others, reaction time included; "
                "data[~data.to_dataframe().duplicated()] leaves them out"
            )
        never = self.objects - int((self.sightings > 0).sum())
        if never:
            notes.append(f"{never:,} objects were never judged")
        few = self.sightings[(self.sightings > 0) & (self.sightings < FEW_JUDGMENTS)].sort_values()
        if len(few):
            named = first_few(f"{name!r} {times}" for name, times in few.items())
            notes.append(
                f"{len(few):,} objects are in fewer than {FEW_JUDGMENTS} judgments: {named}"
            )
        if not self.connected:
            notes.append(
                f"the objects fall into {self.groups:,} groups that no chain of judgments "
                "connects; weights of different groups cannot be compared"
            )
        return notes


def facts_about(triplets: Triplets) -> list[str]:
    """What there is, in a few words each."""
    facts = [f"{len(triplets):,} judgments of {triplets.n_objects:,} objects"]
    if triplets.anchored.any():
        facts.append(f"{int(triplets.anchored.sum()):,} anchored")
    if triplets.participants is not None:
        people = pd.Series(triplets.participants).nunique()
        facts.append(f"{people:,} participant{'' if people == 1 else 's'}")
    repeated = len(triplets.repeated()[0])
    if repeated:
        facts.append(f"{repeated:,} triplet{'' if repeated == 1 else 's'} judged repeatedly")
    return facts


def describe(triplets: Triplets) -> Description:
    """See `Triplets.describe`."""
    objects, m = triplets.objects, triplets.n_objects
    seen = np.bincount(objects.ravel(), minlength=m)
    times, how_many, groups = _pair_counts(objects, m)
    trials = triplets.trials
    on_screen = trials is not None and "position" in trials
    position = trials["position"].to_numpy() if on_screen else triplets.odd + 1  # type: ignore[index]
    counts = np.bincount(position[np.isin(position, (1, 2, 3))].astype(int), minlength=4)[1:]
    people = triplets.participants
    return Description(
        judgments=len(triplets),
        objects=m,
        sightings=pd.Series(seen, index=pd.Index(triplets.names, name="object"), name="judgments"),
        triplets=different(triplet_keys(objects, m)),
        repeated=len(triplets.repeated()[0]),
        anchored=int(triplets.anchored.sum()),
        participants=None if people is None else pd.Series(people).value_counts(),
        positions=pd.Series(counts, index=pd.Index([1, 2, 3], name="position"), name="answers"),
        on_screen=on_screen,
        pairs=pd.Series(how_many, index=pd.Index(times, name="times"), name="pairs"),
        groups=groups,
        reading=triplets.reading,
        copies=_copies(triplets),
        doubts=tuple(doubts_about_objects(objects, triplets.names, told=True)),
    )


def _copies(triplets: Triplets) -> int:
    """Rows that are there again. Who is asked twice may answer the same, but not as fast."""
    trials = triplets.trials
    if triplets.participants is None or trials is None or "reaction_time" not in trials:
        return 0
    people, times = pd.factorize(triplets.participants)[0], trials["reaction_time"]
    told = dict(enumerate([*triplets.objects.T, people, times.to_numpy()]))
    alike = pd.DataFrame(told).duplicated(keep=False).to_numpy()
    known = np.flatnonzero(alike & times.notna().to_numpy() & (people >= 0))
    return int(triplets[known].to_dataframe().duplicated().sum()) if len(known) else 0


def _pair_counts(
    objects: NDArray[np.int32], m: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """How often pairs were shown together, how many pairs that often, and how many groups."""
    pairs, shown = shown_pairs(objects, m)
    of_each = np.bincount(shown)
    of_each[0] = m * (m - 1) // 2 - len(pairs)
    times = np.flatnonzero(of_each)
    return times, of_each[times], groups_of_pairs(pairs, m)
