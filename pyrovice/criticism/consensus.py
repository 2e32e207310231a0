"""What several fits have in common, as one fit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.criticism.across_seeds import checked_fits
from pyrovice.criticism.recurring_dimensions import recurring
from pyrovice.errors import PyroviceError
from pyrovice.guides import Guide
from pyrovice.model.model import Model
from pyrovice.results import pruning
from pyrovice.results.fit import Fit
from pyrovice.results.kept_dimensions import COMMON
from pyrovice.results.posterior import Posterior, SiteDraws
from pyrovice.results.weights import DrawnWeights
from pyrovice.storage.registry import saved

# Draws of all fits together, and the entries that they may have: 260 MB.
DRAWS, MOST_ENTRIES = 500, 2**26
FEWEST_DRAWS = 5


@saved
@dataclass(frozen=True)
class Consensus:
    """How many fits a consensus is of; stands where other fits have their guide."""

    fits: int

    def __call__(self, model: Model) -> Guide:
        raise PyroviceError(
            "A consensus is not a guide: fit several times, and take pv.consensus(fits) of that."
        )


def consensus(fits: Sequence[Fit], *, seed: int = 0) -> Fit:
    """One fit of several: the dimensions that they have in common, and the predictions of all.

    Dimensions of different fits are the same if they correlate above .8, one to one. Those that at
    least half of the fits have are kept, and ``fit.reproducibility()`` says how many have each.
    The posterior consists of draws of all fits, so that a weight is as uncertain as the fits
    disagree, a dimension that some lack has weight zero in their draws, and predictions are the
    mean of those of all fits. Their cross-entropy is therefore at most the mean of that of fits,
    and lower the more these disagree; fits that all find the same gain nothing.

    Parameters
    ----------
    fits : sequence of Fit
        At least two of the same objects, prior and choice: of several seeds, learning rates or
        parts of the judgments.
    seed : int
        Of the draws.

    Returns
    -------
    Fit
        Usable like any other. It has no guide; its `history`, `training` and `seed` are those of
        the first fit. Predict with all of its draws, ``draws=500``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.subset(4000, seed=0).split(0.5, 0.5, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=150), stop=pv.MaxEpochs(150))
    >>> fits = [pv.fit(train, dimensions=9, training=quick, seed=seed) for seed in range(3)]
    >>> together = pv.consensus(fits)
    >>> bool(together.reproducibility().min() >= 0.5)
    True
    >>> errors = [fit.evaluate(test).cross_entropy for fit in fits]
    >>> together.evaluate(test, draws=500).cross_entropy < sum(errors) / 3
    True
    """
    fits = checked_fits(fits)
    _check_alike(fits)
    kept = [fit.embedding().to_numpy(float) for fit in fits]
    common = recurring(kept)
    shares = common.found.mean(axis=0)
    agreed = np.flatnonzero(shares >= COMMON)
    if not len(agreed):
        raise PyroviceError(
            f"No dimension is found by half of these {len(fits)} fits, so there is nothing that "
            "they agree on; they may need more judgments."
        )
    places = [_places(fit, common.columns[i, agreed]) for i, fit in enumerate(fits)]
    width = max(len(mine) for mine in places)
    places = [np.pad(mine, (0, width - len(mine)), constant_values=-1) for mine in places]
    n = max(FEWEST_DRAWS, min(DRAWS, MOST_ENTRIES // (len(fits[0].names) * width)) // len(fits))
    posterior = _pooled(fits, places, n, seed)
    # What is left of each fit shares columns that mean nothing, but belong to its predictions.
    found_by = np.zeros(width)
    found_by[: len(agreed)] = shares[agreed]
    return _in_order(_as_one(fits, posterior, found_by), len(agreed))


def _check_alike(fits: Sequence[Fit]) -> None:
    if len(fits) < 2:
        raise PyroviceError(
            f"Got {len(fits)} fits; expected at least two, for example of several seeds: "
            "[pv.fit(data, seed=seed) for seed in range(10)]."
        )
    first = fits[0]
    for fit in fits[1:]:
        if fit.names != first.names:
            raise PyroviceError("These fits are of different objects, so they have no consensus.")
        # Numbers of a prior may differ, as in a sweep; what it consists of may not.
        if fit.choice != first.choice or fit.sites().keys() != first.sites().keys():
            raise PyroviceError(
                "These fits are of different models, so they have no consensus: give fits with the "
                "same choice, people and kind of prior."
            )
        if fit.model.known_people != first.model.known_people:
            raise PyroviceError("These fits know different people, so they have no consensus.")


def _places(fit: Fit, agreed: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which dimension of a fit goes into each column: those agreed on, then all its others."""
    positions = fit.kept_positions()
    first = np.where(agreed >= 0, positions[agreed], -1)
    others = np.setdiff1d(np.arange(fit.posterior.shape[1]), first)
    return np.concatenate([first, others])


def _pooled(
    fits: Sequence[Fit], places: Sequence[NDArray[np.intp]], n: int, seed: int
) -> Posterior:
    """Draws of all fits, each with its dimensions in the common columns."""
    drawn: dict[str, list[NDArray[Any]]] = {}
    axes = {name: site.axes for name, site in fits[0].posterior.others.items()} | {
        "X": ("object", "dimension")
    }
    for i, (fit, mine) in enumerate(zip(fits, places, strict=True)):
        for name, values in fit.posterior.sites(n, seed + i).items():
            if "dimension" in axes[name]:
                axis = 1 + axes[name].index("dimension")
                # A dimension that a fit lacks is nothing; what else it may be is typical.
                idle = 0.0 if name == "X" else float(np.median(values)) if values.size else 0.0
                values = _with_columns(values, mine, axis, idle)
            drawn.setdefault(name, []).append(values)
    pooled = {name: np.concatenate(values)[None] for name, values in drawn.items()}
    weights = DrawnWeights(pooled.pop("X").astype(np.float32))
    return Posterior(weights, {name: SiteDraws(v, axes[name]) for name, v in pooled.items()})


def _with_columns(
    values: NDArray[Any], places: NDArray[np.intp], axis: int, idle: float
) -> NDArray[Any]:
    """The values of some dimensions, `idle` where the place is −1."""
    padded = np.concatenate([values, np.full_like(values.take([0], axis=axis), idle)], axis=axis)
    return padded.take(places, axis=axis)


def _as_one(fits: Sequence[Fit], posterior: Posterior, found_by: NDArray[np.float64]) -> Fit:
    first = fits[0]
    digests = sorted({fit.data_digest for fit in fits})
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    return replace(
        first,
        guide_family=Consensus(len(fits)),
        model=first.model.with_dimensions(posterior.shape[1]),
        posterior=posterior,
        converged=all(fit.converged for fit in fits),
        # Of parts of the judgments: none of them was fitted to all.
        n_judgments=min(fit.n_judgments for fit in fits),
        data_digest=digests[0] if len(digests) == 1 else digest,
        fitted_guide=None,
        pruned=False,
        columns=None,
        unjudged=tuple(name for name in first.unjudged if all(name in f.unjudged for f in fits)),
        dimension_names=(),
        found_by=tuple(found_by.tolist()),
    )


def _in_order(fit: Fit, agreed: int) -> Fit:
    """What is agreed on first, by descending importance."""
    kept = fit.posterior.select(np.arange(agreed))
    order = pruning.order(pruning.importance(kept), kept.loc())
    return fit._select(np.concatenate([order, np.arange(agreed, fit.posterior.shape[1])]))
