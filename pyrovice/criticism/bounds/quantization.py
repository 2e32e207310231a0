"""Embeddings with few different weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.errors import PyroviceError
from pyrovice.model.simulation import numeric_matrix


def quantize(
    embedding: ArrayLike | pd.DataFrame, scale: float
) -> NDArray[np.float64] | pd.DataFrame:
    """Round weights to multiples of `scale`; what is negative becomes zero.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.bounds.quantize([[0.1, 0.4], [1.3, -0.6]], 0.5)
    array([[0. , 0.5],
           [1.5, 0. ]])
    """
    values = multiples(embedding, scale) * scale
    if isinstance(embedding, pd.DataFrame):
        return pd.DataFrame(values, index=embedding.index, columns=embedding.columns)
    return values


def multiples(embedding: ArrayLike | pd.DataFrame, scale: float) -> NDArray[np.float64]:
    """How many times `scale` each weight is, rounded."""
    if not (isinstance(scale, int | float | np.number) and 0 < scale < np.inf):
        raise PyroviceError(f"scale={scale!r}; expected a positive number, for example 0.5.")
    return np.round(np.maximum(numeric_matrix(embedding), 0) / scale)
