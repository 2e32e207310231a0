"""Judgments that a feature matrix would make, for example a network's activations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import default_names, whole
from pyrovice.errors import DataError

SIMILARITIES = ("dot", "cosine", "euclidean")
# All similarities at once take up to 1 GB; beyond that, blocks of rows are multiplied.
MOST_OBJECTS = 16_000
BLOCK = 10_000
# Dealing again settles within about ten turns; with few objects it may never come out even.
MOST_TURNS = 300


def tripletize(
    features: ArrayLike | pd.DataFrame,
    n: int,
    *,
    similarity: str = "dot",
    temperature: float | None = None,
    seed: int,
    names: Sequence[str] | None = None,
) -> Triplets:
    """Different random triplets, answered by how similar the rows of a matrix are.

    Every object is in the same number of triplets, give or take one, and no triplet occurs
    twice.

    Parameters
    ----------
    features : array or DataFrame of shape (m, d)
        A row per object; the index of a DataFrame gives the names.
    n : int
        How many triplets.
    similarity : {"dot", "cosine", "euclidean"}
        What makes a pair similar; Euclidean is the negative distance.
    temperature : float, optional
        Choices are drawn from the softmax of the similarities of the three pairs, divided by
        this. By default the most similar pair is always kept; ties are broken at random.
    seed : int
        The same seed gives the same judgments.
    names : sequence of str, optional
        One name per object.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> features = np.random.default_rng(0).normal(size=(100, 32))
    >>> t = pv.tripletize(features, 5000, similarity="cosine", seed=0)
    >>> t
    Triplets(5,000 judgments of 100 objects)
    >>> np.bincount(t.objects.ravel())[:5]
    array([150, 150, 150, 150, 150])
    """
    if names is None and isinstance(features, pd.DataFrame):
        names = [str(name) for name in features.index]
    matrix = _check_features(features)
    m = len(matrix)
    n = whole(n, "n", least=1)
    if n > math.comb(m, 3):
        raise DataError(f"n={n:,} triplets, but {m} objects have only {math.comb(m, 3):,}.")
    if similarity not in SIMILARITIES:
        raise DataError(
            f"similarity={similarity!r}; expected one of {', '.join(map(repr, SIMILARITIES))}."
        )
    if temperature is not None and not (np.isfinite(temperature) and temperature > 0):
        raise DataError(f"temperature={temperature!r}; expected a positive number, or None.")
    rng = np.random.default_rng(seed)
    objects = balanced_triplets(m, n, rng)
    # The pair that leaves out the first, the second and the third.
    kept = _similarities(matrix, similarity, objects[:, [1, 0, 0]], objects[:, [2, 2, 1]])
    if temperature is None:
        best = kept == kept.max(axis=1, keepdims=True)
        odd = np.argmax(np.where(best, rng.random(kept.shape), -1), axis=1)
    else:
        # The largest of logits with Gumbel noise is a draw from their softmax.
        odd = np.argmax(kept / temperature + rng.gumbel(size=kept.shape), axis=1)
    return Triplets(objects, odd, names=default_names(m) if names is None else names)


def balanced_triplets(m: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`n` different triplets of `m` objects in which each occurs equally often, or once more."""
    total = math.comb(m, 3)
    if n > total // 2:
        # What is left out is balanced as well, and there is less of it.
        every = _all_keys(m)
        left_out = _keys(balanced_triplets(m, total - n, rng), m) if n < total else every[:0]
        return rng.permutation(_from_keys(np.setdiff1d(every, left_out, assume_unique=True), m))
    times = np.full(m, 3 * n // m)
    times[rng.choice(m, 3 * n - times.sum(), replace=False)] += 1
    pool = np.repeat(np.arange(m), times)
    found = np.zeros(0, np.int64)
    for _ in range(MOST_TURNS):
        rows = np.sort(rng.permutation(pool).reshape(-1, 3), axis=1)
        proper = (rows[:, 0] < rows[:, 1]) & (rows[:, 1] < rows[:, 2])
        keys = _keys(rows, m)
        fresh = np.zeros(len(rows), bool)
        fresh[np.unique(keys, return_index=True)[1]] = True
        good = proper & fresh & ~_which_are_in(keys, found)
        found = np.sort(np.concatenate([found, keys[good]]), kind="stable")
        if good.all():
            return rng.permutation(_from_keys(found, m))
        # The others are dealt again, with some good ones for new partners.
        some = min(len(found), ((~good).sum() + 1) // 2)
        back = rng.choice(len(found), some, replace=False, shuffle=False)
        pool = np.concatenate([rows[~good].ravel(), _from_keys(found[back], m).ravel()])
        found = np.delete(found, back)
    every = np.setdiff1d(_all_keys(m), found, assume_unique=True)
    rest = rng.choice(every, n - len(found), replace=False)
    return rng.permutation(_from_keys(np.concatenate([found, rest]), m))


def _keys(rows: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    return (rows[:, 0] * m + rows[:, 1]) * m + rows[:, 2]


def _from_keys(keys: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    return np.column_stack([keys // m**2, keys // m % m, keys % m])


def _all_keys(m: int) -> NDArray[np.int64]:
    first, second = np.triu_indices(m, k=1)
    thirds = m - 1 - second
    pair = np.repeat(np.arange(len(first)), thirds)
    step = np.arange(thirds.sum()) - np.repeat(np.cumsum(thirds) - thirds, thirds)
    rows = np.column_stack([first[pair], second[pair], second[pair] + 1 + step])
    return _keys(rows, m)


def _which_are_in(keys: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys are in a sorted array."""
    if not len(found):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(found, keys), len(found) - 1)
    return found[at] == keys


def _check_features(features: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(features, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"features are not numbers ({error}).") from error
    if matrix.ndim != 2 or len(matrix) < 3:
        raise DataError(
            f"features have shape {matrix.shape}; expected (objects, features) with at least "
            "three objects."
        )
    if not np.all(np.isfinite(matrix)):
        row = np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0]
        raise DataError(f"features of object {row} hold a value that is not finite.")
    return matrix


def _similarities(
    matrix: NDArray[np.float64],
    similarity: str,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.float64]:
    if similarity == "cosine":
        norm = np.linalg.norm(matrix, axis=1, keepdims=True)
        if np.any(norm == 0):
            row = int(np.flatnonzero(norm == 0)[0])
            raise DataError(f"features of object {row} are all zero, so it has no direction.")
        matrix = matrix / norm
    if len(matrix) <= MOST_OBJECTS:
        dots = (matrix @ matrix.T)[first, second]
    else:
        dots = np.concatenate(
            [
                np.einsum(
                    "nkd,nkd->nk", matrix[first[at : at + BLOCK]], matrix[second[at : at + BLOCK]]
                )
                for at in range(0, len(first), BLOCK)
            ]
        )
    if similarity != "euclidean":
        return dots
    squares = (matrix**2).sum(axis=1)
    return -np.sqrt(np.maximum(squares[first] + squares[second] - 2 * dots, 0))
