"""Correlations of a trained guide, shrunk as far as the bound says.

A guide with a covariance has many more parameters than one without, and the noise of training in
them adds up: on 20 objects in 6 dimensions the 7,140 covariances of an AutoMultivariateNormal cost
13 nats that independent Normals with the same variances do not. So after training they are drawn
towards zero, with the variances kept, where that raises the bound.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from pyro.infer.autoguide import AutoLowRankMultivariateNormal, AutoMultivariateNormal
from torch import Tensor

from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.guides.low_rank import UNIT, LowRankGuide
from pyrovice.guides.sites import Guide
from pyrovice.model.model import Model

# What is left of every covariance; one leaves the guide as it was trained.
SHARES = (1.0, 0.75, 0.5, 0.35, 0.2, 0.1, 0.0)
# Draws that the bounds are compared by, the same for all shares.
PARTICLES = 48


@torch.no_grad()
def with_settled_correlations(guide: Guide, model: Model) -> Guide:
    """The guide with its covariances shrunk by what raises the bound most, changed in place."""
    shrink = _shrinking(guide)
    if shrink is None:
        return guide
    elbo = TwoTermELBO(max_plate_nesting=model.structure.max_plate_nesting)

    def bounds() -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            terms = [elbo.terms(model, guide) for _ in range(PARTICLES)]
        return torch.stack([likelihood - complexity for likelihood, complexity in terms])

    as_trained = bounds()
    best, most = 1.0, 0.0
    for share in SHARES[1:]:
        shrink(share)
        gained = bounds() - as_trained
        # Less than two standard errors may be chance.
        if gained.mean() > max(most, float(2 * gained.std() / PARTICLES**0.5)):
            best, most = share, float(gained.mean())
    shrink(best)
    return guide


def _shrinking(guide: Guide) -> Callable[[float], None] | None:
    """A function that leaves a share of the guide's covariances, and all of its variances."""
    if isinstance(guide, AutoMultivariateNormal):
        covariance = _covariance(guide)

        def of_all(share: float) -> None:
            shrunk = share * covariance + (1 - share) * covariance.diag().diag()
            factor = torch.linalg.cholesky(shrunk)
            guide.scale = factor.diag()
            guide.scale_tril = factor / factor.diag()[:, None]

        return of_all
    if isinstance(guide, AutoLowRankMultivariateNormal):
        factor, scale = guide.cov_factor.clone(), guide.scale.clone()

        def along_directions(share: float) -> None:
            widened = _widened(factor.square().sum(-1), share)
            guide.cov_factor.copy_(share**0.5 * factor / widened[:, None])
            guide.scale = scale * widened

        return along_directions
    if isinstance(guide, LowRankGuide) and hasattr(guide, "factor"):
        directions, log_scale = guide.factor.X.clone(), guide.log_scale.X.clone()

        def of_x(share: float) -> None:
            widened = _widened((UNIT * directions).square().sum(0), share)
            guide.factor.X.copy_(share**0.5 * directions / widened)
            guide.log_scale.X.copy_(log_scale + widened.log())

        return of_x
    return None


def _covariance(guide: AutoMultivariateNormal) -> Tensor:
    factor = guide.scale[:, None] * guide.scale_tril
    return factor @ factor.mT


def _widened(along: Tensor, share: float) -> Tensor:
    """By how much a scale grows where its directions shrink, so that the variance stays."""
    return (1 + (1 - share) * along).sqrt()
