"""Objects that nobody has judged, embedded by their features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.wording import some_of
from pyrovice.errors import DataError, PriorError
from pyrovice.guides import SiteGuide
from pyrovice.model.priors import Features
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import DrawnWeights, NormalWeights, Weights, chosen_draws

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

SITES = ("W", "reach", "offset", "residual")
# Draws that the closed form of a new object rests on.
MOMENT_DRAWS = 300

Array = NDArray[np.float32]


def features_of(fit: Fit, what: str) -> Features:
    """The features of a fit, if it has any."""
    if not isinstance(fit.prior, Features):
        raise PriorError(
            f"{what} needs features of the objects, and this fit has none: its prior is "
            f"{fit.prior!r}. Fit with prior=pv.Features(table)."
        )
    return fit.prior


def with_objects(fit: Fit, table: Any) -> Fit:
    """The fit with further objects, whose weights follow from their features."""
    prior = features_of(fit, "with_objects(table)")
    names, scores = prior.scores_of(table)
    if names is None:
        names = tuple(f"new {i + 1}" for i in range(len(scores)))
    known = [name for name in names if name in set(fit.names)]
    if known:
        raise DataError(
            f"The fit has {some_of(known, 'object')} of these already; leave them out: "
            "table.drop(index=fit.names, errors='ignore')."
        )
    names = (*fit.names, *names)
    extended = prior.with_objects(names, scores)
    model = fit.model.with_objects(extended, extended.n_objects)
    posterior, guide = fit.posterior, fit.fitted_guide
    weights: Weights
    if posterior.is_joint:
        weights = _drawn(posterior, prior, scores)
        guide = None
    else:
        loc, scale = _moments(posterior, prior, scores)
        # The only closed forms of a prior on real numbers that is not a point.
        assert isinstance(posterior.weights, NormalWeights)
        weights = posterior.weights.with_rows(loc, scale)
        if isinstance(guide, SiteGuide):
            guide = guide.with_rows(model, torch.from_numpy(loc), torch.from_numpy(scale))
    return replace(
        fit,
        prior=extended,
        names=names,
        model=model,
        posterior=replace(posterior, weights=weights),
        fitted_guide=guide,
    )


def _means(
    posterior: Posterior, prior: Features, scores: Array, rows: NDArray[np.intp] | int
) -> Iterator[tuple[Array, Array]]:
    """For each of several draws: what features predict, (objects, d), and the residual, (d,).

    `rows` are numbers of draws that belong together, or how many to take where they do not.
    """
    chosen = {}
    for name in SITES:
        pooled = posterior.others[name].pooled
        which = chosen_draws(len(pooled), rows, 0) if isinstance(rows, int) else rows
        chosen[name] = pooled[which]
    for W, reach, offset, residual in zip(*(chosen[name] for name in SITES), strict=True):
        yield scores @ (W * reach[prior.block_of]) + offset, residual


def _moments(posterior: Posterior, prior: Features, scores: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the weights of new objects, before they are rectified."""
    draws = min(MOMENT_DRAWS, len(posterior.others["W"].pooled))
    total = np.zeros((len(scores), posterior.shape[1]))
    squares, unexplained = np.zeros_like(total), np.zeros(posterior.shape[1])
    for mean, residual in _means(posterior, prior, scores, draws):
        total += mean
        squares += mean.astype(float) ** 2
        unexplained += residual.astype(float) ** 2
    loc = total / draws
    variance = np.maximum(squares / draws - loc**2, 0) + unexplained / draws
    return loc.astype(np.float32), np.sqrt(variance).astype(np.float32)


def _drawn(posterior: Posterior, prior: Features, scores: Array) -> DrawnWeights:
    """Draws of the new objects' weights, each with the draw of the old ones that it belongs to."""
    stored = posterior.weights.arrays()["stored"]
    n, d = stored.shape[0] * stored.shape[1], stored.shape[-1]
    noise = np.random.default_rng(0)
    new = np.empty((n, len(scores), d), np.float32)
    for i, (mean, residual) in enumerate(_means(posterior, prior, scores, np.arange(n))):
        new[i] = mean + residual * noise.standard_normal(mean.shape, dtype=np.float32)
    return DrawnWeights(np.concatenate([stored, new.reshape(*stored.shape[:2], -1, d)], axis=2))
