"""Several sets of judgments of the same objects as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.roles import ROLE
from pyrovice.errors import DataError

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets


def joined(parts: Sequence[Triplets]) -> dict[str, Any]:
    """The arguments of `Triplets` for all parts, one after another."""
    if not parts:
        raise DataError("concat got no judgments; expected a sequence of Triplets.")
    if any(part.names != parts[0].names for part in parts):
        raise DataError(
            "concat joins judgments of the same objects only, and these differ in their "
            "names. Pass the same names=... (all objects, same order) to each."
        )
    return {
        "objects": np.concatenate([part.objects for part in parts]),
        "odd": np.concatenate([part.odd for part in parts]),
        "names": parts[0].names,
        "anchor": np.concatenate([part.anchor for part in parts]),
        "participants": _joined_people(parts),
        "trials": _joined_trials(parts),
    }


def _joined_people(parts: Sequence[Triplets]) -> NDArray[Any] | None:
    """Who judged; of parts that do not say, nobody is known."""
    if all(part.participants is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(len(part), None) if part.participants is None else part.participants
            for part in parts
        ]
    )


def _joined_trials(parts: Sequence[Triplets]) -> pd.DataFrame | None:
    """The columns that all parts have, and roles where any has them, one part after another."""
    tables = [pd.DataFrame(index=range(len(p))) if p.trials is None else p.trials for p in parts]
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    if ROLE not in shared and any(ROLE in table for table in tables):
        # What was chosen must not pass for a random sample because it is joined to one.
        shared.append(ROLE)
        tables = [table if ROLE in table else table.assign(**{ROLE: None}) for table in tables]
    if not shared:
        return None
    return pd.concat(
        [table[shared].astype({ROLE: object} if ROLE in shared else {}) for table in tables]
    )
