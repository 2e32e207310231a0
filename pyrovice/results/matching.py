"""Which dimension of one embedding is which of another.

Dimensions have no names, so two fits, two chains or two draws may hold the same
ones in different order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Two dimensions that correlate above this are the same one (paper).
SAME_DIMENSION = 0.8


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
    from scipy.optimize import linear_sum_assignment

    _, columns = linear_sum_assignment(reference.T @ embedding, maximize=True)
    return columns


def correlations(
    embedding: NDArray[np.floating], other: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Pearson correlations of the columns of two embeddings of the same objects.

    A constant column correlates with nothing: 0.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]])
    >>> correlations(X, X)
    array([[1., 0.],
           [0., 0.]])
    """
    return standardised(embedding).T @ standardised(other)


def partners(r: NDArray[np.floating]) -> NDArray[np.intp]:
    """For each row a column of its own, −1 for none: the assignment with the largest sum.

    Examples
    --------
    >>> partners(np.array([[0.9, 0.8], [0.8, 0.1], [0.2, 0.3]]))
    array([ 1,  0, -1])
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(r, maximize=True)
    found = np.full(len(r), -1)
    found[rows] = columns
    return found


def same_dimensions(
    embedding: NDArray[np.floating],
    other: NDArray[np.floating],
    threshold: float = SAME_DIMENSION,
) -> NDArray[np.intp]:
    """For each column of `embedding` the one of `other` that is the same dimension, −1 for none.

    One to one, and those that correlate above the threshold only.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 0.3], [0.9, 0.1, 0.0], [0.0, 2.0, 0.1]])
    >>> same_dimensions(X, X[:, [1, 0]])
    array([ 1,  0, -1])
    """
    r = correlations(embedding, other)
    # What is below the threshold is not a match, however much several of them would add up to.
    above = np.where(r > threshold, r, 0.0)
    found = partners(above)
    return np.where(above[np.arange(len(r)), found] > 0, found, -1) if r.size else found


def recovered(
    truth: NDArray[np.floating], found: NDArray[np.floating], threshold: float = SAME_DIMENSION
) -> float:
    """Share of the true dimensions that correlate above the threshold with one that was found."""
    return float((correlations(truth, found).max(axis=1, initial=0) > threshold).mean())


def standardised(embedding: NDArray[np.floating]) -> NDArray[np.float64]:
    """Columns of mean 0 and length 1, or of zeros."""
    centred = embedding - embedding.mean(axis=0, dtype=float)
    length = np.linalg.norm(centred, axis=0)
    # The mean of equal numbers need not be exactly each of them.
    varies = (np.ptp(embedding, axis=0) > 0) & (length > 0)
    return np.where(varies, centred, 0) / np.where(varies, length, 1)


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
