"""How many dimensions a model has room for before any is dropped."""

from __future__ import annotations

import logging

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole

logger = logging.getLogger("pyrovice")

# The paper's number, for data of the size of THINGS.
MOST_DIMENSIONS = 100


def first_dimensions(dimensions: int | str, data: Triplets, unknown_rows: int | None = None) -> int:
    """The number of dimensions to start from.

    `unknown_rows` is how many numbers a dimension has to be learned by where it is not one for
    each object: as many as there are components of features.
    """
    if dimensions == "auto":
        rows = min(data.n_objects, unknown_rows or data.n_objects)
        # No more than half as many as objects, nor than judgments per number to be learned.
        justified = min(data.n_objects // 2, len(data) // rows, MOST_DIMENSIONS)
        chosen = max(justified, 2)
        logger.info(
            "dimensions='auto': starting from %d for %d judgments of %d objects",
            chosen,
            len(data),
            data.n_objects,
        )
        return chosen
    return whole(dimensions, "dimensions", least=1)
