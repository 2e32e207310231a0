"""The posterior by Hamiltonian Monte Carlo: exact in the limit, for small problems.

It is the yardstick for the guides: the same Pyro model, sampled by NUTS.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pyro
import pyro.infer
import torch

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError, tell
from pyrovice.guides import Guide, latent_sites
from pyrovice.guides.resolve import starting
from pyrovice.inference.chains import (
    ONE_CHAIN,
    Chain,
    finished_chain,
    fit_of_chains,
    judged,
    side_by_side,
)
from pyrovice.inference.fitting import check_data
from pyrovice.inference.starts import from_pair_counts
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.model.priors import Prior, SpikeSlab
from pyrovice.results.fit import Fit
from pyrovice.results.mixing import MIXED
from pyrovice.storage.registry import saved

# Entries of X above which a run is a matter of hours.
MANY_ENTRIES = 1000


@saved
@dataclass(frozen=True)
class NUTS:
    """How a fit was sampled; stands where other fits have their guide."""

    draws: int
    warmup: int
    chains: int

    def __call__(self, model: Model) -> Guide:
        raise PyroviceError("NUTS is no guide; call pyrovice.sample(data, ...).")


def sample(
    data: Triplets,
    *,
    prior: Prior = SpikeSlab(),  # noqa: B008 (frozen)
    dimensions: int | str = "auto",
    draws: int = 1000,
    warmup: int = 1000,
    chains: int = 4,
    seed: int = 0,
) -> Fit:
    """Sample the posterior by NUTS, for small problems.

    Chains run in processes of their own, as many at once as there are cores. They
    start from the judgments' pair counts with noise of their own. Dimensions are
    brought into one order across chains and draws before anything is summarised.

    Parameters
    ----------
    data : Triplets
        The judgments.
    prior : Prior
        As for :func:`pyrovice.fit`.
    dimensions : int or "auto"
        Number of dimensions; none is dropped.
    draws, warmup : int
        Draws kept of each chain, and steps before them that adapt the sampler.
    chains : int
        How many chains.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Fit
        Its posterior is the draws; `fit.mixing()` has R-hat and effective sample
        sizes. `fit.history` runs over draws, its `loss` is −log p(X, odd) per
        judgment, and all its numbers are means over chains.

    Warns
    -----
    PyroviceWarning
        If the chains disagree, or if the problem is too large to finish soon.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> data = pv.simulate(np.linspace(0, 2, 6)[:, None], 150, seed=0)
    >>> fit = pv.sample(data, dimensions=1, draws=100, warmup=60, chains=2, seed=2)
    >>> weights = fit.embedding("mean", pruned=False)[0]
    >>> bool(weights["5"] > weights["0"])
    True
    """
    check_data(data, "data")
    seed = whole(seed, "seed", least=0)
    size = first_dimensions(dimensions, data)
    method = NUTS(
        whole(draws, "draws", least=4), whole(warmup, "warmup", least=0), whole(chains, "chains", 1)
    )
    model = Model(prior, data.n_objects, size, Judgments.of(data))
    latent_sites(model)
    if data.n_objects * size > MANY_ENTRIES:
        tell(
            f"NUTS on {data.n_objects} x {size} weights may take hours; pyrovice.refine(fit, data) "
            "samples around a fit at any size.",
        )
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    ran = side_by_side(run_chain, [(data, prior, size, method, each) for each in seeds])
    result = fit_of_chains(ran, data, model, prior, method, seed, size)
    doubt = _doubt(result, method, sum(chain.divergences for chain in ran))
    return judged(result, doubt, "Sample again with chains=4 and more warmup, or fewer dimensions.")


def run_chain(data: Triplets, prior: Prior, dimensions: int, method: NUTS, seed: int) -> Chain:
    """One chain, from start to end."""
    began = time.perf_counter()
    # Pyro checks every value of every leapfrog step otherwise, a third of the time.
    with torch.random.fork_rng(devices=[]), pyro.validation_enabled(False):
        torch.manual_seed(seed)
        judgments = Judgments.aggregated(data)
        model = Model(prior, data.n_objects, dimensions, judgments)
        loc, scale = from_pair_counts(judgments, dimensions)
        kernel = pyro.infer.NUTS(
            model,
            init_strategy=starting(lambda: loc + scale * torch.randn_like(loc)),
        )
        mcmc = pyro.infer.MCMC(
            kernel, num_samples=method.draws, warmup_steps=method.warmup, disable_progbar=True
        )
        mcmc.run()
        divergences = len(mcmc.diagnostics()["divergences"]["chain 0"])
        seconds = time.perf_counter() - began
        return finished_chain(model, mcmc.get_samples(), seconds, divergences)


def _doubt(fit: Fit, method: NUTS, divergences: int) -> str | None:
    """Why the chains may not have converged, if anything speaks against it."""
    if method.chains == 1:
        return ONE_CHAIN
    worst = fit.mixing().r_hat.max()
    if worst < MIXED:
        return None
    return f"the chains disagree (R-hat up to {worst:.2f}, {divergences} divergences)"
