"""Choices that look at what two objects do not share, as well as at what they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyro.distributions as dist
import torch
from torch import Tensor

from pyrovice.errors import ChoiceError
from pyrovice.model.choices.pairs import judged_similarity, row_products
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.fixed_or_learned import Parameter, is_number, is_within
from pyrovice.model.judgments import Judgments
from pyrovice.storage.registry import saved

# Added to squared distances: the slope of a root is infinite at zero, and differences of products
# in float32 are not exact.
SOFT = 1e-4


@saved
@dataclass(frozen=True, eq=False, repr=False)
class Contrast(SoftmaxChoice):
    """Common minus distinctive features, after Tversky (1977).

    The similarity of i and j is ``x_i · x_j − δ (|x_i|² + |x_j|²) / 2``. With δ = 0 it is the dot
    product, with δ = 1 minus half the squared distance. Of three objects, one with much weight is
    more often the odd one the larger δ is.

    Parameters
    ----------
    temperature, lapse, position
        As in :class:`DotProduct`.
    distinctive : float or distribution
        δ, what counts against a pair; learned unless a number is given.

    Examples
    --------
    >>> import pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> asked = Judgments.of(pv.Triplets([[0, 1, 2]], [2]))
    >>> pv.choices.Contrast(distinctive=0.2)(X, asked).exp()
    tensor([[0.0718, 0.0532, 0.8750]])
    """

    distinctive: Parameter = dist.Normal(0.0, 0.3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_number(self.distinctive):
            object.__setattr__(self, "distinctive", float(self.distinctive))
        elif not is_within(self.distinctive, -float("inf"), float("inf")):
            raise ChoiceError(
                f"{type(self).__name__}(distinctive={self.distinctive!r}); expected a number to "
                "fix it, or a distribution to learn it, distinctive=dist.Normal(0, 0.3)."
            )

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        against = _sums(squares_of(X, judgments))
        return judged_similarity(X, judgments) - self.distinctive / 2 * against

    def all_similarities(self, X: Tensor) -> Tensor:
        squares = X.square().sum(-1)
        against = squares.unsqueeze(-1) + squares.unsqueeze(-2)
        return X @ X.mT - self.distinctive / 2 * against

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        rows = (first, second, third)
        against = _sums(torch.stack([row.square().sum(-1) for row in rows], dim=-2))
        return row_products(*rows) - self.distinctive / 2 * against


@saved
@dataclass(frozen=True, eq=False, repr=False)
class Euclidean(SoftmaxChoice):
    """A softmax over minus the distances of the three pairs.

    Similarity falls off exponentially with distance, as in Shepard's law. What two objects both
    lack then makes them as alike as what they share.

    Parameters
    ----------
    temperature, lapse, position
        As in :class:`DotProduct`.

    Examples
    --------
    >>> import pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> asked = Judgments.of(pv.Triplets([[0, 1, 2]], [2]))
    >>> pv.choices.Euclidean()(X, asked).exp()
    tensor([[0.0968, 0.0621, 0.8411]])
    """

    degree: ClassVar[int] = 1

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        together = _sums(squares_of(X, judgments))
        return _minus_distance(together - 2 * judged_similarity(X, judgments))

    def all_similarities(self, X: Tensor) -> Tensor:
        squares = X.square().sum(-1)
        return _minus_distance(squares.unsqueeze(-1) + squares.unsqueeze(-2) - 2 * (X @ X.mT))

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        pairs = ((second, third), (first, third), (first, second))
        apart = [(a - b).square().sum(-1) for a, b in pairs]
        return _minus_distance(torch.stack(apart, dim=-2))


def squares_of(X: Tensor, judgments: Judgments) -> Tensor:
    """The squared length of each of the three objects, (..., 3, n)."""
    objects = judgments.objects
    return X.square().sum(-1).index_select(-1, objects.flatten()).unflatten(-1, objects.shape)


def _sums(of_objects: Tensor) -> Tensor:
    """What the two objects of the pair that leaves out each of three have together."""
    return of_objects.sum(-2, keepdim=True) - of_objects


def _minus_distance(squared: Tensor) -> Tensor:
    return -(squared.clamp(min=0.0) + SOFT).sqrt()
