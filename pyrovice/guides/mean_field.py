"""The paper's variational family: independent entries."""

from __future__ import annotations

from dataclasses import dataclass

import pyro.distributions as dist
from torch import Tensor

from pyrovice.guides.sites import SiteGuide
from pyrovice.model.model import Model
from pyrovice.model.structure import Site
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class MeanField:
    """Independent Normals, LogNormals where the prior has positive support.

    Fast at every size, with closed forms for means, intervals and pruning. It does
    not know that entries can trade off against each other, so that its intervals
    tend to be too narrow.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> guide = pv.guides.MeanField()(pv.Model(pv.SpikeSlab(), 80, 7, example.triplets))
    >>> guide()["X"].shape
    torch.Size([80, 7])
    """

    def __call__(self, model: Model) -> MeanFieldGuide:
        return MeanFieldGuide(model)


class MeanFieldGuide(SiteGuide):
    """The Pyro guide that :class:`MeanField` makes for one model."""

    def around(self, loc: Tensor, scale: Tensor) -> dict[str, Tensor]:
        return {"loc": loc, "log_scale": scale.log()}

    def line(self, site: Site) -> tuple[Tensor, Tensor]:
        return getattr(self.loc, site.name), getattr(self.log_scale, site.name).exp()

    def marginal(self, site: Site) -> dist.TorchDistribution:
        return site.distribution(*self.line(site))
