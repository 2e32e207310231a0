"""A spike and slab whose shape is learned from the judgments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import pyro
import pyro.distributions as dist
from torch import Tensor

from pyrovice.errors import PriorError
from pyrovice.model.distributions import FAMILIES, OneSidedSpikeAndSlab
from pyrovice.model.priors.numbers import check_mixture, check_positive, set_numbers
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class LearnedSpikeSlab:
    """Spike and slab with hyper-priors on π and on both scales.

    π ~ Beta(c·pi, c·(1 − pi)),
    log σ_spike ~ N(log spike, spread²),  log σ_slab ~ N(log slab, spread²),
    p(x) = π f(x; σ_spike) + (1 − π) f(x; σ_slab)  for x > 0.

    What the judgments say about the sites ``"pi"``, ``"spike"`` and ``"slab"`` is in
    ``fit.hyperparameters()``.

    Below zero stands one half-Normal that meets the rest at 0. The rectifier makes
    zeros of that half whatever its shape, so [X]₊ and the judgments have exactly
    the distribution that they have under :class:`SpikeSlab`; but guides, which need
    some value for every zero, would take those values for evidence about the spike.

    Parameters
    ----------
    spike, slab : float
        Prior medians of the two scales, ``spike < slab``.
    pi : float
        Prior mean of the weight of the spike.
    concentration : float
        How sure the prior is of `pi`: c judgments' worth; 2 with pi = 0.5 is uniform.
    spread : float
        Prior standard deviation of the logarithm of both scales.
    per_dimension : bool
        Whether every dimension has a π of its own, i.e. may be as sparse as it likes.
    family : {"normal", "laplace"}
        The density f.

    Notes
    -----
    The prior density of one entry, its root drawn from −2 to 2, hyper-priors averaged::

        ▁▁▁▂▂▂▂▂▂▃▃▃▄▄▅▅▆▇███▇▆▅▅▄▄▄▃▃▃▃▃▂▂▂▂▂▂▂

    Use it to avoid a search over a grid of hyper-parameters, and when the sparsity
    itself is a result.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, prior=pv.LearnedSpikeSlab(), dimensions=12)
    >>> sorted(fit.hyperparameters().index)
    [('pi', 'all'), ('slab', 'all'), ('spike', 'all')]
    """

    spike: float = 0.25
    slab: float = 1.0
    pi: float = 0.5
    concentration: float = 2.0
    spread: float = 0.5
    per_dimension: bool = False
    family: str = "normal"

    no_mode: ClassVar[str] = "its density grows without end as the spike narrows around zeros"

    def __post_init__(self) -> None:
        set_numbers(self, "spike", "slab", "pi", "concentration", "spread")
        check_mixture(self)
        check_positive(self, "concentration", "spread")
        if not isinstance(self.per_dimension, bool):
            raise PriorError(f"per_dimension={self.per_dimension!r}; expected True or False.")
        if self.family not in FAMILIES:
            raise PriorError(f"family={self.family!r}; expected 'normal' or 'laplace'.")

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample ``"pi"``, ``"spike"``, ``"slab"`` and, given them, ``"X"``."""
        beta = dist.Beta(self.concentration * self.pi, self.concentration * (1 - self.pi))
        spike = pyro.sample("spike", dist.LogNormal(math.log(self.spike), self.spread))
        slab = pyro.sample("slab", dist.LogNormal(math.log(self.slab), self.spread))
        shared = None if self.per_dimension else pyro.sample("pi", beta)
        with pyro.plate("dimension", dimensions, dim=-1):
            pi = pyro.sample("pi", beta) if shared is None else shared
            with pyro.plate("object", n_objects, dim=-2):
                return pyro.sample("X", OneSidedSpikeAndSlab(spike, slab, pi, self.family))
