"""The paper's prior: a spike for what does not apply, a slab for what does."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from pyrovice.errors import PriorError
from pyrovice.model.distributions import FAMILIES, SpikeAndSlab
from pyrovice.model.priors.entrywise import sample_entrywise
from pyrovice.model.priors.numbers import check_mixture, set_numbers
from pyrovice.storage.registry import saved


@saved
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

    Notes
    -----
    The density of one entry, its root drawn from −2 to 2::

        ▂▂▂▂▂▃▃▃▃▃▃▄▄▄▄▅▆▇████▇▆▅▄▄▄▄▃▃▃▃▃▃▂▂▂▂▂

    Use it when most objects should have nothing to do with most dimensions, and the
    two scales are known or chosen by cross-validation.

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
        set_numbers(self, "spike", "slab", "pi")
        check_mixture(self)
        if self.family not in FAMILIES:
            raise PriorError(f"family={self.family!r}; expected 'normal' or 'laplace'.")

    def distribution(self) -> SpikeAndSlab:
        """The density of one entry, as a Pyro distribution."""
        return SpikeAndSlab(self.spike, self.slab, self.pi, self.family)

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample the site ``"X"`` in the plates ``"object"`` and ``"dimension"``."""
        return sample_entrywise(self.distribution(), n_objects, dimensions)
