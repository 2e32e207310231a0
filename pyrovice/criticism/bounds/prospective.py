"""The prospective bound: how many judgments guarantee that the error was estimated well."""

from __future__ import annotations

import math

from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError


def sample_size(
    n_objects: int,
    dimensions: int,
    *,
    levels: int = 4,
    epsilon: float = 0.1,
    delta: float = 0.001,
) -> int:
    """How many judgments guarantee that quantised embeddings do no worse on new ones, within ε.

    n ≥ (m d log(k + 1) + log(1/δ)) / 2ε². It holds for every embedding at once, however it was
    found, and is very conservative: see :func:`design` for what is enough in practice.

    Parameters
    ----------
    n_objects, dimensions : int
        Size of the embedding, m and at most d.
    levels : int
        How many values above zero a weight can take, k: its largest value over the scale of
        quantisation. The paper takes 4.
    epsilon : float
        How far the error on new judgments may exceed that on the judgments fitted.
    delta : float
        Probability that it exceeds it by more.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.bounds.sample_size(1854, 45)
    6714116
    """
    m = whole(n_objects, "n_objects", least=3)
    d = whole(dimensions, "dimensions", least=1)
    k = whole(levels, "levels", least=1)
    check_share(epsilon, "epsilon")
    check_share(delta, "delta")
    return math.ceil(hypotheses(m, d, k, delta) / (2 * epsilon**2))


def check_share(value: float, name: str) -> None:
    """Refuse anything but a number between 0 and 1."""
    if not (isinstance(value, int | float) and 0 < value < 1):
        raise PyroviceError(f"{name}={value!r}; expected a number between 0 and 1.")


def hypotheses(n_objects: int, dimensions: int, levels: int, delta: float) -> float:
    """log of the number of quantised embeddings over δ: m d log(k + 1) + log(1/δ)."""
    return n_objects * dimensions * math.log(levels + 1) + math.log(1 / delta)
