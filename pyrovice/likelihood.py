"""The choice model on plain tensors (paper, "Formal setting").

Objects i, j, k with non-negative embeddings have the similarities
S = X Xᵀ. The pair that looks most alike is kept and the third object is the odd
one, so the probability that o is odd is the softmax, over the three pairs, of
the similarity of the pair that leaves o out. Everything stays in log space:
exponentiating a dot product overflows float32 at 89.

Speed is decided here and nowhere else: two equal computations of the three
similarities, and which of them to use follows from the sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from pyrovice.triplets import NO_ANCHOR, Triplets

# Gathering rows costs about d reads per pair, forming S about m reads per row of X:
# measured on two cores, forming S wins from this many pairs per entry of S.
PAIRS_PER_ENTRY = 0.02
# S is never formed beyond this many entries (1 GB in float32).
MOST_ENTRIES = 2**28
# Rows gathered at once, so that memory does not grow with the number of judgments.
BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments as tensors, ready for the model.

    Attributes
    ----------
    objects : Tensor of shape (n, 3)
        Object ids, ascending in each row.
    odd : Tensor of shape (n,)
        Position of the odd one.
    anchor : Tensor of shape (n,) or None
        Position of the anchor, -1 for none; None if no judgment has one.
    weight : Tensor of shape (n,) or None
        How many equal judgments a row stands for; None if each is its own.
    n_objects : int
        How many objects there are, judged or not.
    """

    objects: Tensor
    odd: Tensor
    anchor: Tensor | None
    weight: Tensor | None
    n_objects: int

    @classmethod
    def of(cls, triplets: Triplets | Judgments, device: torch.device | str = "cpu") -> Self:
        """One row per judgment, in the order of `triplets`."""
        if isinstance(triplets, Judgments):
            return triplets  # type: ignore[return-value]
        anchor = _to(triplets.anchor, device) if triplets.anchored.any() else None
        return cls(
            _to(triplets.objects, device), _to(triplets.odd, device), anchor, None,
            triplets.n_objects,
        )

    @classmethod
    def aggregated(cls, triplets: Triplets, device: torch.device | str = "cpu") -> Self:
        """One weighted row per distinct judgment, where that saves a tenth of the rows.

        The log-likelihood is the same; its cost goes by distinct judgments.
        """
        first, weight = triplets.distinct_judgments()
        if len(first) > 0.9 * len(triplets):
            return cls.of(triplets, device)
        rows = cls.of(triplets[first], device)
        weight = torch.as_tensor(weight, dtype=torch.get_default_dtype(), device=device)
        return cls(rows.objects, rows.odd, rows.anchor, weight, rows.n_objects)

    def __len__(self) -> int:
        return len(self.odd)

    def __getitem__(self, rows: Tensor | slice) -> Self:
        return type(self)(
            self.objects[rows],
            self.odd[rows],
            None if self.anchor is None else self.anchor[rows],
            None if self.weight is None else self.weight[rows],
            self.n_objects,
        )


def choice_logits(X: Tensor, objects: Tensor, anchor: Tensor | None = None) -> Tensor:
    """Unnormalised log-probability that each of three objects is the odd one.

    Parameters
    ----------
    X : Tensor of shape (..., m, d)
        Non-negative embedding.
    objects : Tensor of shape (n, 3)
        Object ids of each triplet.
    anchor : Tensor of shape (n,), optional
        Position that cannot be the odd one, -1 for none.

    Returns
    -------
    Tensor of shape (..., n, 3)

    Examples
    --------
    >>> import torch
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> choice_logits(X, torch.tensor([[0, 1, 2]])).softmax(-1)
    tensor([[0.1065, 0.1065, 0.7870]])
    """
    i, j, k = objects.unbind(-1)
    # Leaving out the first object leaves the pair (j, k), and so on.
    similarity = pair_similarity(X, torch.stack([j, i, i]), torch.stack([k, k, j]))
    logits = similarity.mT
    if anchor is not None:
        ruled_out = anchor[:, None] == torch.arange(3, device=anchor.device)
        logits = logits.masked_fill(ruled_out, -torch.inf)
    return logits


def log_likelihood(X: Tensor, judgments: Judgments) -> Tensor:
    """Log-probability of each judgment, shape (..., n); weights are not applied."""
    log_p = choice_logits(X, judgments.objects, judgments.anchor).log_softmax(-1)
    odd = judgments.odd[:, None].expand(*log_p.shape[:-1], 1)
    return log_p.gather(-1, odd).squeeze(-1)


def pair_similarity(X: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Dot products of the rows `first` and `second` of X, shape (..., *first.shape)."""
    m = X.shape[-2]
    if m * m <= MOST_ENTRIES and first.numel() >= PAIRS_PER_ENTRY * m * m:
        return _from_all_similarities(X, first, second)
    return _from_rows(X, first, second)


def _from_all_similarities(X: Tensor, first: Tensor, second: Tensor) -> Tensor:
    m = X.shape[-2]
    S = X @ X.mT
    wanted = (first * m + second).flatten()
    return S.flatten(-2).index_select(-1, wanted).unflatten(-1, first.shape)


def _from_rows(X: Tensor, first: Tensor, second: Tensor) -> Tensor:
    flat = zip(first.flatten().split(BLOCK), second.flatten().split(BLOCK), strict=True)
    dots = [
        (X.index_select(-2, a) * X.index_select(-2, b)).sum(-1) for a, b in flat
    ]
    return torch.cat(dots, -1).unflatten(-1, first.shape)


def _to(array: np.ndarray, device: torch.device | str) -> Tensor:
    return torch.as_tensor(array.astype(np.int64), device=device)
