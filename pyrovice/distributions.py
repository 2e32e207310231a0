"""The spike-and-slab density (paper, "Spike-and-slab prior")."""

from __future__ import annotations

import math

import torch
from pyro.distributions import TorchDistribution
from torch import Tensor
from torch.distributions import constraints
from torch.distributions.utils import broadcast_all

FAMILIES = ("normal", "laplace")


class SpikeAndSlab(TorchDistribution):
    """Mixture of a narrow and a wide density, both centred at zero.

    p(x) = π f(x; σ_spike) + (1 − π) f(x; σ_slab), where f is the Normal or the
    Laplace density with that scale. Unlike a generic mixture it has real
    support and a closed log-density, so autoguides, vectorised particles and
    NUTS take it as a latent.

    Parameters
    ----------
    spike, slab : Tensor or float
        The two scales.
    pi : Tensor or float
        Weight of the spike; may be one per dimension.
    family : {"normal", "laplace"}
        The density f.

    Examples
    --------
    >>> SpikeAndSlab(0.25, 1.0, 0.5).log_prob(torch.tensor(0.0)).exp()
    tensor(0.9974)
    """

    arg_constraints = {
        "spike": constraints.positive,
        "slab": constraints.positive,
        "pi": constraints.unit_interval,
    }
    support = constraints.real
    has_rsample = False

    def __init__(
        self,
        spike: Tensor | float,
        slab: Tensor | float,
        pi: Tensor | float,
        family: str = "normal",
        *,
        validate_args: bool | None = None,
    ) -> None:
        self.spike, self.slab, self.pi = broadcast_all(spike, slab, pi)
        self.family = family
        super().__init__(self.spike.shape, validate_args=validate_args)

    def expand(self, batch_shape: torch.Size, _instance: SpikeAndSlab | None = None) -> SpikeAndSlab:
        new = self._get_checked_instance(SpikeAndSlab, _instance)
        new.spike, new.slab, new.pi = (
            value.expand(batch_shape) for value in (self.spike, self.slab, self.pi)
        )
        new.family = self.family
        super(SpikeAndSlab, new).__init__(torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return torch.logaddexp(
            self.pi.log() + self._component(value, self.spike),
            torch.log1p(-self.pi) + self._component(value, self.slab),
        )

    def _component(self, value: Tensor, scale: Tensor) -> Tensor:
        if self.family == "normal":
            return -0.5 * (value / scale).square() - (scale.log() + 0.5 * math.log(2 * math.pi))
        return -value.abs() / scale - (2 * scale).log()

    def cdf(self, value: Tensor) -> Tensor:
        component = self._base(self.spike).cdf(value), self._base(self.slab).cdf(value)
        return self.pi * component[0] + (1 - self.pi) * component[1]

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        from_spike = torch.bernoulli(self.pi.expand(shape)).bool()
        scale = torch.where(from_spike, self.spike, self.slab)
        return self._base(scale).sample()

    def _base(self, scale: Tensor) -> torch.distributions.Distribution:
        family = torch.distributions.Normal if self.family == "normal" else (
            torch.distributions.Laplace
        )
        return family(torch.zeros_like(scale), scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return torch.zeros_like(self.spike)

    @property
    def variance(self) -> Tensor:
        second_moment = self.pi * self.spike**2 + (1 - self.pi) * self.slab**2
        return second_moment if self.family == "normal" else 2 * second_moment
