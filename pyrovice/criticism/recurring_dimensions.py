"""Dimensions that come back: which columns of many embeddings are the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrovice.results.matching import SAME_DIMENSION, same_dimensions, standardised

Array = NDArray[np.floating]

# Rounds in which embeddings are matched with the mean of the others; two or three are enough.
MOST_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Recurring:
    """The dimensions that embeddings of the same objects have in common.

    Attributes
    ----------
    columns : array of shape (embeddings, dimensions)
        Where each embedding has each dimension, −1 where it does not.
    centres : array of shape (objects, dimensions)
        What each dimension is like: the mean of its columns, of mean 0 and length 1.
    """

    columns: NDArray[np.intp]
    centres: NDArray[np.float64]

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which embeddings have which dimension."""
        return self.columns >= 0


def recurring(embeddings: Sequence[Array], threshold: float = SAME_DIMENSION) -> Recurring:
    """Tell which columns of several embeddings are the same dimension.

    A column is a dimension that others have as well if it correlates above the threshold with the
    mean of the columns that other embeddings have of it, one to one. Whatever is like no other is
    a dimension of its own, found once. The most frequent come first.

    Examples
    --------
    >>> X = np.random.default_rng(0).gamma(1.0, 1.0, (50, 3))
    >>> recurring([X, X[:, [2, 0]], X[:, [1, 2]]]).columns
    array([[ 2,  1,  0],
           [ 0, -1,  1],
           [ 1,  0, -1]])
    """
    columns = [standardised(np.asarray(each, float)) for each in embeddings]
    # The typical one is compared with first.
    order = np.argsort([each.shape[1] for each in columns], kind="stable")
    first = order[len(order) // 2]
    places = _matched(columns, None, [first, *(i for i in order if i != first)], threshold)
    for _ in range(MOST_ROUNDS):
        again = _matched(columns, places, range(len(columns)), threshold)
        settled = again.shape == places.shape and bool((again == places).all())
        places = again
        if settled:
            break
    frequent = np.argsort(-(places >= 0).sum(axis=0), kind="stable")
    places = places[:, frequent]
    sums = _sums(columns, places)
    return Recurring(places, standardised(sums) if sums.size else sums)


def _matched(
    columns: Sequence[NDArray[np.float64]],
    places: NDArray[np.intp] | None,
    order: Sequence[int] | range,
    threshold: float,
) -> NDArray[np.intp]:
    """Match each embedding with what the others have, one after the other."""
    if places is None:
        places = np.empty((len(columns), 0), int)
    sums = _sums(columns, places)
    for i in order:
        own, mine = columns[i], places[i]
        # Nobody is compared with itself: two that are little alike are both like their mean.
        sums[:, mine >= 0] -= own[:, mine[mine >= 0]]
        # Of a sum that nobody is part of, rounding may leave something.
        sums[:, (np.delete(places, i, axis=0) < 0).all(axis=0)] = 0
        partner = same_dimensions(own, sums, threshold)
        mine = np.full(places.shape[1], -1)
        mine[partner[partner >= 0]] = np.flatnonzero(partner >= 0)
        alone = np.flatnonzero(partner < 0)
        places[i] = mine
        new = np.full((len(columns), len(alone)), -1)
        new[i] = alone
        sums[:, mine >= 0] += own[:, mine[mine >= 0]]
        places = np.concatenate([places, new], axis=1)
        sums = np.concatenate([sums, own[:, alone]], axis=1)
        there = (places >= 0).any(axis=0)
        places, sums = places[:, there], sums[:, there]
    return places


def _sums(columns: Sequence[NDArray[np.float64]], places: NDArray[np.intp]) -> NDArray[np.float64]:
    sums = np.zeros((len(columns[0]), places.shape[1]))
    for own, mine in zip(columns, places, strict=True):
        sums[:, mine >= 0] += own[:, mine[mine >= 0]]
    return sums
