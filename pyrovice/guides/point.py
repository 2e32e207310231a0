"""A point estimate as a guide."""

from __future__ import annotations

from dataclasses import dataclass

import pyro.distributions as dist
import torch
from torch import Tensor
from torch.distributions import biject_to

from pyrovice.guides.sites import SiteGuide
from pyrovice.model.model import Model
from pyrovice.model.structure import Site
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class MAP:
    """A point: the most probable value, with no uncertainty.

    With an exponential prior this is SPoSE. Priors whose density is unbounded have
    no most probable value, and are refused. Without uncertainty nothing tells a
    weight that is there from one that fits noise: under a prior that lets large
    weights be, such as :class:`~pyrovice.SpikeSlab`, surplus dimensions pick single
    objects and are kept. Start from few dimensions, or use ``MeanField()``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> guide = pv.guides.MAP()(pv.Model(pv.SpikeSlab(), 80, 7, example.triplets))
    >>> bool((guide()["X"] == guide()["X"]).all())
    True
    """

    def __call__(self, model: Model) -> PointGuide:
        return PointGuide(model)


class PointGuide(SiteGuide):
    """The Pyro guide that :class:`MAP` makes for one model."""

    centre = "point"

    def around(self, loc: Tensor, scale: Tensor) -> dict[str, Tensor]:
        return {"point": loc}

    def line(self, site: Site) -> tuple[Tensor, Tensor]:
        point = getattr(self.point, site.name)
        # A quantile of a point is the point, at 0 and 1 too.
        return point, torch.full_like(point, torch.finfo(point.dtype).tiny)

    def marginal(self, site: Site) -> dist.TorchDistribution:
        value = biject_to(site.support)(getattr(self.point, site.name))
        return dist.Delta(value, event_dim=site.event_dim)
