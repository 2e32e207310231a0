"""The posterior by Hamiltonian Monte Carlo: exact in the limit, for small problems.

It is the yardstick for the guides: the same Pyro model, sampled by NUTS.
"""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyro
import pyro.infer
import torch
from joblib import Parallel, delayed
from numpy.typing import NDArray
from pyro import poutine

from pyrovice.alignment import align_draws
from pyrovice.errors import PyroviceError, PyroviceWarning
from pyrovice.fitted import Fit, in_order_of_importance
from pyrovice.fitting import check_data
from pyrovice.guides import Guide, latent_sites
from pyrovice.guides.resolve import starting
from pyrovice.hyper import Hyperposterior, hyperparameters
from pyrovice.likelihood import Judgments
from pyrovice.model import Model
from pyrovice.posterior import DrawnPosterior
from pyrovice.priors import Prior, SpikeSlab
from pyrovice.starts import first_dimensions, from_pair_counts
from pyrovice.triplets import Triplets
from pyrovice.validation import whole

# Entries of X above which a run is a matter of hours.
MANY_ENTRIES = 1000
# Chains that agree have an R-hat below this.
MIXED = 1.05
# Draws whose likelihood is computed at once.
AT_ONCE = 50


@dataclass(frozen=True)
class NUTS:
    """How a fit was sampled; stands where other fits have their guide."""

    draws: int
    warmup: int
    chains: int

    def __call__(self, model: Model) -> Guide:
        raise PyroviceError("NUTS is no guide; call pyrovice.sample(data, ...).")


@dataclass(frozen=True)
class Chain:
    """Draws of one chain: every latent site, and the two parts of the log-density."""

    sites: dict[str, NDArray[np.float32]]
    log_likelihood: NDArray[np.float32]
    log_prior: NDArray[np.float32]
    divergences: int
    seconds: float


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
        warnings.warn(
            f"NUTS on {data.n_objects} x {size} weights may take hours; pyrovice.fit takes "
            "seconds, and a subset of the objects will do to check it.",
            PyroviceWarning,
            stacklevel=2,
        )
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    ran: list[Chain] = Parallel(n_jobs=min(method.chains, os.cpu_count() or 1))(
        delayed(run_chain)(data, prior, size, method, each) for each in seeds
    )
    X = np.stack([chain.sites["X"] for chain in ran])
    order = align_draws(np.maximum(X, 0))
    posterior = DrawnPosterior(np.take_along_axis(X, order[:, :, None], axis=3))
    result = in_order_of_importance(
        Fit(
            prior=prior,
            guide_family=method,
            training=None,
            seed=seed,
            names=data.names,
            model=model,
            posterior=posterior,
            history=_history(ran, len(data)),
            converged=False,
            n_judgments=len(data),
            data_digest=data.digest(),
            fitted_guide=None,
            first_dimensions=size,
            hyperposterior=_hyperposterior(ran, order, model),
        )
    )
    result.history["dimensions"] = result.n_dimensions
    return _judged(result, method, sum(chain.divergences for chain in ran))


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
        sites = mcmc.get_samples()
        parts = [
            _log_densities(model, {name: values[rows] for name, values in sites.items()})
            for rows in torch.arange(method.draws).split(AT_ONCE)
        ]
    log_likelihood, log_prior = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    return Chain(
        sites={name: values.numpy() for name, values in sites.items()},
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        divergences=len(mcmc.diagnostics()["divergences"]["chain 0"]),
        seconds=time.perf_counter() - began,
    )


def _log_densities(
    model: Model, sites: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-likelihood and log-prior of each of several draws."""
    n = len(sites["X"])
    # Draws become a plate left of "object"; sites with fewer plates have dims of size one.
    values = {
        name: v.reshape(n, *(1,) * (2 - (v.dim() - 1)), *v.shape[1:]) for name, v in sites.items()
    }
    with torch.no_grad(), pyro.plate("draws", n, dim=-3):
        trace = poutine.trace(poutine.condition(model, values)).get_trace()
        trace.compute_log_prob()
    each = {name: trace.nodes[name]["log_prob"].reshape(n, -1).sum(1) for name in (*sites, "odd")}
    likelihood = each.pop("odd")
    return likelihood, torch.stack(list(each.values())).sum(0)


def _history(ran: list[Chain], n: int) -> pd.DataFrame:
    log_likelihood = np.mean([chain.log_likelihood for chain in ran], axis=0, dtype=float) / n
    complexity = -np.mean([chain.log_prior for chain in ran], axis=0, dtype=float) / n
    steps = np.arange(1, len(complexity) + 1)
    return pd.DataFrame(
        {
            "step": steps,
            "loss": complexity - log_likelihood,
            "log_likelihood": log_likelihood,
            "complexity": complexity,
            "seconds": np.mean([chain.seconds for chain in ran]) * steps / len(steps),
        },
        index=pd.RangeIndex(len(steps), name="epoch"),
    )


def _hyperposterior(ran: list[Chain], order: NDArray[np.intp], model: Model) -> Hyperposterior:
    draws = {}
    for name in hyperparameters(model):
        values = np.stack([chain.sites[name] for chain in ran])
        if values.ndim == 3:
            values = np.take_along_axis(values, order, axis=2)
        draws[name] = values.reshape(-1, *values.shape[2:])
    return Hyperposterior(draws)


def _judged(fit: Fit, method: NUTS, divergences: int) -> Fit:
    """The fit with its verdict on convergence, said aloud if it is a bad one."""
    found = "one chain cannot say whether it has found everything"
    if method.chains > 1:
        worst = fit.mixing().r_hat.max()
        if worst < MIXED:
            return replace(fit, converged=True)
        found = f"the chains disagree (R-hat up to {worst:.2f}, {divergences} divergences)"
    warnings.warn(
        f"Not known to have converged: {found}. Sample again with chains=4 and more warmup, or "
        "with fewer dimensions.",
        PyroviceWarning,
        stacklevel=3,
    )
    return fit
