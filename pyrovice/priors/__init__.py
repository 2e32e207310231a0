"""What people see in objects, before any data: priors on the embedding.

Three kinds serve as the ``prior`` of :func:`pyrovice.fit`:

1. any univariate ``pyro.distributions`` object, entry by entry:
   ``dist.Laplace(0., 0.3)``;
2. the values defined here: :class:`SpikeSlab`;
3. any callable ``prior(n_objects, dimensions)`` that opens the plates
   ``"object"`` (dim -2) and ``"dimension"`` (dim -1) and samples the site ``"X"``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pyro.distributions.torch_distribution import TorchDistributionMixin
from torch import Tensor

from pyrovice.errors import PriorError
from pyrovice.priors.entrywise import Entrywise
from pyrovice.priors.spike_slab import SpikeSlab

__all__ = ["Prior", "SpikeSlab", "resolve_prior"]

Prior: TypeAlias = "TorchDistributionMixin | Callable[[int, int], Tensor]"


def resolve_prior(prior: Prior) -> Callable[[int, int], Tensor]:
    """The function that samples the site ``"X"``, for any of the three kinds."""
    # Distributions are callable too (they draw a sample), so they come first.
    if isinstance(prior, TorchDistributionMixin):
        return Entrywise(prior)
    if isinstance(prior, type) or not callable(prior):
        raise PriorError(
            f"prior={prior!r} is no prior; expected SpikeSlab(...), a distribution such as "
            "dist.Laplace(0., 0.3), or a function (n_objects, dimensions) that samples the "
            "site 'X'."
        )
    return prior
