"""A narrow and a wide density: the paper's prior of an entry."""

from __future__ import annotations

import math

import torch
from pyro.distributions import TorchDistribution
from torch import Tensor
from torch.distributions import constraints
from torch.distributions.utils import broadcast_all

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
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

    def expand(
        self, batch_shape: torch.Size, _instance: SpikeAndSlab | None = None
    ) -> SpikeAndSlab:
        # The parameters keep their own, usually empty, shape and broadcast where they are
        # used: their logarithms are then taken once and not for every entry.
        new = self._get_checked_instance(SpikeAndSlab, _instance)
        new.spike, new.slab, new.pi, new.family = self.spike, self.slab, self.pi, self.family
        super(SpikeAndSlab, new).__init__(torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        size = value.square() if self.family == "normal" else value.abs()
        return torch.logaddexp(
            self._component(size, self.spike, self.pi.log()),
            self._component(size, self.slab, torch.log1p(-self.pi)),
        )

    def _component(self, size: Tensor, scale: Tensor, log_weight: Tensor) -> Tensor:
        """Log of weight times density, from x² (normal) or from abs(x) (laplace)."""
        if self.family == "normal":
            return size * (-0.5 / scale**2) + (log_weight - scale.log() - LOG_ROOT_TWO_PI)
        return size * (-1 / scale) + (log_weight - (2 * scale).log())

    def cdf(self, value: Tensor) -> Tensor:
        return self.pi * self._below(value / self.spike) + (1 - self.pi) * self._below(
            value / self.slab
        )

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        from_spike = torch.rand(shape, device=self.pi.device) < self.pi
        scale = torch.where(from_spike, self.spike, self.slab)
        if self.family == "normal":
            return scale * torch.randn_like(scale)
        # Two exponential waiting times differ by a Laplace variable.
        return scale * (
            torch.empty_like(scale).exponential_() - torch.empty_like(scale).exponential_()
        )

    def _below(self, z: Tensor) -> Tensor:
        """Mass of the standard density below z."""
        if self.family == "normal":
            return torch.special.ndtr(z)
        return torch.where(z < 0, 0.5 * z.clamp(max=0).exp(), 1 - 0.5 * (-z).clamp(max=0).exp())

    @property
    def mean(self) -> Tensor:
        return self.spike.new_zeros(self.batch_shape)

    @property
    def variance(self) -> Tensor:
        second_moment = (self.pi * self.spike**2 + (1 - self.pi) * self.slab**2).expand(
            self.batch_shape
        )
        return second_moment if self.family == "normal" else 2 * second_moment


class OneSidedSpikeAndSlab(SpikeAndSlab):
    """Spike and slab above zero, one half-Normal of the same mass below.

    Rectified, it is the rectified :class:`SpikeAndSlab`: which values stand for its
    zeros makes no difference. It matters to a guide that learns the parameters:
    values below zero say nothing about them, except for the scale at which the two
    halves meet.

    Examples
    --------
    >>> OneSidedSpikeAndSlab(0.25, 1.0, 0.5).log_prob(torch.tensor([-0.01, 0.0, 0.01])).exp()
    tensor([0.9970, 0.9974, 0.9967])
    """

    def expand(
        self, batch_shape: torch.Size, _instance: SpikeAndSlab | None = None
    ) -> OneSidedSpikeAndSlab:
        instance = self._get_checked_instance(OneSidedSpikeAndSlab, _instance)
        return super().expand(batch_shape, instance)

    def log_prob(self, value: Tensor) -> Tensor:
        at_zero = super().log_prob(torch.zeros_like(self.pi))
        # The half-Normal that has half of the mass and this height at zero.
        precision = 2 * math.pi * (2 * at_zero).exp()
        below = at_zero - 0.5 * precision * value.square()
        return torch.where(value > 0, super().log_prob(value), below)

    def cdf(self, value: Tensor) -> Tensor:
        height = super().log_prob(torch.zeros_like(self.pi)).exp()
        below = torch.special.ndtr(value * height * math.sqrt(2 * math.pi))
        return torch.where(value > 0, super().cdf(value), below)

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        drawn = super().sample(sample_shape)
        height = super().log_prob(torch.zeros_like(self.pi)).exp()
        below = -torch.randn_like(drawn).abs() / (height * math.sqrt(2 * math.pi))
        return torch.where(drawn > 0, drawn, below)

    @property
    def mean(self) -> Tensor:
        per_scale = 1 / math.sqrt(2 * math.pi) if self.family == "normal" else 0.5
        above = per_scale * (self.pi * self.spike + (1 - self.pi) * self.slab)
        height = super().log_prob(torch.zeros_like(self.pi)).exp()
        return (above - 1 / (2 * math.pi * height)).expand(self.batch_shape)

    @property
    def variance(self) -> Tensor:
        height = super().log_prob(torch.zeros_like(self.pi)).exp()
        below = 1 / (2 * math.pi * height**2)
        return 0.5 * (super().variance + below) - self.mean**2


class PositiveSpikeAndSlab(SpikeAndSlab):
    """A spike and slab of positive numbers: the size of a value of :class:`SpikeAndSlab`.

    Examples
    --------
    >>> PositiveSpikeAndSlab(0.25, 1.0, 0.5).log_prob(torch.tensor(1e-6)).exp()
    tensor(1.9947)
    """

    support = constraints.positive  # type: ignore[assignment]

    def expand(
        self, batch_shape: torch.Size, _instance: SpikeAndSlab | None = None
    ) -> PositiveSpikeAndSlab:
        instance = self._get_checked_instance(PositiveSpikeAndSlab, _instance)
        return super().expand(batch_shape, instance)

    def log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(value) + math.log(2)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * super().cdf(value) - 1

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        return super().sample(sample_shape).abs()

    @property
    def mean(self) -> Tensor:
        per_scale = math.sqrt(2 / math.pi) if self.family == "normal" else 1.0
        return (per_scale * (self.pi * self.spike + (1 - self.pi) * self.slab)).expand(
            self.batch_shape
        )

    @property
    def variance(self) -> Tensor:
        return super().variance - self.mean**2
