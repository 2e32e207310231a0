"""What a fit learned about its prior: the posterior of the sites above X."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyro
import torch
from numpy.typing import NDArray
from pyro import poutine
from torch import Tensor
from torch.distributions import biject_to

from pyrovice.guides import Guide, latent_sites
from pyrovice.guides.drawing import draw_sites
from pyrovice.model.model import Model
from pyrovice.results.posterior import MOST_DRAWN

INTERVAL = (0.05, 0.95)
DRAWS = 1000
# Draws of X that hyperparameters are drawn for, bounded by the entries held at once.
MOST_DRAWS_OF_X = 100
MOST_ENTRIES = 2**19
# Metropolis steps per draw of X: the first forget where they began and find their stride.
FORGOTTEN = 150
KEPT = 40
FIRST_LOG_STRIDE = -1.5
# The best share for one variable at a time.
ACCEPTED_SHARE = 0.44


@dataclass(frozen=True, eq=False)
class Hyperposterior:
    """Draws of each hyperparameter: (n,) if all dimensions share it, else (n, dimensions)."""

    draws: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> Hyperposterior:
        """That of some dimensions."""
        return Hyperposterior(
            {name: d[:, columns] if d.ndim == 2 else d for name, d in self.draws.items()}
        )

    def table(self) -> pd.DataFrame:
        """Mean, spread and 90 % interval of each."""
        rows = []
        for name, draws in self.draws.items():
            each = {"all": draws} if draws.ndim == 1 else dict(enumerate(draws.T))
            for dimension, values in each.items():
                low, high = np.quantile(values, INTERVAL)
                rows.append((name, dimension, values.mean(), values.std(), low, high))
        columns = ["hyperparameter", "dimension", "mean", "sd", "5 %", "95 %"]
        return pd.DataFrame(rows, columns=columns).set_index(columns[:2]).astype(float)


def hyperparameters(model: Model) -> list[str]:
    """The latent sites other than X that have no value per object."""
    return [
        name
        for name, node in latent_sites(model).items()
        if name != "X"
        and node["fn"].event_dim == 0
        and {frame.name for frame in node["cond_indep_stack"]} <= {"dimension"}
    ]


def hyperposterior_of(guide: Guide, model: Model) -> Hyperposterior:
    """What is known of the hyperparameters, given what a guide knows of X.

    A guide's own opinion of them is too sure: it takes the values that it holds for
    zeros, which are arbitrary below the rectifier, for evidence. So they are drawn
    anew, given draws of [X]₊ and nothing else about X. A guide that is a point, or
    that has sites per object besides X, is taken at its word.
    """
    names = hyperparameters(model)
    if not names:
        return Hyperposterior()
    entries = model.n_objects * model.dimensions
    drawn = draw_sites(guide, min(DRAWS, max(MOST_DRAWS_OF_X, MOST_DRAWN // entries)))
    if drawn["X"].std(0).max() > 0 and len(names) == len(drawn) - 1:
        try:
            return Hyperposterior(_given_rectified(model, drawn, names))
        except NotImplementedError:
            # A distribution that cannot say how probable a zero is.
            pass
    return Hyperposterior({name: drawn[name].cpu().numpy() for name in names})


def _given_rectified(
    model: Model, drawn: dict[str, Tensor], names: list[str]
) -> dict[str, NDArray[np.float32]]:
    """Metropolis within Gibbs for several draws of X at once, one site after the other."""
    n = max(2, min(len(drawn["X"]), MOST_DRAWS_OF_X, MOST_ENTRIES // drawn["X"][0].numel()))
    X = drawn["X"][:n]
    to_support = {name: biject_to(latent_sites(model)[name]["fn"].support) for name in names}
    free = {name: to_support[name].inv(drawn[name][:n]).reshape(n, 1, -1) for name in names}

    def log_density(free: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Of [X]₊ by draw and dimension, and of each site with its Jacobian."""
        values = {name: to_support[name](u) for name, u in free.items()}
        with pyro.plate("draws", n, dim=-3):
            trace = poutine.trace(poutine.condition(model.prior, values | {"X": X})).get_trace(
                model.n_objects, model.dimensions
            )
        prior = trace.nodes["X"]["fn"]
        zero = prior.cdf(torch.zeros_like(X[:, :1])).log() if (X <= 0).any() else 0.0
        of_x = torch.where(X > 0, prior.log_prob(X), zero).sum(-2, keepdim=True)
        of_site = {
            name: trace.nodes[name]["fn"].log_prob(values[name])
            + to_support[name].log_abs_det_jacobian(free[name], values[name])
            for name in names
        }
        return of_x, of_site

    kept: dict[str, list[Tensor]] = {name: [] for name in names}
    with torch.no_grad(), torch.random.fork_rng(devices=[]), pyro.validation_enabled(False):
        torch.manual_seed(1)
        log_stride = {name: torch.full_like(u[:1], FIRST_LOG_STRIDE) for name, u in free.items()}
        of_x, of_site = log_density(free)
        for step in range(FORGOTTEN + KEPT):
            for name, u in free.items():
                moved = u + log_stride[name].exp() * torch.randn_like(u)
                of_x_there, of_site_there = log_density(free | {name: moved})
                gain = of_x_there - of_x
                if u.shape[-1] == 1:
                    gain = gain.sum(-1, keepdim=True)
                gain = gain + of_site_there[name] - of_site[name]
                accepted = gain > torch.rand_like(gain).log()
                free[name] = torch.where(accepted, moved, u)
                of_x = torch.where(accepted, of_x_there, of_x)
                of_site[name] = torch.where(accepted, of_site_there[name], of_site[name])
                if step < FORGOTTEN:
                    surplus = accepted.float().mean(0, keepdim=True) - ACCEPTED_SHARE
                    log_stride[name] += surplus / (step + 1) ** 0.5
                else:
                    kept[name].append(to_support[name](free[name]))
    return {
        name: torch.cat(values).reshape(n * KEPT, *drawn[name].shape[1:]).cpu().numpy()
        for name, values in kept.items()
    }
