"""Triplets that could be asked: those that a user allows, or a sample of all."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.criticism.asking.goals import triplets_with
from pyrovice.criticism.asking.information import Rows
from pyrovice.data.columns import OBJECT_COLUMNS
from pyrovice.data.repeats import triplet_keys
from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import some_of
from pyrovice.errors import DataError
from pyrovice.model.simulation import random_triplets

# Triplets that are looked at, at first sight, for one share of a batch; all if there are fewer.
SAMPLE = 60_000


class Candidates:
    """What can be asked, without what has been.

    Parameters
    ----------
    names : tuple of str
        The objects of the fit.
    given : Triplets, DataFrame or array, optional
        The triplets to choose from; all of the objects' by default.
    asked : array
        Keys of triplets that must not be asked.
    objects : array, optional
        Objects one of which must be in every triplet.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        given: Any,
        asked: NDArray[np.int64],
        objects: NDArray[np.int64] | None,
    ) -> None:
        self.m, self.objects, self.asked = len(names), objects, asked
        self.all: Rows | None = None
        self.is_given = given is not None
        if given is not None:
            self.all = _distinct(given_triplets(given, names), self.m)
        elif comb(self.m, 3) <= SAMPLE:
            self.all = np.array(list(combinations(range(self.m), 3)))
        if self.all is not None and objects is not None:
            self.all = self.all[np.isin(self.all, objects).any(axis=1)]

    def sample(self, rng: np.random.Generator) -> Rows:
        """Different triplets that can still be asked."""
        rows = self.all
        if rows is None:
            rows = random_triplets(self.m, SAMPLE, rng)
            if self.objects is not None:
                rows = triplets_with(self.objects, rows, rng, both=0.5)
            rows = _distinct(rows, self.m)
        elif len(rows) > SAMPLE:
            rows = rows[rng.choice(len(rows), SAMPLE, replace=False)]
        return rows[~np.isin(self._keys(rows), self.asked)]

    def left(self) -> int:
        """How many can still be asked; at most so many, if `objects` of very many are named."""
        if self.all is None:
            return self.total() - (len(np.unique(self.asked)) if self.objects is None else 0)
        return int((~np.isin(self._keys(self.all), self.asked)).sum())

    def total(self) -> int:
        """How many there are, asked before or not."""
        if self.all is not None:
            return len(self.all)
        others = 0 if self.objects is None else comb(self.m - len(np.unique(self.objects)), 3)
        return comb(self.m, 3) - others

    def take(self, rows: Rows) -> None:
        """Leave these out from now on."""
        self.asked = np.union1d(self.asked, self._keys(rows))

    def at_random(self, n: int, rng: np.random.Generator) -> Rows:
        """Different triplets, each as probable as any other, whether asked before or not."""
        if self.all is not None and self.objects is None:
            return self.all[rng.choice(len(self.all), min(n, len(self.all)), replace=False)]
        if self.is_given:
            raise DataError(
                "candidates and objects together leave no random sample of all triplets; pass "
                "random=0, or leave one of them out."
            )
        n = min(n, comb(self.m, 3))
        found = random_triplets(self.m, n, rng)
        while len(_distinct(found, self.m)) < n:
            more = random_triplets(self.m, n, rng)
            found = _distinct(np.concatenate([found, more]), self.m, in_order=True)[:n]
        return found

    def _keys(self, rows: Rows) -> NDArray[np.int64]:
        return triplet_keys(rows, self.m)


def given_triplets(given: Any, names: tuple[str, ...]) -> Rows:
    """Triplets as a user gives them, as ids in ascending order, (k, 3)."""
    if isinstance(given, Triplets):
        given = np.asarray(given.names, dtype=object)[given.objects]
    elif isinstance(given, pd.DataFrame):
        missing = [name for name in OBJECT_COLUMNS if name not in given]
        if missing:
            raise DataError(
                f"candidates has no column {', '.join(map(repr, missing))}; expected "
                f"{', '.join(OBJECT_COLUMNS)}, the names of the three objects."
            )
        given = given[list(OBJECT_COLUMNS)].to_numpy(dtype=object)
    rows = np.asarray(given)
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
        raise DataError(
            f"candidates has shape {rows.shape}; expected three objects in each of its rows: "
            "names, ids, Triplets or a table with the columns object_1, object_2, object_3."
        )
    if rows.dtype.kind not in "iu":
        flat = pd.Index(names).get_indexer(pd.Index(rows.astype(str).ravel()))
        if (flat < 0).any():
            unknown = list(dict.fromkeys(rows.astype(str).ravel()[flat < 0].tolist()))
            raise DataError(
                f"candidates have {some_of(unknown, 'object')} that the fit does not know; "
                "expected those of fit.names."
            )
        rows = flat.reshape(-1, 3)
    elif rows.min() < 0 or rows.max() >= len(names):
        raise DataError(
            f"candidates have ids from {rows.min()} to {rows.max()}, but the fit has "
            f"{len(names)} objects, 0 to {len(names) - 1}."
        )
    rows = np.sort(rows.astype(np.int64), axis=1)
    if (np.diff(rows, axis=1) == 0).any():
        raise DataError("candidates: a triplet repeats an object; expected three different ones.")
    return rows


def _distinct(rows: Rows, m: int, in_order: bool = False) -> Rows:
    first = np.unique(triplet_keys(rows, m), return_index=True)[1]
    return rows[np.sort(first) if in_order else first]
