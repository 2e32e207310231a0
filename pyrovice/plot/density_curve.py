"""The density that a prior gives to one weight, whatever kind of prior it is."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from pyro import poutine

from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.fit import Fit
from pyrovice.results.prior_sites import redrawable

# Draws of the prior's own parameters that the density is averaged over.
PRIOR_DRAWS = 50


def prior_density(
    fit: Fit, grid: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Density of a weight at `grid`, and the probability that it is zero, by dimension.

    The prior's own parameters, if it has any, are those that the fit learned; any
    others are drawn from it. None if entries of X have no density of their own.

    Parameters
    ----------
    fit : Fit
        The fit.
    grid : array of shape (k,)
        Ascending values, starting at 0.

    Returns
    -------
    density : array of shape (k, dimensions)
    zero : array of shape (dimensions,)
    """
    d = fit.posterior.shape[1]
    structure = fit.model.structure
    if not structure.entrywise or set(structure.above) != set(redrawable(fit.model)):
        return None
    X = torch.as_tensor(grid, dtype=torch.float32)[:, None].expand(-1, d)
    learned = {name: fit.posterior.others[name].pooled for name in structure.above}
    n = min((len(draws) for draws in learned.values()), default=1)
    density, below = np.zeros((len(grid), d)), np.zeros(d)
    chosen = np.linspace(0, n - 1, min(n, PRIOR_DRAWS)).astype(int)
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for i in chosen:
            values = {name: torch.as_tensor(draws[i]) for name, draws in learned.items()}
            prior = poutine.condition(fit.model.prior, values | {"X": X})
            entry = poutine.trace(prior).get_trace(len(grid), d).nodes["X"]["fn"]
            # A prior on positive weights need not have a density at zero itself.
            density += entry.log_prob(X.clamp(min=1e-6)).exp().double().numpy()
            try:
                below += entry.cdf(torch.zeros(1, d)).expand(len(grid), d)[0].double().numpy()
            except (NotImplementedError, ValueError):
                below += np.nan
    return density / len(chosen), below / len(chosen)
