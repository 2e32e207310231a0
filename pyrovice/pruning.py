"""Which dimensions the data carry (paper, "Dimensionality reduction and convergence").

A dimension matters for an object when its weight is credibly above zero. The
importance of a dimension is the number of such objects, and a dimension with
too few of them is dropped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from pyrovice.errors import PyroviceError

RULES = ("fdr", "tail")
MIN_OBJECTS = 5


def importance(
    zero_probability: NDArray[np.floating], rule: str = "fdr", alpha: float = 0.05
) -> NDArray[np.int64]:
    """Number of objects with a credibly positive weight, per dimension.

    Parameters
    ----------
    zero_probability : array of shape (m, d)
        P(X_ij <= 0) under the posterior.
    rule : {"fdr", "tail"}
        ``"fdr"`` controls the false discovery rate over the objects of each
        dimension (Benjamini-Hochberg); ``"tail"`` counts the objects with
        P(X_ij > 0) >= 1 - alpha and never counts fewer.
    alpha : float
        Level of either rule.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.001, 0.4], [0.04, 0.03], [0.04, 0.5], [0.9, 0.5]])
    >>> importance(p)
    array([1, 0])
    >>> importance(p, rule="tail")
    array([3, 1])
    """
    if rule not in RULES:
        raise PyroviceError(f"rule={rule!r}; expected one of {', '.join(map(repr, RULES))}.")
    if not 0 < alpha < 1:
        raise PyroviceError(f"alpha={alpha!r} is not between 0 and 1; the paper uses 0.05.")
    p = np.asarray(zero_probability, dtype=float)
    if rule == "fdr" and p.size:
        p = false_discovery_control(p, axis=0)
    return (p <= alpha).sum(axis=0)


def order(counts: NDArray[np.int64], weights: NDArray[np.floating]) -> NDArray[np.intp]:
    """Dimensions by descending importance, ties by the sum of their weights."""
    return np.lexsort([-np.asarray(weights).sum(axis=0), -counts])
