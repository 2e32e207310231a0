"""Which dimension of one embedding is which of another.

Dimensions have no names, so two fits, two chains or two draws may hold the same
ones in different order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


def nearest_order(
    embedding: NDArray[np.floating], reference: NDArray[np.floating]
) -> NDArray[np.intp]:
    """The order of the columns of `embedding` that brings it nearest to `reference`.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 2.0]])
    >>> nearest_order(X[:, ::-1], X)
    array([1, 0])
    """
    # Whatever the order, the lengths of the columns stay: the nearest has the largest products.
    _, columns = linear_sum_assignment(reference.T @ embedding, maximize=True)
    return columns


def align_draws(chains: NDArray[np.floating]) -> NDArray[np.intp]:
    """One common order of dimensions for draws of several chains.

    Parameters
    ----------
    chains : array of shape (chains, draws, m, d)
        Rectified draws.

    Returns
    -------
    array of shape (chains, draws, d)
        For every draw, the order of its columns.
    """
    draws = chains.reshape(-1, *chains.shape[2:])
    # A first draw to compare with, then the mean of what agrees with it; one chain comes first
    # because a mean over chains that are not yet aligned would blur the dimensions.
    reference = draws[0]
    for part in (draws[: chains.shape[1]], draws, draws):
        orders = np.stack([nearest_order(X, reference) for X in part])
        reference = np.take_along_axis(part, orders[:, None], axis=2).mean(axis=0)
    return orders.reshape(*chains.shape[:2], -1)
