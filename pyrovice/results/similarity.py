"""How alike two objects are: how often their pair would be kept.

The probability that {i, j} is kept, averaged over every third object k.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.validation import whole

# Entries of the (rows, m, thirds) block held at once, if one row has no more: what a cache holds.
BLOCK_ENTRIES = 2**20
# The sum of three exponentials of this is still a float32.
LARGEST_EXPONENT = 80


def pair_probability(
    X: NDArray[np.floating], thirds: NDArray[np.integer] | None = None
) -> NDArray[np.float32]:
    """Mean over third objects of the probability that each pair is kept.

    Parameters
    ----------
    X : array of shape (m, d)
        Non-negative embedding.
    thirds : array of int, optional
        The third objects to average over, at least three; all by default.

    Returns
    -------
    array of shape (m, m)
        Symmetric; the diagonal, which is no pair, is NaN.

    Examples
    --------
    >>> pair_probability(np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0]])).round(3)
    array([[  nan, 0.965, 0.018],
           [0.965,   nan, 0.018],
           [0.018, 0.018,   nan]], dtype=float32)
    """
    rows = torch.as_tensor(np.ascontiguousarray(X, dtype=np.float32))
    m = len(rows)
    third = torch.arange(m) if thirds is None else torch.as_tensor(thirds)
    S = rows @ rows.T
    to_third = rows @ rows[third].T
    # Exponentials of all similarities at once where float32 can hold them, else of differences.
    if largest_fits := bool(S.max() < LARGEST_EXPONENT):
        S, to_third = S.exp_(), to_third.exp_()
    # A pair has no third object in itself.
    itself = torch.arange(m)[:, None] == third
    own_row, own_third = itself.nonzero(as_tuple=True)
    result = torch.empty(m, m)
    for block in torch.arange(m).split(max(1, BLOCK_ENTRIES // (m * len(third)))):
        # kept[b, j, k]: how {i, j} does against the pairs {i, k} and {j, k}
        ij, ik, jk = S[block][:, :, None], to_third[block][:, None, :], to_third[None]
        if largest_fits:
            kept = (ik + jk).add_(ij).reciprocal_().mul_(ij)
        else:
            kept = (ik - ij).exp_().add_((jk - ij).exp_()).add_(1).reciprocal_()
        kept[:, own_row, own_third] = 0
        in_block, k = itself[block].nonzero(as_tuple=True)
        kept[in_block, :, k] = 0
        result[block] = kept.sum(-1)
    others = len(third) - itself.sum(1)
    result /= others[:, None] - itself.sum(1)
    result.fill_diagonal_(torch.nan)
    return result.numpy()


def similarity_of(
    draws: NDArray[np.floating], thirds: int | None = None, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of :func:`pair_probability` over draws of X.

    Parameters
    ----------
    draws : array of shape (n, m, d)
        Rectified posterior draws.
    thirds : int, optional
        How many third objects to draw, the same for all pairs; all by default.
    seed : int
        Seed of the third objects.
    """
    m = draws.shape[1]
    some = None
    if thirds is not None and whole(thirds, "thirds", least=3) < m:
        some = np.sort(np.random.default_rng(seed).choice(m, thirds, replace=False))
    total = np.zeros((m, m))
    squares = np.zeros_like(total)
    for X in draws:
        kept = pair_probability(X, some).astype(float)
        total += kept
        squares += kept**2
    mean = total / len(draws)
    return mean, np.sqrt(np.maximum(squares / len(draws) - mean**2, 0))
