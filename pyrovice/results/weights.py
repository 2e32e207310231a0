"""The posterior of X as plain numbers: draws first, closed forms where they exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from torch.distributions import constraints

from pyrovice.data.validation import whole_seed
from pyrovice.guides import Guide, LowRankGuide, PointGuide, SiteGuide

Array = NDArray[np.float32]

# Standard deviation that a point starts another fit with.
POINT_SCALE = 0.1


class Weights(Protocol):
    """What every kind of posterior can say about the m x d matrix X."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def can_be_zero(self) -> bool:
        """Whether a weight can be zero at all, with some probability between 0 and 1."""
        ...

    @property
    def is_point(self) -> bool:
        """Whether there is one value per entry, without uncertainty."""
        ...

    def draws(self, n: int, seed: int) -> Array:
        """Rectified draws, shape (n, m, d)."""
        ...

    def marginals(self) -> tuple[Array, Array]:
        """Centre of every entry, and its scale on the line on which guides live."""
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
class NormalWeights:
    """Independent Normals, the paper's variational family."""

    mu: Array
    sigma: Array
    can_be_zero = True
    is_point = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.mu.shape

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(whole_seed(seed))
        drawn = torch.randn(n, *self.shape, generator=generator)
        drawn.mul_(torch.from_numpy(self.sigma)).add_(torch.from_numpy(self.mu))
        return drawn.relu_().numpy()

    def loc(self) -> Array:
        return np.maximum(self.mu, 0)

    def mean(self) -> Array:
        z = self.mu / self.sigma
        return (self.mu * _normal_cdf(z) + self.sigma * _normal_density(z)).astype(np.float32)

    def sd(self) -> Array:
        mu, sigma = self.mu.astype(float), self.sigma.astype(float)
        z = mu / sigma
        second_moment = (mu**2 + sigma**2) * _normal_cdf(z) + mu * sigma * _normal_density(z)
        variance = second_moment - (mu * _normal_cdf(z) + sigma * _normal_density(z)) ** 2
        return np.sqrt(np.maximum(variance, 0)).astype(np.float32)

    def quantile(self, q: float) -> Array:
        return np.maximum(self.mu + np.float32(ndtri(q)) * self.sigma, 0)

    def zero_probability(self) -> NDArray[np.float64]:
        return ndtr(-self.mu.astype(float) / np.maximum(self.sigma, np.finfo(np.float32).tiny))

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> NormalWeights:
        return NormalWeights(self.mu[:, columns], self.sigma[:, columns])

    def with_rows(self, loc: Array, scale: Array) -> NormalWeights:
        """The posterior of further objects too."""
        return NormalWeights(np.concatenate([self.mu, loc]), np.concatenate([self.sigma, scale]))

    def arrays(self) -> dict[str, Array]:
        return {"mu": self.mu, "sigma": self.sigma}

    def marginals(self) -> tuple[Array, Array]:
        return self.mu, self.sigma


@dataclass(frozen=True, eq=False)
class LowRankWeights(NormalWeights):
    """Normals that covary along a few directions; each by itself is a Normal."""

    factor: Array

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(whole_seed(seed))
        factor = torch.from_numpy(self.factor)
        own = torch.from_numpy(self.sigma).square() - factor.square().sum(0)
        drawn = torch.randn(n, *self.shape, generator=generator).mul_(own.clamp(min=0).sqrt())
        along = torch.randn(n, len(factor), generator=generator)
        drawn += (along @ factor.flatten(1)).reshape(drawn.shape)
        return drawn.add_(torch.from_numpy(self.mu)).relu_().numpy()

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> LowRankWeights:
        return LowRankWeights(
            self.mu[:, columns], self.sigma[:, columns], self.factor[:, :, columns]
        )

    def with_rows(self, loc: Array, scale: Array) -> LowRankWeights:
        own = super().with_rows(loc, scale)
        idle = np.zeros((len(self.factor), *loc.shape), np.float32)
        return LowRankWeights(own.mu, own.sigma, np.concatenate([self.factor, idle], axis=1))

    def arrays(self) -> dict[str, Array]:
        return super().arrays() | {"factor": self.factor}


