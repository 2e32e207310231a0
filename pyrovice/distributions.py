"""Two distributions that Pyro lacks: the prior of an entry, and the odd one of three."""

from __future__ import annotations

import math

import torch
from pyro.distributions import Categorical, TorchDistribution
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
        component = self._base(self.spike).cdf(value), self._base(self.slab).cdf(value)
        return self.pi * component[0] + (1 - self.pi) * component[1]

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        from_spike = torch.rand(shape, device=self.pi.device) < self.pi
        scale = torch.where(from_spike, self.spike, self.slab)
        return self._base(scale).sample()

    def _base(self, scale: Tensor) -> torch.distributions.Distribution:
        family = (
            torch.distributions.Normal if self.family == "normal" else (torch.distributions.Laplace)
        )
        return family(torch.zeros_like(scale), scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.spike.new_zeros(self.batch_shape)

    @property
    def variance(self) -> Tensor:
        second_moment = (self.pi * self.spike**2 + (1 - self.pi) * self.slab**2).expand(
            self.batch_shape
        )
        return second_moment if self.family == "normal" else 2 * second_moment


class OddOneOut(Categorical):
    """A Categorical over the three positions, from normalised log-probabilities.

    The same distribution as ``Categorical(logits=log_p)``. It does not normalise
    again, and it works along the memory of `log_p`, in which each of the three
    columns lies in one piece, which is faster for many judgments.

    Parameters
    ----------
    log_p : Tensor of shape (..., 3)
        Log-probability of each position being the odd one.

    Examples
    --------
    >>> OddOneOut(torch.tensor([0.2, 0.3, 0.5]).log()).log_prob(torch.tensor(2)).exp()
    tensor(0.5000)
    """

    def __init__(self, log_p: Tensor, *, validate_args: bool | None = None) -> None:
        self.logits = self._param = log_p
        self._num_events = 3
        torch.distributions.Distribution.__init__(
            self, log_p.shape[:-1], validate_args=validate_args
        )

    def expand(self, batch_shape: torch.Size, _instance: OddOneOut | None = None) -> OddOneOut:
        return OddOneOut(self.logits.expand((*batch_shape, 3)), validate_args=self._validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        if self.logits.dim() == 1:
            return super().log_prob(value)
        rows = self.logits.mT
        value = value.expand(torch.broadcast_shapes(value.shape, self.batch_shape))
        rows = rows.expand((*value.shape[:-1], *rows.shape[-2:]))
        return rows.gather(-2, value.unsqueeze(-2)).squeeze(-2)
