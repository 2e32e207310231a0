"""Where the three objects of a judgment stood on the screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import some_rows
from pyrovice.errors import DataError


def places_of(triplets: Triplets) -> NDArray[np.int64] | None:
    """The place 0, 1 or 2 of each object, from left to right, (n, 3); None if it is not known.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv
    >>> shown = pd.DataFrame({"a": ["dog"], "b": ["car"], "c": ["cat"], "choice": [2]})
    >>> places_of(pv.Triplets.from_dataframe(shown, objects=["a", "b", "c"], position="choice"))
    array([[1, 2, 0]])
    """
    if triplets.trials is None or not set(PLACE_COLUMNS) <= set(triplets.trials):
        return None
    columns = triplets.trials[list(PLACE_COLUMNS)].to_numpy(float)
    wrong = np.flatnonzero(~(np.sort(columns, axis=1) == [1, 2, 3]).all(axis=1))
    if wrong.size:
        raise DataError(
            f"The places of the three objects are {columns[wrong[0]].tolist()} in row {wrong[0]}; "
            f"expected 1, 2 and 3 in some order. This concerns {some_rows(wrong)}: leave them out, "
            f"or the columns {', '.join(PLACE_COLUMNS)} of trials."
        )
    return columns.astype(np.int64) - 1
