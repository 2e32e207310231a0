"""Which dimensions the data carry (paper, "Dimensionality reduction and convergence").

A dimension matters for an object when its weight is credibly above zero. The
importance of a dimension is the number of such objects, and a dimension with
too few of them is dropped.

Where a weight cannot be zero (a point estimate, or a prior on positive weights)
that number says nothing. There the rule is SPoSE's: a dimension is kept when its
largest weight exceeds a threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrovice.errors import PyroviceError
from pyrovice.results.weights import Weights

RULES = ("fdr", "tail", "max")
MIN_OBJECTS = 5
THRESHOLD = 0.1


def importance(
    posterior: Weights, rule: str | None = None, alpha: float = 0.05
) -> NDArray[np.number]:
    """How much each dimension matters.

    Parameters
    ----------
    posterior : Weights
        The posterior of X.
    rule : {"fdr", "tail", "max"}, optional
        ``"fdr"`` counts the objects with a credibly positive weight and controls
        the false discovery rate over the objects of each dimension
        (Benjamini-Hochberg); ``"tail"`` counts those with P(X > 0) >= 1 - alpha and
        never counts fewer; ``"max"`` takes the largest weight. By default ``"fdr"``
        where weights can be zero, else ``"max"``.
    alpha : float
        Level of the first two rules.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrovice.results.weights import NormalWeights
    >>> mu = np.array([[3.1, 0.2], [1.7, 1.9], [1.7, 0.0], [-1.3, 0.0]], dtype=np.float32)
    >>> posterior = NormalWeights(mu, np.ones_like(mu))
    >>> importance(posterior), importance(posterior, "tail")
    (array([1, 0]), array([3, 1]))
    """
    rule = rule or default_rule(posterior)
    if rule not in RULES:
        raise PyroviceError(f"rule={rule!r}; expected one of {', '.join(map(repr, RULES))}.")
    if not 0 < alpha < 1:
        raise PyroviceError(f"alpha={alpha!r} is not between 0 and 1; the paper uses 0.05.")
    if rule == "max":
        return posterior.loc().max(axis=0)
    p = posterior.zero_probability()
    if rule == "fdr" and p.size:
        p = false_discovery_rates(p)
    return (p <= alpha).sum(axis=0)


def false_discovery_rates(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini and Hochberg's adjusted probabilities, within each column.

    The k-th smallest of m becomes the least p · m / k of those that are no smaller.

    Examples
    --------
    >>> false_discovery_rates(np.array([[0.01], [0.04], [0.03], [0.9]])).ravel().round(4)
    array([0.04  , 0.0533, 0.0533, 0.9   ])
    """
    order = np.argsort(p, axis=0)
    ranks = np.arange(1, len(p) + 1)[:, None]
    raised = np.take_along_axis(p, order, axis=0) * (len(p) / ranks)
    least = np.minimum.accumulate(raised[::-1], axis=0)[::-1]
    rates = np.empty_like(least)
    np.put_along_axis(rates, order, least.clip(0, 1), axis=0)
    return rates


def default_rule(posterior: Weights) -> str:
    """The rule that means something for this posterior."""
    return "fdr" if posterior.can_be_zero else "max"


def kept(
    posterior: Weights,
    rule: str | None = None,
    alpha: float = 0.05,
    min_objects: int = MIN_OBJECTS,
    threshold: float = THRESHOLD,
) -> NDArray[np.bool_]:
    """Which dimensions have more than `min_objects` objects, or more weight than `threshold`."""
    rule = rule or default_rule(posterior)
    return importance(posterior, rule, alpha) > (threshold if rule == "max" else min_objects)


def order(importance: NDArray[np.number], weights: NDArray[np.floating]) -> NDArray[np.intp]:
    """Dimensions by descending importance, ties by the sum of their weights."""
    return np.lexsort([-np.asarray(weights).sum(axis=0), -importance])
