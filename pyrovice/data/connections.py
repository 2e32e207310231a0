"""Which objects a chain of judgments connects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pyrovice.errors import tell

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets

# Up to so many objects a table of all pairs is smaller and faster than a list of those shown.
MOST_IN_A_TABLE = 5000


def shown_pairs(objects: NDArray[np.int32], m: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs i · m + j that were shown together, in ascending order, and how often each was."""
    i, j, k = objects.astype(np.int64).T
    keys = (i * m + j, i * m + k, j * m + k)
    if m > MOST_IN_A_TABLE:
        return np.unique(np.concatenate(keys), return_counts=True)
    times = np.zeros(m * m, np.int64)
    for each in keys:
        times += np.bincount(each, minlength=m * m)
    pairs = np.flatnonzero(times)
    return pairs, times[pairs]


def groups(objects: NDArray[np.int32], m: int) -> int:
    """How many groups the judged objects fall into, with no judgment between two of them.

    Examples
    --------
    >>> groups(np.array([[0, 1, 2], [1, 2, 5], [3, 4, 6]]), 9)
    2
    """
    return groups_of_pairs(_links(objects, m), m)


def groups_of_pairs(pairs: NDArray[np.int64], m: int) -> int:
    """The same from the pairs that were shown together."""
    if m > MOST_IN_A_TABLE:
        return _groups_of_many(pairs, m)
    touching = np.zeros((m, m), bool)
    touching.ravel()[pairs] = True
    touching |= touching.T
    left = touching.any(axis=1)
    found = 0
    while left.any():
        found += 1
        reached = np.zeros(m, bool)
        reached[np.argmax(left)] = True
        new = np.flatnonzero(reached)
        while len(new):
            next_to = touching[new].any(axis=0) & ~reached
            reached |= next_to
            new = np.flatnonzero(next_to)
        left &= ~reached
    return found


def _groups_of_many(pairs: NDArray[np.int64], m: int) -> int:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = pairs // m, pairs % m
    graph = coo_array((np.ones(len(pairs), bool), (first, second)), shape=(m, m))
    label = connected_components(graph, directed=False)[1]
    judged = np.zeros(m, bool)
    judged[first] = judged[second] = True
    return len(np.unique(label[judged]))


def tell_if_disconnected(triplets: Triplets) -> None:
    """Warn of groups whose weights no judgment compares."""
    found = groups(triplets.objects, triplets.n_objects)
    if found > 1:
        tell(
            f"The objects fall into {found:,} groups that no chain of judgments connects; weights "
            "of different groups cannot be compared. Fit each group by itself, or collect "
            "judgments across them; data.describe() says more."
        )


def _links(objects: NDArray[np.int32], m: int) -> NDArray[np.int64]:
    """Two of the three pairs of each triplet, which connect it; each pair once."""
    first, second, third = objects.T
    if m > MOST_IN_A_TABLE:
        wide = objects.astype(np.int64)
        return np.unique(np.concatenate([wide[:, 0] * m + wide[:, 1], wide[:, 1] * m + wide[:, 2]]))
    shown = np.zeros((m, m), bool)
    shown[first, second] = True
    shown[second, third] = True
    return np.flatnonzero(shown)
