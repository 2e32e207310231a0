"""The paper's prior: a spike for what does not apply, a slab for what does."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from pyrovice.distributions import FAMILIES, SpikeAndSlab
from pyrovice.errors import PriorError
from pyrovice.priors.entrywise import sample_entrywise


@dataclass(frozen=True)
class SpikeSlab:
    """Spike-and-slab prior on every entry of X, before rectification.

    p(x) = π f(x; σ_spike) + (1 − π) f(x; σ_slab)

    Most objects have little to do with most dimensions (the spike); where a
    dimension applies, its weight may be anything moderate (the slab). The two
    questions are separate, so large weights are not shrunk to make small ones
    vanish, which is what an exponential prior does. Half of the mass is
    negative, and the rectifier turns it into exact zeros.

    Parameters
    ----------
    spike, slab : float
        Scales of the narrow and the wide part, ``spike < slab``.
    pi : float
        Weight of the spike, between 0 and 1.
    family : {"normal", "laplace"}
        The density f; ``"laplace"`` has heavier tails and a sharper spike.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.SpikeSlab(0.125, 0.5, 0.6)
    SpikeSlab(spike=0.125, slab=0.5, pi=0.6, family='normal')
    >>> pv.SpikeSlab() == pv.SpikeSlab(spike=0.25, slab=1.0, pi=0.5)
    True
    """

    spike: float = 0.25
    slab: float = 1.0
    pi: float = 0.5
    family: str = "normal"

    def __post_init__(self) -> None:
        for name in ("spike", "slab", "pi"):
            value = getattr(self, name)
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise PriorError(f"{name}={value!r} is not a finite number.")
            object.__setattr__(self, name, number)
        if not 0 < self.spike < self.slab:
            raise PriorError(
                f"spike={self.spike:g} and slab={self.slab:g}: the spike must be positive and "
                "narrower than the slab, for example SpikeSlab(spike=0.25, slab=1.0)."
            )
        if not 0 < self.pi < 1:
            raise PriorError(
                f"pi={self.pi:g} is not strictly between 0 and 1. It is the weight of the "
                "spike, for example SpikeSlab(pi=0.5)."
            )
        if self.family not in FAMILIES:
            raise PriorError(f"family={self.family!r}; expected 'normal' or 'laplace'.")

    def distribution(self) -> SpikeAndSlab:
        """The density of one entry, as a Pyro distribution."""
        return SpikeAndSlab(self.spike, self.slab, self.pi, self.family)

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample the site ``"X"`` in the plates ``"object"`` and ``"dimension"``."""
        return sample_entrywise(self.distribution(), n_objects, dimensions)
