"""Strong shrinkage of what is small, hardly any of what is large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyro
import pyro.distributions as dist
from torch import Tensor

from pyrovice.model.distributions import RegularizedHorseshoe
from pyrovice.model.priors.entrywise import sample_entrywise
from pyrovice.model.priors.numbers import check_positive, set_numbers
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class Horseshoe:
    """The regularised horseshoe, its local scales integrated out.

    τ ~ HalfNormal(scale),  λ ~ HalfCauchy(1),
    p(x) ∝ ∫ N(x; 0, τ²λ²) p(λ) dλ · N(x; 0, slab²)

    Every entry has a scale λ of its own, most of them small and some very large; τ
    says how small is small and is learned (``fit.hyperparameters()``). The last
    factor keeps even the largest weights within what dot products can bear. With λ
    integrated out the entries are independent given τ, and every guide can follow.
    The usual half-Cauchy for τ would let it run away: zeros, wherever they are on the
    other side of the rectifier, say nothing about it, and could not hold it.
    Half of the mass is negative and becomes zeros under the rectifier.

    Parameters
    ----------
    scale : float
        Scale of the half-Normal prior of τ: roughly the size of a weight that does
        not matter.
    slab : float
        Largest plausible weight, as a standard deviation.

    Notes
    -----
    The density of one entry, its root drawn from −2 to 2, τ averaged over its prior::

        ▁▁▁▁▁▁▁▁▁▂▂▂▂▂▃▃▃▄▅██▅▄▃▃▃▂▂▂▂▂▁▁▁▁▁▁▁▁▁

    Use it where a few entries should stand out from a background near zero and no
    two groups, spike and slab, are to be expected.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, prior=pv.Horseshoe(), dimensions=12)
    >>> list(fit.hyperparameters().index)
    [('tau', 'all')]
    """

    scale: float = 0.3
    slab: float = 1.0

    no_mode: ClassVar[str] = "its density is infinite at zero"

    def __post_init__(self) -> None:
        set_numbers(self, "scale", "slab")
        check_positive(self, "scale", "slab")

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample ``"tau"`` and, given it, ``"X"``."""
        tau = pyro.sample("tau", dist.HalfNormal(self.scale))
        return sample_entrywise(RegularizedHorseshoe(tau, self.slab), n_objects, dimensions)
