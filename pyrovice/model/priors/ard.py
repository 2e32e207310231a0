"""Automatic relevance determination: a scale for every dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyro
import pyro.distributions as dist
from torch import Tensor

from pyrovice.model.priors.numbers import check_positive, set_numbers
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class ARD:
    """Normal entries with one learned scale per dimension.

    s_j ~ HalfNormal(scale),  x_ij ~ N(0, s_j²)

    A dimension that the judgments do not need loses its scale and, with it, all of
    its weights at once: sparsity over dimensions, not within them. The scales are in
    ``fit.hyperparameters()``. Half of the mass is negative and becomes zeros under
    the rectifier.

    Parameters
    ----------
    scale : float
        Scale of the half-Normal prior of every s_j: the size of a weight in a
        dimension that matters.

    Notes
    -----
    The density of one entry, its root drawn from −2 to 2, s averaged over its prior::

        ▁▁▁▁▁▂▂▂▂▂▂▃▃▃▄▄▅▅▇██▇▅▅▄▄▃▃▃▂▂▂▂▂▂▁▁▁▁▁

    Use it to ask how many dimensions there are without also asking for sparse ones.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, prior=pv.ARD(), dimensions=12)
    >>> bool(fit.hyperparameters()["mean"].is_unique)
    True
    """

    scale: float = 0.5

    no_mode: ClassVar[str] = "its density grows without end as a whole dimension shrinks to zero"

    def __post_init__(self) -> None:
        set_numbers(self, "scale")
        check_positive(self, "scale")

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample ``"scale"`` of every dimension and, given it, ``"X"``."""
        with pyro.plate("dimension", dimensions, dim=-1):
            scale = pyro.sample("scale", dist.HalfNormal(self.scale))
            with pyro.plate("object", n_objects, dim=-2):
                return pyro.sample("X", dist.Normal(0.0, scale))
