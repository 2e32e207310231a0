"""The paper's choice model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pyrovice.model.choices.kept_pairs import dot_product_kept
from pyrovice.model.choices.pairs import (
    odd_in_stretches,
    pair_similarity,
    rule_out_anchors,
    worth_forming_all,
)
from pyrovice.model.choices.weighted_pairs import weighted_similarity
from pyrovice.model.judgments import Judgments
from pyrovice.storage.registry import saved


@saved
@dataclass(frozen=True)
class DotProduct:
    """The paper's choice: a softmax over the dot products of the three pairs.

    Objects i, j, k have the similarities S = [X]₊ [X]₊ᵀ. The pair that looks most alike is
    kept and the third object is the odd one: the probability that o is odd is the softmax,
    over the three pairs, of the similarity of the pair that leaves o out. Everything stays
    in log space: exponentiating a dot product overflows float32 at 89.

    Examples
    --------
    >>> import pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> asked = Judgments.of(pv.Triplets([[0, 1, 2]], [2]))
    >>> pv.choices.DotProduct()(X, asked).exp()
    tensor([[0.1065, 0.1065, 0.7870]])
    """

    asks_who_answered: ClassVar[bool] = False
    samples_nothing: ClassVar[bool] = True

    def __call__(self, X: Tensor, judgments: Judgments) -> Tensor:
        """Log-probability that each of the three objects is the odd one, (..., n, 3)."""
        return self.answer(self.similarity(X, judgments), judgments)

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        """How alike the pairs are that leave out each of the three objects, (..., 3, n)."""
        return pair_similarity(X, judgments.pairs)

    def all_similarities(self, X: Tensor) -> Tensor:
        """How alike all pairs of objects are, (..., objects, objects)."""
        return X @ X.mT

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        """The same where each judgment has rows of X of its own, (..., n, dimensions) each."""
        pairs = ((second, third), (first, third), (first, second))
        return torch.stack([(a * b).sum(-1) for a, b in pairs], dim=-2)

    def weighted_similarity(self, X: Tensor, weight: Tensor, judgments: Judgments) -> Tensor:
        """The same where everybody has weights, (people, dimensions), with one X: a short cut."""
        return weighted_similarity(X, weight, judgments)

    def answer(self, similarity: Tensor, judgments: Judgments) -> Tensor:
        """Log-probability that each of the three objects is the odd one, (..., n, 3)."""
        # Three long rows are normalised much faster than many short ones.
        return rule_out_anchors(similarity, judgments, dim=-2).log_softmax(-2).mT

    def odd_in_stretches(
        self, X: Tensor, judgments: Judgments
    ) -> Iterator[tuple[slice, Tensor]] | None:
        """Probabilities by rows and (3, rows), where there are so many that this is faster."""
        if not worth_forming_all(judgments.n_objects, judgments.pairs):
            return None
        return odd_in_stretches(X @ X.mT, judgments)

    def kept_probability(self, X: Tensor, thirds: Tensor, temperature: float = 1.0) -> Tensor:
        """Mean over third objects of the probability that each pair is kept, (m, m)."""
        return dot_product_kept(X / temperature**0.5, thirds)
