"""Priors that treat all entries of X alike."""

from __future__ import annotations

from dataclasses import dataclass

import pyro
import torch
from pyro.distributions.torch_distribution import TorchDistributionMixin
from torch import Tensor

from pyrovice.errors import PriorError


def sample_entrywise(
    distribution: TorchDistributionMixin, n_objects: int, dimensions: int
) -> Tensor:
    """Sample the site ``"X"``: one entry per object and dimension."""
    with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
        return pyro.sample("X", distribution)


@dataclass(frozen=True, repr=False)
class Entrywise:
    """Any univariate, continuous Pyro distribution as the prior of every entry."""

    distribution: TorchDistributionMixin

    def __post_init__(self) -> None:
        d = self.distribution
        if d.event_shape or d.batch_shape:
            raise PriorError(
                f"{d} has batch shape {tuple(d.batch_shape)} and event shape "
                f"{tuple(d.event_shape)}; expected a univariate distribution with scalar "
                "parameters, for example dist.Laplace(0., 0.3). For parameters by object or "
                "dimension write a function: def prior(n_objects, dimensions): with "
                "pyro.plate('object', n_objects, dim=-2), pyro.plate('dimension', dimensions, "
                "dim=-1): return pyro.sample('X', dist.Normal(locs, scales))."
            )
        if d.support is not None and d.support.is_discrete:
            raise PriorError(f"{d} is discrete; an embedding needs a continuous prior.")

    def __repr__(self) -> str:
        return repr(self.distribution)

    @property
    def no_mode(self) -> str | None:
        """Why there is no most probable value, if there is none."""
        if getattr(self.distribution.support, "lower_bound", None) != 0:
            return None
        near, nearer = self.distribution.log_prob(torch.tensor([1e-6, 1e-12]))
        return "its density is infinite at zero" if nearer > near + 1 else None

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        return sample_entrywise(self.distribution, n_objects, dimensions)
