"""What a file must hold before a fit is built from it: sizes that it can back, values that can be.

A record of a few bytes can name any size, and an array can hold any number. Nothing is allocated
for a claim that the file's own arrays do not bear out, and no fit is made of numbers that no
training could have left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyrovice.data.validation import check_names
from pyrovice.errors import DataError, SavedFitError
from pyrovice.guides import LowRank
from pyrovice.storage.archive import group

Arrays = Mapping[str, np.ndarray]

# Entries that a model may have beyond those of its file: dimensions that were pruned are named
# only, and so are those that training started from.
ROOM = 2**20
TIMES = 64
# Spreads, which have to be positive; zero is a spread that float32 cannot hold.
SPREADS = ("sigma", "log_sigma")


def check_claims(record: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse sizes in the record that the arrays of the file do not bear out."""
    objects = len(record["names"])
    numbers = sum(array.size for array in arrays.values())
    for name in ("model_dimensions", "first_dimensions"):
        claimed = int(record.get(name, 0))
        if claimed < 0 or objects * claimed > max(ROOM, TIMES * numbers):
            raise SavedFitError(
                f"it claims {name.replace('_', ' ')} of {claimed:,} for {objects:,} objects, which "
                f"its {numbers:,} numbers do not bear out."
            )


def check_guide(family: Any, arrays: Arrays) -> None:
    """Refuse a family of guides that the parameters in the file do not belong to."""
    factor = arrays.get("factor.X")
    if isinstance(family, LowRank) and (factor is None or factor.shape[:1] != (family.rank,)):
        raise SavedFitError(f"it claims {family!r}, and its guide has no such parameters.")


def checked_names(names: Any) -> tuple[str, ...]:
    """The names of the objects, each once."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SavedFitError("its names are not a list of text.")
    try:
        return check_names(names, np.zeros(1, np.int64))
    except DataError as error:
        raise SavedFitError(f"its {error}") from error


def check_values(arrays: Arrays) -> None:
    """Refuse numbers that no fit has: spreads below zero, and weights that are not finite."""
    for name, array in group(arrays, "posterior").items():
        if not np.isfinite(array).all():
            raise SavedFitError(f"its posterior holds {name} that are not finite.")
        if name in SPREADS and (array < 0).any():
            raise SavedFitError(f"its posterior holds {name} below zero.")
    for role in ("guide", "prior", "site"):
        for name, array in group(arrays, role).items():
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise SavedFitError(f"its {role} holds {name} that are not numbers.")
