"""The posterior of X as plain numbers: draws first, closed forms where they exist.

A posterior outlives the guide that it came from: it is what a saved fit holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm
from torch.distributions import constraints

from pyrovice.guides import Guide, LowRankGuide, MeanFieldGuide, PointGuide
from pyrovice.guides.drawing import draw_sites

Array = NDArray[np.float32]

# As many draws as are kept of a posterior without a closed form.
MANY_DRAWS = 500
# Fewer of a large embedding, so that they fit into 130 MB, but always enough for a quantile.
MOST_DRAWN = 2**25
ENOUGH_DRAWS = 100


class Posterior(Protocol):
    """What every kind of posterior can say about the m x d matrix X."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def can_be_zero(self) -> bool:
        """Whether a weight can be zero at all, with some probability between 0 and 1."""
        ...

    def draws(self, n: int, seed: int) -> Array:
        """Rectified draws, shape (n, m, d)."""
        ...

    def loc(self) -> Array:
        """Rectified posterior median."""
        ...

    def mean(self) -> Array:
        """E[relu X]."""
        ...

    def sd(self) -> Array:
        """Standard deviation of relu X."""
        ...

    def quantile(self, q: float) -> Array:
        """Quantile of relu X."""
        ...

    def zero_probability(self) -> NDArray[np.float64]:
        """P(X <= 0)."""
        ...

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> Self:
        """The posterior of some dimensions."""
        ...

    def arrays(self) -> dict[str, Array]:
        """What to save, by name."""
        ...


@dataclass(frozen=True, eq=False)
class NormalPosterior:
    """Independent Normals, the paper's variational family."""

    mu: Array
    sigma: Array
    can_be_zero = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.mu.shape

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(n, *self.shape, generator=generator)
        drawn.mul_(torch.from_numpy(self.sigma)).add_(torch.from_numpy(self.mu))
        return drawn.relu_().numpy()

    def loc(self) -> Array:
        return np.maximum(self.mu, 0)

    def mean(self) -> Array:
        z = self.mu / self.sigma
        return (self.mu * norm.cdf(z) + self.sigma * norm.pdf(z)).astype(np.float32)

    def sd(self) -> Array:
        mu, sigma = self.mu.astype(float), self.sigma.astype(float)
        z = mu / sigma
        second_moment = (mu**2 + sigma**2) * norm.cdf(z) + mu * sigma * norm.pdf(z)
        variance = second_moment - (mu * norm.cdf(z) + sigma * norm.pdf(z)) ** 2
        return np.sqrt(np.maximum(variance, 0)).astype(np.float32)

    def quantile(self, q: float) -> Array:
        return np.maximum(self.mu + np.float32(norm.ppf(q)) * self.sigma, 0)

    def zero_probability(self) -> NDArray[np.float64]:
        return ndtr(-self.mu.astype(float) / np.maximum(self.sigma, np.finfo(np.float32).tiny))

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> NormalPosterior:
        return NormalPosterior(self.mu[:, columns], self.sigma[:, columns])

    def arrays(self) -> dict[str, Array]:
        return {"mu": self.mu, "sigma": self.sigma}


@dataclass(frozen=True, eq=False)
class LowRankPosterior(NormalPosterior):
    """Normals that covary along a few directions; each by itself is a Normal."""

    factor: Array

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(seed)
        factor = torch.from_numpy(self.factor)
        own = torch.from_numpy(self.sigma).square() - factor.square().sum(0)
        drawn = torch.randn(n, *self.shape, generator=generator).mul_(own.clamp(min=0).sqrt())
        along = torch.randn(n, len(factor), generator=generator)
        drawn += (along @ factor.flatten(1)).reshape(drawn.shape)
        return drawn.add_(torch.from_numpy(self.mu)).relu_().numpy()

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> LowRankPosterior:
        return LowRankPosterior(
            self.mu[:, columns], self.sigma[:, columns], self.factor[:, :, columns]
        )

    def arrays(self) -> dict[str, Array]:
        return super().arrays() | {"factor": self.factor}


@dataclass(frozen=True, eq=False)
class LogNormalPosterior:
    """Independent LogNormals, the mean-field family of priors on positive weights."""

    log_mu: Array
    log_sigma: Array
    can_be_zero = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.log_mu.shape

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(n, *self.shape, generator=generator)
        drawn.mul_(torch.from_numpy(self.log_sigma)).add_(torch.from_numpy(self.log_mu))
        return drawn.exp_().numpy()

    def loc(self) -> Array:
        return np.exp(self.log_mu)

    def mean(self) -> Array:
        return np.exp(self.log_mu + self.log_sigma**2 / 2)

    def sd(self) -> Array:
        return self.mean() * np.sqrt(np.expm1(self.log_sigma**2))

    def quantile(self, q: float) -> Array:
        return np.exp(self.log_mu + np.float32(norm.ppf(q)) * self.log_sigma)

    def zero_probability(self) -> NDArray[np.float64]:
        return np.zeros(self.shape)

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> LogNormalPosterior:
        return LogNormalPosterior(self.log_mu[:, columns], self.log_sigma[:, columns])

    def arrays(self) -> dict[str, Array]:
        return {"log_mu": self.log_mu, "log_sigma": self.log_sigma}


