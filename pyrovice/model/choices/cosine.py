"""A choice by angles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyro.distributions as dist
from torch import Tensor

from pyrovice.model.choices.pairs import judged_similarity, row_products
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.fixed_or_learned import Parameter
from pyrovice.model.judgments import Judgments
from pyrovice.storage.registry import saved

# Added to squared lengths: an object next to zero has next to no direction. With less, directions
# would turn so fast near zero that no sampler could follow.
SHORTEST = 1e-2


@saved
@dataclass(frozen=True, eq=False, repr=False)
class Cosine(SoftmaxChoice):
    """A softmax over the cosines of the three pairs: how much objects have does not matter.

    Only the direction of an object's weights counts, so that their scale comes from the prior
    alone. Cosines lie between 0 and 1, and the temperature says how much that is.

    Parameters
    ----------
    temperature : float or distribution
        Cosines are divided by it; learned unless a number is given.
    lapse, position
        As in :class:`DotProduct`.

    Examples
    --------
    >>> import pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> asked = Judgments.of(pv.Triplets([[0, 1, 2]], [2]))
    >>> pv.choices.Cosine(temperature=0.5)(X, asked).exp()
    tensor([[0.1076, 0.1076, 0.7849]])
    """

    temperature: Parameter = dist.LogNormal(-2.0, 0.7)

    degree: ClassVar[int] = 0

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        return judged_similarity(_directions(X), judgments)

    def all_similarities(self, X: Tensor) -> Tensor:
        unit = _directions(X)
        return unit @ unit.mT

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return row_products(*map(_directions, (first, second, third)))


def _directions(X: Tensor) -> Tensor:
    """Rows of length one, or shorter where there is next to nothing."""
    return X * (X.square().sum(-1, keepdim=True) + SHORTEST).rsqrt()
