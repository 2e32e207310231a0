"""The paper's choice model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from pyrovice.model.choices.pairs import (
    judged_similarity,
    odd_in_stretches,
    row_products,
    worth_forming_all,
)
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.choices.weighted_pairs import weighted_similarity
from pyrovice.model.judgments import Judgments
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True, eq=False, repr=False)
class DotProduct(SoftmaxChoice):
    """The paper's choice: a softmax over the dot products of the three pairs.

    Objects i, j, k have the similarities S = [X]₊ [X]₊ᵀ. The pair that looks most alike is
    kept and the third object is the odd one: the probability that o is odd is the softmax,
    over the three pairs, of the similarity of the pair that leaves o out. Everything stays
    in log space: exponentiating a dot product overflows float32 at 89.

    A number fixes a parameter, a distribution learns it.

    Parameters
    ----------
    temperature : float or distribution
        Similarities are divided by it, ``dist.LogNormal(0, 0.3)`` to learn it. Twice the
        temperature is the same as weights that are √2 times as large, so that only the scale of
        the prior tells them apart; a prior that learns its own scale cannot.
    lapse : float or distribution
        The share of answers given at random, ``dist.Beta(1, 20)`` to learn it.
    position : three floats or distribution, optional
        What is added to the log-odds of an answer at the first, second and third place on the
        screen, ``dist.Normal(0, 0.3)`` to learn it. Learned ones are relative to their mean. The
        judgments must say where the objects stood; where judgments to predict do not, the mean
        over all orders is taken. With an anchor, the answer is the object kept with it.

    Examples
    --------
    >>> import pyro.distributions as dist, pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> asked = Judgments.of(pv.Triplets([[0, 1, 2]], [2]))
    >>> pv.choices.DotProduct()(X, asked).exp()
    tensor([[0.1065, 0.1065, 0.7870]])
    >>> pv.choices.DotProduct(lapse=0.3)(X, asked).exp()
    tensor([[0.1746, 0.1746, 0.6509]])
    >>> pv.choices.DotProduct(lapse=dist.Beta(1.0, 20.0))
    DotProduct(lapse=Beta(concentration1=1, concentration0=20))
    """

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        return judged_similarity(X, judgments)

    def all_similarities(self, X: Tensor) -> Tensor:
        return X @ X.mT

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return row_products(first, second, third)

    def weighted_similarity(self, X: Tensor, weight: Tensor, judgments: Judgments) -> Tensor:
        """The same where everybody has weights, (people, dimensions), with one X: a short cut."""
        return weighted_similarity(X, weight, judgments)

    def odd_in_stretches(
        self, X: Tensor, judgments: Judgments
    ) -> Iterator[tuple[slice, Tensor]] | None:
        """Probabilities by rows and (3, rows), where there are so many that this is faster."""
        if self != DotProduct() or not worth_forming_all(judgments.n_objects, judgments.pairs):
            return None
        return odd_in_stretches(X @ X.mT, judgments)
