"""Variational distributions (paper, "Variational Inference").

Any of these serves as the ``guide`` of :func:`pyrovice.fit`:

1. :class:`MeanField`, the paper's, one Normal per entry of X; :class:`LowRank`,
   Normals that vary together; :class:`MAP`, a point;
2. the classes of ``pyro.infer.autoguide`` as they stand: ``guide=AutoNormal``;
3. any callable that takes the Pyro model and returns a guide.
"""

from pyrovice.guides.low_rank import LowRank, LowRankGuide
from pyrovice.guides.mean_field import MeanField, MeanFieldGuide
from pyrovice.guides.point import MAP, PointGuide
from pyrovice.guides.resolve import (
    FunctionGuide,
    contains_mean_field,
    finished,
    guide_family,
    resolve_guide,
    steadiest_rate,
)
from pyrovice.guides.sites import Guide, SiteGuide

__all__ = [
    "MAP",
    "FunctionGuide",
    "Guide",
    "LowRank",
    "LowRankGuide",
    "MeanField",
    "MeanFieldGuide",
    "PointGuide",
    "SiteGuide",
    "contains_mean_field",
    "finished",
    "guide_family",
    "resolve_guide",
    "steadiest_rate",
]
