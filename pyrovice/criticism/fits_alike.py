"""How alike fits of different judgments are, and fits of many sets of judgments at once."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError, PyroviceWarning
from pyrovice.inference.fitting import fit
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many
from pyrovice.results.fit import Fit
from pyrovice.results.matching import correlations

# What of the arguments of `fit` such fits can share.
SHARED = ("prior", "choice", "people", "guide", "dimensions", "training", "seed", "device")
# Posterior draws and third objects that similarities are averaged over.
DRAWS, THIRDS = 10, 100

Array = NDArray[np.floating]


def fits_of(parts: Sequence[Triplets], arguments: Mapping[str, Any]) -> list[Fit]:
    """A fit of each set of judgments, pruned; together where that is faster."""
    unknown = [name for name in arguments if name not in SHARED]
    if unknown:
        raise TypeError(
            f"Got {unknown[0]}=...; expected arguments of fit that all fits can share: "
            f"{', '.join(SHARED)}."
        )
    defaults = inspect.signature(fit).parameters
    given = {name: arguments.get(name, defaults[name].default) for name in SHARED}
    plans = [Plan.of(part, **given) for part in parts]
    with warnings.catch_warnings():
        # Parts of the data may be too few for what the whole supports; that is the question.
        warnings.simplefilter("ignore", PyroviceWarning)
        made = dict(fit_many(plans))
    for found in made.values():
        if isinstance(found, Exception):
            raise found
    fits = [made[place] for place in range(len(plans))]
    empty = sum(each.n_dimensions == 0 for each in fits)  # type: ignore[union-attr]
    if empty:
        raise PyroviceError(
            f"{empty} of {len(fits)} fits of parts of these judgments keep no dimension, so there "
            "is nothing to compare: the parts are too small."
        )
    return [each.prune() for each in fits]  # type: ignore[union-attr]


def similarities(found: Fit) -> NDArray[np.float64]:
    """How probably each pair is kept, objects x objects."""
    return found.similarity(draws=DRAWS, thirds=THIRDS).to_numpy(float)


def likeness(first: Array, second: Array) -> float:
    """The correlation of two similarity matrices over pairs of objects.

    Examples
    --------
    >>> S = np.array([[1.0, 0.2, 0.6], [0.2, 1.0, 0.3], [0.6, 0.3, 1.0]])
    >>> round(likeness(S, 2 * S + 1), 6)
    1.0
    """
    pairs = np.triu_indices(len(first), k=1)
    a, b = first[pairs], second[pairs]
    if not (a.std() and b.std()):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def matched(first: Array, second: Array) -> float:
    """The mean correlation of all dimensions of two embeddings with their best match."""
    r = correlations(first, second)
    return float(np.concatenate([r.max(axis=1), r.max(axis=0)]).mean())


def share_as_large(null: Array, observed: float) -> float:
    """The p-value of a permutation test: how often chance does as much."""
    return float((1 + np.sum(np.asarray(null) >= observed - 1e-12)) / (1 + len(null)))