@dataclass(frozen=True, eq=False)
class PointPosterior:
    """One value per entry, without uncertainty."""

    point: Array
    can_be_zero = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.point.shape

    def draws(self, n: int, seed: int) -> Array:
        return np.repeat(self.loc()[None], n, axis=0)

    def loc(self) -> Array:
        return np.maximum(self.point, 0)

    def mean(self) -> Array:
        return self.loc()

    def sd(self) -> Array:
        return np.zeros_like(self.point)

    def quantile(self, q: float) -> Array:
        return self.loc()

    def zero_probability(self) -> NDArray[np.float64]:
        return (self.point <= 0).astype(float)

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> PointPosterior:
        return PointPosterior(self.point[:, columns])

    def arrays(self) -> dict[str, Array]:
        return {"point": self.point}


@dataclass(frozen=True, eq=False)
class DrawnPosterior:
    """Draws of X, for guides whose marginals have no closed form here, and for chains.

    They have the shape (chains, draws, m, d); independent draws are one chain.
    """

    stored: Array

    @property
    def can_be_zero(self) -> bool:
        return bool((self.stored <= 0).any())

    @property
    def shape(self) -> tuple[int, int]:
        return self.stored.shape[2:]

    @property
    def pooled(self) -> Array:
        """The draws of all chains, (n, m, d)."""
        return self.stored.reshape(-1, *self.shape)

    def draws(self, n: int, seed: int) -> Array:
        kept = len(self.pooled)
        chosen = np.random.default_rng(seed).choice(kept, n, replace=n > kept)
        return np.maximum(self.pooled[chosen], 0)

    def loc(self) -> Array:
        return np.maximum(np.median(self.pooled, axis=0), 0)

    def mean(self) -> Array:
        return np.maximum(self.pooled, 0).mean(axis=0)

    def sd(self) -> Array:
        return np.maximum(self.pooled, 0).std(axis=0)

    def quantile(self, q: float) -> Array:
        return np.maximum(np.quantile(self.pooled, q, axis=0), 0).astype(np.float32)

    def zero_probability(self) -> NDArray[np.float64]:
        pooled = self.pooled
        below = (pooled <= 0).sum(axis=0)
        share = (below + 0.5) / (len(pooled) + 1)
        # Where no draw is below zero, the share says only how few draws there are; the tail of
        # a Normal with their mean and spread says more, and is never taken for less rare.
        spread = np.maximum(pooled.std(axis=0), np.finfo(np.float32).tiny)
        tail = ndtr(-pooled.mean(axis=0).astype(float) / spread)
        return np.where(below == 0, np.minimum(share, tail), share)

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> DrawnPosterior:
        return DrawnPosterior(self.stored[..., columns])

    def arrays(self) -> dict[str, Array]:
        return {"stored": self.stored}


# The kind of posterior that a file holds is known by the names of its arrays.
POSTERIORS: dict[frozenset[str], type] = {
    frozenset(field.name for field in fields(kind)): kind
    for kind in (
        *(NormalPosterior, LowRankPosterior, LogNormalPosterior),
        *(PointPosterior, DrawnPosterior),
    )
}


def posterior_of(guide: Guide, draws: int = MANY_DRAWS) -> Posterior:
    """The posterior that a guide stands for; draws where it has no closed form."""
    if isinstance(guide, PointGuide):
        return PointPosterior(_array(guide.marginal(guide.site("X")).v))
    if isinstance(guide, MeanFieldGuide):
        site = guide.site("X")
        loc, scale = _array(guide.loc.X), _array(guide.log_scale.X.exp())
        if isinstance(guide, LowRankGuide) and site.support is constraints.real:
            factor = _array(guide.directions())
            return LowRankPosterior(loc, np.sqrt(scale**2 + (factor**2).sum(axis=0)), factor)
        if not isinstance(guide, LowRankGuide) and site.support is constraints.real:
            return NormalPosterior(loc, scale)
        if not isinstance(guide, LowRankGuide) and site.is_positive:
            return LogNormalPosterior(loc, scale)
    entries = draw_sites(guide, 1)["X"].numel()
    X = _array(draw_sites(guide, min(draws, max(ENOUGH_DRAWS, MOST_DRAWN // entries)))["X"])
    # Autoguides can be points too.
    return PointPosterior(X[0]) if (X[0] == X).all() else DrawnPosterior(X[None])


def _array(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy().copy()
