"""Cumulative shrinkage: each further dimension is more probably none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyro
import pyro.distributions as dist
import torch
from torch import Tensor

from pyrovice.errors import PriorError
from pyrovice.model.distributions import PositiveSpikeAndSlab
from pyrovice.model.priors.numbers import check_positive, set_numbers
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class CumulativeShrinkage:
    """Normal entries, and dimensions that are ever more probably next to nothing.

    v_l ~ Beta(1, expected),  π_h = 1 − (1 − v_1) ··· (1 − v_h),
    s_h ~ (1 − π_h) HalfNormal(slab) + π_h HalfNormal(spike),  x_ih ~ N(0, s_h²)

    The probability π_h that a dimension is none grows with h, and dimensions are expected to number
    `expected`: the sum of 1 − π_h over all h. This is the cumulative shrinkage process of
    Legramanti, Durante and Dunson (Biometrika, 2020), with a narrow half-Normal where they have a
    point, and summed over which of the two it is. The sites ``"stick"`` (v) and ``"scale"`` (s) are
    in ``fit.hyperparameters()``.

    Parameters
    ----------
    expected : float
        How many dimensions are expected before the judgments are seen.
    slab : float
        Scale of the half-Normal of s in dimensions that matter.
    spike : float
        The same in dimensions that do not; narrower than the slab.

    Notes
    -----
    The density of an entry of the first dimension, its root drawn from −2 to 2::

        ▁▁▁▁▁▁▂▂▂▂▂▂▃▃▃▄▄▅▆██▆▅▄▄▃▃▃▂▂▂▂▂▂▁▁▁▁▁▁

    Dimensions depend on their order, so that none is dropped while training and ``fit.prune()``
    leaves them in it. For the number of dimensions with an interval see
    :func:`pyrovice.dimensionality`, which works with any prior.

    Examples
    --------
    >>> import pyrovice as pv
    >>> prior = pv.CumulativeShrinkage(expected=4)
    >>> prior(10, 3).shape
    torch.Size([10, 3])
    >>> pv.Model(prior, 10, 3).structure.separable
    False
    """

    expected: float = 5.0
    slab: float = 0.5
    spike: float = 0.02

    # Dimensions mean something in their order only.
    ordered: ClassVar[bool] = True
    no_mode: ClassVar[str] = "its density grows without end as a whole dimension shrinks to zero"

    def __post_init__(self) -> None:
        set_numbers(self, "expected", "slab", "spike")
        check_positive(self, "expected", "slab", "spike")
        if not self.spike < self.slab:
            raise PriorError(
                f"spike={self.spike:g} and slab={self.slab:g}: the spike must be narrower than the "
                "slab, for example CumulativeShrinkage(spike=0.02, slab=0.5)."
            )

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample ``"stick"`` and ``"scale"`` of every dimension and, given them, ``"X"``."""
        with pyro.plate("dimension", dimensions, dim=-1):
            stick = pyro.sample("stick", dist.Beta(1.0, self.expected))
            none = 1 - (1 - stick).cumprod(-1)
            # At exactly 0 or 1 the logarithm of one of the two weights would be infinite.
            none = none.clamp(1e-6, 1 - 1e-6)
            scale = pyro.sample("scale", PositiveSpikeAndSlab(self.spike, self.slab, none))
            with pyro.plate("object", n_objects, dim=-2):
                return pyro.sample("X", dist.Normal(0.0, scale))

    def sites_for(self, X: Tensor) -> dict[str, Tensor]:
        """Values of the other sites that go with this X, for training to start from.

        At their prior medians, later dimensions would be none before the judgments have a say.
        """
        size = X.square().mean(0).sqrt()
        stick = torch.full_like(size, 1 / (1 + self.expected))
        return {"stick": stick, "scale": size.clamp(min=self.spike)}
