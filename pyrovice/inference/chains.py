"""Chains of draws: what one chain brings home, and the fit that several make."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyro
import torch
from joblib import Parallel, delayed
from numpy.typing import NDArray
from pyro import poutine

from pyrovice.data.triplets import Triplets
from pyrovice.errors import tell
from pyrovice.guides import Guide
from pyrovice.model.model import Model
from pyrovice.model.priors import Prior
from pyrovice.results.fit import Fit, in_order_of_importance
from pyrovice.results.hyperposterior import Hyperposterior, hyperparameters
from pyrovice.results.matching import align_draws
from pyrovice.results.posterior import DrawnPosterior

# Draws whose likelihood is computed at once, and the numbers that it may take.
AT_ONCE = 50
MOST_AT_ONCE = 2**24
ONE_CHAIN = "one chain cannot say whether it has found everything"


@dataclass(frozen=True)
class Chain:
    """Draws of one chain: every latent site, and the two parts of the log-density."""

    sites: dict[str, NDArray[np.float32]]
    log_likelihood: NDArray[np.float32]
    log_prior: NDArray[np.float32]
    seconds: float
    divergences: int


def side_by_side(run: Callable[..., Chain], arguments: Sequence[tuple]) -> list[Chain]:
    """A chain for each of the arguments, in processes, as many at once as there are cores."""
    jobs = min(len(arguments), os.cpu_count() or 1)
    return list(Parallel(n_jobs=jobs)(delayed(run)(*each) for each in arguments))


def finished_chain(
    model: Model, sites: dict[str, torch.Tensor], seconds: float, divergences: int = 0
) -> Chain:
    """The chain of these draws, with the log-density of each."""
    entries = model.n_objects**2 + 3 * len(model.data or ())
    at_once = max(1, min(AT_ONCE, MOST_AT_ONCE // entries))
    parts = [
        log_densities(model, {name: values[rows] for name, values in sites.items()})
        for rows in torch.arange(len(sites["X"])).split(at_once)
    ]
    log_likelihood, log_prior = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    return Chain(
        sites={name: values.numpy() for name, values in sites.items()},
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        seconds=seconds,
        divergences=divergences,
    )


def fit_of_chains(
    ran: list[Chain],
    data: Triplets,
    model: Model,
    prior: Prior,
    method: Callable[[Model], Guide],
    seed: int,
    first_dimensions: int,
) -> Fit:
    """The fit whose posterior these chains are, dimensions in one order in all of them."""
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
            first_dimensions=first_dimensions,
            hyperposterior=_hyperposterior(ran, order, model),
        )
    )
    result.history["dimensions"] = result.n_dimensions
    return result


def judged(fit: Fit, doubt: str | None, advice: str) -> Fit:
    """The fit, converged unless there is a doubt, which is said aloud."""
    if doubt is None:
        return replace(fit, converged=True)
    tell(f"Not known to have converged: {doubt}. {advice}")
    return fit


def log_densities(
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
