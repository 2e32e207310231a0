"""What looks wrong with judgments, though it may be right."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.naming import look_alikes
from pyrovice.data.wording import first_few

# An object that others outnumber twenty to one is rare, once the others are seen often enough.
RARE = 0.05
OFTEN = 20
# Where objects are seen five times on average, chance rarely leaves one out.
MANY_ON_AVERAGE = 5


def doubts_about_objects(ids: NDArray[np.integer], names: Sequence[str], told: bool) -> list[str]:
    """Sentences about ids that never occur (unless `told` of them), and about odd names."""
    # By column: counting makes a long copy of what it counts.
    seen = np.sum([np.bincount(column, minlength=len(names)) for column in ids.T], axis=0)
    doubts = []
    never = np.flatnonzero(seen == 0)
    if len(never) and not told and seen.sum() / len(names) >= MANY_ON_AVERAGE:
        doubts.append(
            f"{len(never):,} of the {len(names):,} ids up to {len(names) - 1} never occur "
            f"({first_few(never)}). They count as objects that nobody judged; "
            "pass n_objects=... if that is what you mean. If your ids have gaps, t.compact() "
            "leaves them out." + (" If they begin at 1, subtract 1." if never[0] == 0 else "")
        )
    alike = look_alikes(names)
    if alike:
        pairs = first_few(" and ".join(map(ascii, several)) for several in alike)
        doubts.append(
            f"{len(alike):,} names are there more than once in forms that look alike: {pairs}. "
            "They count as different objects; give those that are the same one name."
        )
    usual = float(np.median(seen[seen > 0]))
    rare = np.flatnonzero((seen > 0) & (seen < RARE * usual))
    if len(rare) and usual >= OFTEN:
        common = [names[i] for i in np.flatnonzero(seen >= RARE * usual).tolist()]
        misfits = [_with_similar_name(names[i], int(seen[i]), common) for i in rare.tolist()]
        doubts.append(
            f"{len(rare):,} objects occur far less often than the others, which occur "
            f"{usual:.0f} times: {first_few(misfits)}. "
            "Are they misspelt?"
        )
    return doubts


def _with_similar_name(name: str, times: int, common: Sequence[str]) -> str:
    like = [] if name.isdigit() else difflib.get_close_matches(name, common, n=1, cutoff=0.75)
    often = "once" if times == 1 else f"{times} times"
    return f"{name!r} ({often}{f', like {like[0]!r}' if like else ''})"
