"""The regularised horseshoe as a density of one variable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from pyro.distributions import TorchDistribution
from torch import Tensor
from torch.distributions import constraints
from torch.distributions.utils import broadcast_all

EULER_GAMMA = 0.5772156649015329
# Enough for float32 on either side of u = 1.
SERIES_TERMS = 14
FRACTION_TERMS = 24
# Where closed forms that are 0/0 at r = 1 lose digits.
NEAR_ONE = 0.02
CDF_NODES = 200


class RegularizedHorseshoe(TorchDistribution):
    """The horseshoe with its tails cut off, as a density of one variable.

    p(x) ∝ N(x; 0, slab²) · ∫ N(x; 0, τ²λ²) HalfCauchy(λ; 1) dλ. The integral is
    exp(u) E₁(u) / (τ √(2π³)) with u = x²/2τ² and the exponential integral E₁, and
    the whole integrates to (2/π) arccos(r)/√(1 − r²) with r = τ/slab.

    Parameters
    ----------
    tau : Tensor or float
        The global scale.
    slab : Tensor or float
        Scale of the Normal factor that bounds the tails.

    Examples
    --------
    >>> RegularizedHorseshoe(0.1, 1.0).log_prob(torch.tensor([0.01, 0.1, 1.0]))
    tensor([ 1.8578,  0.2146, -4.1317])
    """

    arg_constraints = {"tau": constraints.positive, "slab": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(
        self, tau: Tensor | float, slab: Tensor | float, *, validate_args: bool | None = None
    ) -> None:
        self.tau, self.slab = broadcast_all(tau, slab)
        super().__init__(self.tau.shape, validate_args=validate_args)

    def expand(
        self, batch_shape: torch.Size, _instance: RegularizedHorseshoe | None = None
    ) -> RegularizedHorseshoe:
        new = self._get_checked_instance(RegularizedHorseshoe, _instance)
        new.tau, new.slab = self.tau, self.slab
        super(RegularizedHorseshoe, new).__init__(torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # The density is infinite at zero itself, where no draw ever is but numbers may be.
        u = (0.5 * (value / self.tau).square()).clamp(min=torch.finfo(value.dtype).tiny)
        log_norm = self.tau.log() + 0.5 * math.log(2 * math.pi**3) + self._log_mass()
        return log_scaled_exp1(u) - 0.5 * (value / self.slab).square() - log_norm

    def _log_mass(self) -> Tensor:
        """Log of E[(1 + r²λ²)^(−1/2)] over λ ~ HalfCauchy(1)."""
        r = self.tau / self.slab
        # arccos and arccosh are one analytic function, and so is its square root's quotient;
        # near r = 1 both are 0/0 and the series takes over.
        low, high = r.clamp(max=1 - NEAR_ONE), r.clamp(min=1 + NEAR_ONE)
        below = low.arccos() / (1 - low**2).sqrt()
        above = high.arccosh() / (high**2 - 1).sqrt()
        near = 1 - (r - 1) / 3 + 2 * (r - 1) ** 2 / 15
        mass = torch.where(r < 1 - NEAR_ONE, below, torch.where(r > 1 + NEAR_ONE, above, near))
        return (2 / math.pi * mass).log()

    def cdf(self, value: Tensor) -> Tensor:
        # A mixture of Normals over the local scales λ = tan(angle), by Gauss-Legendre.
        nodes, weights = np.polynomial.legendre.leggauss(CDF_NODES)
        angle = torch.as_tensor(0.25 * np.pi * (nodes + 1)).to(value)
        wide = self.tau.unsqueeze(-1) * angle.tan()
        cut = (1 + (wide / self.slab.unsqueeze(-1)).square()).rsqrt()
        weight = torch.as_tensor(weights).to(value) * cut
        below = torch.special.ndtr(value.unsqueeze(-1) / (wide * cut))
        return (weight * below).sum(-1) / weight.sum(-1)

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        tau, slab = self.tau.expand(shape), self.slab.expand(shape)
        # Local scales from the half-Cauchy, kept with the probability that the tail leaves them.
        scale = torch.zeros_like(tau)
        todo = torch.ones(shape, dtype=torch.bool, device=tau.device)
        while todo.any():
            wide = tau * torch.tan(0.5 * math.pi * torch.rand_like(tau))
            cut = (1 + (wide / slab).square()).rsqrt()
            accepted = todo & (torch.rand_like(tau) < cut)
            scale = torch.where(accepted, wide * cut, scale)
            todo &= ~accepted
        return scale * torch.randn_like(tau)


class LogScaledExp1(torch.autograd.Function):
    """log(exp(u) E₁(u)) and its derivative 1 − 1/(u exp(u) E₁(u))."""

    # So that it can be computed for several chains at once.
    generate_vmap_rule = True

    @staticmethod
    def forward(u: Tensor) -> tuple[Tensor, Tensor]:
        scaled = torch.where(u < 1, _exp1_series(u.clamp(max=1)), _exp1_fraction(u.clamp(min=1)))
        return scaled.log(), scaled

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> Tensor:
        u, scaled = ctx.saved_tensors
        return grad * (1 - 1 / (u * scaled))


def log_scaled_exp1(u: Tensor) -> Tensor:
    """log(exp(u) E₁(u)) for positive u, where E₁ is the exponential integral."""
    return LogScaledExp1.apply(u)[0]


def _exp1_series(u: Tensor) -> Tensor:
    """exp(u) E₁(u) by its power series, for u up to 1."""
    total, power = torch.zeros_like(u), torch.ones_like(u)
    for k in range(1, SERIES_TERMS):
        power = power * (-u / k)
        total = total - power / k
    return u.exp() * (total - u.log() - EULER_GAMMA)


def _exp1_fraction(u: Tensor) -> Tensor:
    """exp(u) E₁(u) by its continued fraction, for u from 1 on."""
    tail = u + (2 * FRACTION_TERMS + 1)
    for k in range(FRACTION_TERMS, 0, -1):
        tail = u + (2 * k - 1) - k**2 / tail
    return 1 / tail
