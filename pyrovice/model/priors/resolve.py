"""One function that accepts the three kinds of prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pyro.distributions.torch_distribution import TorchDistributionMixin
from torch import Tensor

from pyrovice.errors import PriorError
from pyrovice.model.priors.entrywise import Entrywise

Prior: TypeAlias = "TorchDistributionMixin | Callable[[int, int], Tensor]"


def resolve_prior(prior: Prior) -> Callable[[int, int], Tensor]:
    """The function that samples the site ``"X"``, for any of the three kinds."""
    # Distributions are callable too (they draw a sample), so they come first.
    if isinstance(prior, TorchDistributionMixin):
        return Entrywise(prior)
    if isinstance(prior, type) or not callable(prior):
        raise PriorError(
            f"prior={prior!r} is not a prior; expected SpikeSlab(...), a distribution such as "
            "dist.Laplace(0., 0.3), or a function (n_objects, dimensions) that samples the "
            "site 'X'."
        )
    return prior


def prior_of(prior: Prior, names: Sequence[str]) -> Prior:
    """The prior of these objects, if it knows objects by name; otherwise as it is."""
    return prior.for_objects(names) if hasattr(prior, "for_objects") else prior
