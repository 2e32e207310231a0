"""How a fitted or half-fitted embedding is scored, the same way for every contender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

import pyrovice as pv
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.results import pruning
from pyrovice.results.matching import recovered
from pyrovice.results.posterior import Posterior
from pyrovice.results.prediction import predict
from pyrovice.results.scores import hits, log_score
from pyrovice.results.weights import NormalWeights


@dataclass(frozen=True)
class Score:
    """Held-out scores of the kept dimensions, and the bound."""

    cross_entropy: float
    accuracy: float
    kept: int
    loss: float
    recovered: float | None = None

    def cells(self) -> str:
        """The columns `nats | accuracy | kept | −ELBO/n | true dimensions found`."""
        found = "" if self.recovered is None else f"{self.recovered:.0%}"
        return (
            f"{self.cross_entropy:.4f} | {self.accuracy:.4f} | {self.kept} | {self.loss:.4f} | "
            f"{found}"
        )


HEADER = "held-out nats | accuracy | kept | −ELBO/n | true dimensions found"


def score(
    posterior: Posterior,
    held_out: pv.Triplets,
    loss: float,
    truth: NDArray[np.float64] | None = None,
    draws: int = 50,
) -> Score:
    """Score the dimensions that are kept."""
    pruned = posterior.select(np.flatnonzero(pruning.kept(posterior)))
    # Predictions ask the choice only, and the prior makes no difference.
    model = pv.Model(pv.SpikeSlab(), *pruned.shape)
    p = predict(model, pruned, held_out, draws, seed=0)
    return Score(
        float(-log_score(p, held_out.odd).mean()),
        float(hits(p, held_out.odd).mean()),
        pruned.shape[1],
        loss,
        None if truth is None else recovered(truth, pruned.loc()),
    )


@torch.no_grad()
def bound(fit: pv.Fit, draws: int = 8) -> float:
    """−ELBO/n of a fit over all its dimensions, averaged over some draws."""
    torch.manual_seed(0)
    log_likelihood, complexity = TwoTermELBO(num_particles=draws).terms(fit.model, fit.guide)
    return (complexity - log_likelihood).item() / fit.n_judgments


@torch.no_grad()
def bound_of(
    mu: torch.Tensor, sigma: torch.Tensor, prior: pv.SpikeSlab, data: pv.Triplets
) -> float:
    """−ELBO/n of means and scales that pyrovice did not fit."""
    model = pv.Model(prior, data.n_objects, mu.shape[1], data)
    guide = pv.MeanField()(model)
    guide.start_at(mu, sigma)
    torch.manual_seed(0)
    log_likelihood, complexity = TwoTermELBO(num_particles=4).terms(model, guide)
    return (complexity - log_likelihood).item() / len(data)


def normal(mu: torch.Tensor, log_sigma: torch.Tensor) -> Posterior:
    """The posterior of a hand-written loop."""
    sigma = log_sigma.detach().exp().numpy()
    return Posterior(NormalWeights(mu.detach().numpy().copy(), sigma))