@dataclass(frozen=True, eq=False)
class LogNormalWeights:
    """Independent LogNormals, the mean-field family of priors on positive weights."""

    log_mu: Array
    log_sigma: Array
    can_be_zero = False
    is_point = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.log_mu.shape

    def draws(self, n: int, seed: int) -> Array:
        generator = torch.Generator().manual_seed(whole_seed(seed))
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
        return np.exp(self.log_mu + np.float32(ndtri(q)) * self.log_sigma)

    def zero_probability(self) -> NDArray[np.float64]:
        return np.zeros(self.shape)

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> LogNormalWeights:
        return LogNormalWeights(self.log_mu[:, columns], self.log_sigma[:, columns])

    def arrays(self) -> dict[str, Array]:
        return {"log_mu": self.log_mu, "log_sigma": self.log_sigma}

    def marginals(self) -> tuple[Array, Array]:
        return np.exp(self.log_mu), self.log_sigma


@dataclass(frozen=True, eq=False)
class PointWeights:
    """One value per entry, without uncertainty."""

    point: Array
    can_be_zero = False
    is_point = True

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

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> PointWeights:
        return PointWeights(self.point[:, columns])

    def arrays(self) -> dict[str, Array]:
        return {"point": self.point}

    def marginals(self) -> tuple[Array, Array]:
        return self.loc(), np.full_like(self.point, POINT_SCALE)


@dataclass(frozen=True, eq=False)
class DrawnWeights:
    """Draws of X, for guides whose marginals have no closed form here, and for chains.

    They have the shape (chains, draws, m, d); independent draws are one chain.
    """

    stored: Array
    is_point = False

    @property
    def can_be_zero(self) -> bool:
        return bool((self.stored <= 0).any())

    @property
    def shape(self) -> tuple[int, int]:
        return self.stored.shape[2:]

    @property
    def pooled(self) -> Array:
        """The draws of all chains, (n, m, d)."""
        chains, draws = self.stored.shape[:2]
        return self.stored.reshape(chains * draws, *self.shape)

    def draws(self, n: int, seed: int) -> Array:
        return np.maximum(self.pooled[chosen_draws(len(self.pooled), n, seed)], 0)

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

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> DrawnWeights:
        return DrawnWeights(self.stored[..., columns])

    def arrays(self) -> dict[str, Array]:
        return {"stored": self.stored}

    def marginals(self) -> tuple[Array, Array]:
        loc, scale = self.pooled.mean(axis=0), self.pooled.std(axis=0)
        return loc, np.maximum(scale, np.finfo(np.float32).eps)


# The kind of posterior that a file holds is known by the names of its arrays.
KINDS: dict[frozenset[str], type] = {
    frozenset(field.name for field in fields(kind)): kind
    for kind in (NormalWeights, LowRankWeights, LogNormalWeights, PointWeights, DrawnWeights)
}


def _normal_cdf(z: NDArray[np.floating]) -> NDArray[np.float64]:
    return ndtr(np.asarray(z, np.float64))


def _normal_density(z: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.exp(-np.square(z, dtype=np.float64) / 2) / np.sqrt(2 * np.pi)


def chosen_draws(have: int, n: int, seed: int) -> NDArray[np.intp]:
    """Which of the draws that there are to take, each once as long as they last."""
    return np.random.default_rng(seed).choice(have, n, replace=n > have)


def closed_form(guide: Guide) -> Weights | None:
    """The posterior of X that a guide stands for, if it has a closed form."""
    if not isinstance(guide, SiteGuide) or "X" not in {site.name for site in guide.sites}:
        return None
    site = guide.site("X")
    if not site.is_entrywise:
        return None
    if isinstance(guide, PointGuide):
        return PointWeights(array_of(guide.marginal(site).v))
    loc, scale = array_of(guide.loc.X), array_of(guide.log_scale.X.exp())
    if isinstance(guide, LowRankGuide):
        if site.support is not constraints.real:
            return None
        factor = array_of(guide.directions())
        return LowRankWeights(loc, np.sqrt(scale**2 + (factor**2).sum(axis=0)), factor)
    if site.support is constraints.real:
        return NormalWeights(loc, scale)
    return LogNormalWeights(loc, scale) if site.is_positive else None


def array_of(tensor: torch.Tensor) -> Array:
    """The numbers of a tensor, as a copy."""
    return tensor.detach().cpu().numpy().copy()
