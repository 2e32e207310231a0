"""Normals that vary together, along a few directions."""

from __future__ import annotations

from dataclasses import dataclass

import pyro
import pyro.distributions as dist
import torch
from pyro.distributions.transforms import Transform
from torch import Tensor
from torch.distributions import biject_to

from pyrovice.errors import GuideError
from pyrovice.guides.mean_field import MeanFieldGuide
from pyrovice.model.model import Model
from pyrovice.model.structure import Site
from pyrovice.storage.registry import saved

# Directions relative to the scales, for a factor of one. Their gradients are mostly noise, of which
# Adam makes full steps: longer ones cost more of the bound than the directions are worth.
UNIT = 0.2


@saved
@dataclass(frozen=True)
class LowRank:
    """A Normal on all of X at once, whose entries covary along `rank` directions.

    The covariance of the m·d entries is W Wᵀ + D with W of `rank` columns and D
    diagonal. Where one weight can grow as another falls, mean-field intervals are
    too narrow and these are less so, for `rank` times as many parameters. Further
    sites of the prior, such as a learned π, stay independent.

    Parameters
    ----------
    rank : int
        Number of directions.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> guide = pv.guides.LowRank(5)(pv.Model(pv.SpikeSlab(), 80, 7, example.triplets))
    >>> guide.factor.X.shape
    torch.Size([5, 80, 7])
    """

    rank: int

    def __post_init__(self) -> None:
        if not (isinstance(self.rank, int) and self.rank >= 1) or isinstance(self.rank, bool):
            raise GuideError(
                f"LowRank(rank={self.rank!r}); expected a positive whole number, for example "
                "LowRank(10)."
            )

    def __call__(self, model: Model) -> LowRankGuide:
        guide = LowRankGuide(model)
        # A prior that does not sample X entry by entry is refused when the guide is resolved.
        if model.structure.entrywise:
            guide.put("factor.X", guide.loc.X.new_zeros((self.rank, *guide.loc.X.shape)))
        return guide


class LowRankGuide(MeanFieldGuide):
    """The Pyro guide that :class:`LowRank` makes for one model."""

    def line(self, site: Site) -> tuple[Tensor, Tensor]:
        loc, scale = super().line(site)
        if site.name != "X":
            return loc, scale
        return loc, (scale.square() + self.directions().square().sum(0)).sqrt()

    def draw(self, site: Site, plates: dict[str, pyro.plate]) -> Tensor:
        if site.name != "X":
            return super().draw(site, plates)
        loc, scale, directions = self.loc.X, self.log_scale.X.exp(), self.directions()
        joint = dist.LowRankMultivariateNormal(
            loc.flatten(), directions.flatten(1).mT, scale.square().flatten()
        )
        together = pyro.sample("X_together", joint, infer={"is_auxiliary": True})
        # Particles, if there are any, are left of the two dims that the plates will take.
        free = together.reshape(together.shape[:-3] + loc.shape)
        to_support: Transform = biject_to(site.support)
        value = to_support(free)
        log_density = -to_support.log_abs_det_jacobian(free, value)
        with plates["object"], plates["dimension"]:
            return pyro.sample("X", dist.Delta(value, log_density.expand(value.shape)))

    def directions(self) -> Tensor:
        """W, one m x d matrix per direction: the factors are relative to the scales."""
        return UNIT * self.factor.X * self.log_scale.X.exp()

    @torch.no_grad()
    def start_at(self, loc: Tensor, scale: Tensor) -> None:
        super().start_at(loc, scale)
        # The directions must differ, or they would all learn the same.
        self.factor.X.copy_(0.1 * torch.randn_like(self.factor.X))
