"""Chains of draws: the result of one chain, and the fit that several make."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

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
from pyrovice.guides.drawing import with_embedding
from pyrovice.inference.worker_lifetime import below, workers_of_this_process
from pyrovice.model.model import Model
from pyrovice.model.people import judgments_by_person
from pyrovice.model.priors import Prior
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.fit import Fit, in_order_of_importance
from pyrovice.results.matching import align_draws
from pyrovice.results.posterior import Posterior, SiteDraws
from pyrovice.results.unjudged import unjudged_objects
from pyrovice.results.weights import DrawnWeights

# Draws whose likelihood is computed at once, and the numbers that it may take.
AT_ONCE = 50
MOST_AT_ONCE = 2**24
# The fewest draws that a chain can be judged by.
FEWEST_DRAWS = 4
ONE_CHAIN = "one chain cannot say whether it has found everything"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Chain:
    """Draws of one chain: every latent site, and the two parts of the log-density."""

    sites: dict[str, NDArray[np.float32]]
    log_likelihood: NDArray[np.float32]
    log_prior: NDArray[np.float32]
    seconds: float
    stats: dict[str, NDArray[Any]]

    @property
    def divergences(self) -> int:
        """How many of the draws ended a path that ran away."""
        return int(self.stats["diverging"].sum()) if "diverging" in self.stats else 0

    def __len__(self) -> int:
        return len(self.log_likelihood)

    def first(self, n: int) -> Chain:
        """Its first draws."""
        return Chain(
            sites={name: values[:n] for name, values in self.sites.items()},
            log_likelihood=self.log_likelihood[:n],
            log_prior=self.log_prior[:n],
            seconds=self.seconds * n / len(self),
            stats={name: values[:n] for name, values in self.stats.items()},
        )


def side_by_side(run: Callable[..., Result], arguments: Sequence[tuple]) -> list[Result]:
    """A result for each of the arguments, in processes, as many at once as there are cores."""
    jobs = min(len(arguments), os.cpu_count() or 1)
    with workers_of_this_process() as parent:
        return list(Parallel(n_jobs=jobs)(delayed(below)(parent, run, *each) for each in arguments))


def of_one_length(chains: Sequence[Chain]) -> list[Chain]:
    """Chains of different lengths cut to one, such that the most draws are kept in all.

    Where there are fewer cores than chains, some may not have begun when others are done.
    """
    longest_first = sorted(chains, key=len, reverse=True)
    kept = max(range(len(chains), 0, -1), key=lambda n: n * len(longest_first[n - 1]), default=0)
    return [chain.first(len(longest_first[kept - 1])) for chain in longest_first[:kept]]


def finished_chain(
    model: Model,
    sites: dict[str, torch.Tensor],
    seconds: float,
    stats: dict[str, NDArray[Any]],
) -> Chain:
    """The chain of these draws, with the log-density of each."""
    entries = model.n_objects**2 + 3 * len(model.data or ())
    at_once = max(1, min(AT_ONCE, MOST_AT_ONCE // entries))
    latent = {name: sites[name] for name in model.structure.latent}
    n = len(next(iter(latent.values())))
    parts = [
        log_densities(model, {name: values[rows] for name, values in latent.items()})
        for rows in torch.arange(n).split(at_once)
    ]
    log_likelihood, log_prior = (torch.cat(part).cpu().numpy() for part in zip(*parts, strict=True))
    found = model.relative(with_embedding(model, latent))
    return Chain(
        sites={name: values.cpu().numpy() for name, values in found.items()},
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        seconds=seconds,
        stats={"lp": log_likelihood + log_prior} | stats,
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
    sites = {name: np.stack([chain.sites[name] for chain in ran]) for name in ran[0].sites}
    X = sites.pop("X")
    axes = {
        name: model.structure.sites[name].axes(values.shape[2:]) for name, values in sites.items()
    }
    if model.structure.separable:
        order = align_draws(np.maximum(X, 0))
        X = np.take_along_axis(X, order[:, :, None], axis=3)
        sites = {name: _in_order(values, axes[name], order) for name, values in sites.items()}
    others = {name: SiteDraws(values, axes[name]) for name, values in sites.items()}
    result = in_order_of_importance(
        Fit(
            prior=prior,
            guide_family=method,
            training=None,
            seed=seed,
            names=data.names,
            model=model,
            posterior=Posterior(
                DrawnWeights(X),
                others,
                from_chains=True,
                sample_stats={
                    name: np.stack([chain.stats[name] for chain in ran]) for name in ran[0].stats
                },
            ),
            history=_history(ran, len(data)),
            converged=False,
            n_judgments=len(data),
            data_digest=data.digest(),
            fitted_guide=None,
            first_dimensions=first_dimensions,
            unjudged=unjudged_objects(data, prior),
            judgments_by_person=judgments_by_person(data, model.known_people),
        )
    )
    result.history["dimensions"] = result.n_dimensions
    return result


def _in_order(values: NDArray[Any], axes: tuple[str, ...], order: NDArray[np.intp]) -> NDArray[Any]:
    """Draws of a site with its dimensions, if it has any, in the order of each draw."""
    if "dimension" not in axes:
        return values
    axis = 2 + axes.index("dimension")
    shape = [*order.shape[:2], *(1,) * len(axes)]
    shape[axis] = order.shape[2]
    return np.take_along_axis(values, order.reshape(shape), axis=axis)


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
    n, structure = len(next(iter(sites.values()))), model.structure
    nesting = structure.max_plate_nesting
    # Draws become a plate left of "object"; sites with fewer plates have dims of size one.
    values = {}
    for name, v in sites.items():
        missing = nesting - (v.dim() - 1 - structure.sites[name].event_dim)
        values[name] = v.reshape(n, *(1,) * missing, *v.shape[1:])
    with pyro_locked(), torch.no_grad(), pyro.plate("draws", n, dim=-1 - nesting):
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
