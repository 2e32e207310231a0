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

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pyrovice.data.triplets import Triplets

# Forming S wins from about this many pairs per entry of S on: measured 0.005 to 0.03 on two cores,
# for 200 to 5,000 objects and 20 to 100 dimensions.
PAIRS_PER_ENTRY = 0.015
# S is never formed beyond this many entries (1 GB in float32).
MOST_ENTRIES = 2**28
# Rows gathered at once, so that memory does not grow with the number of judgments.
BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments as tensors, ready for the model.

    Attributes
    ----------
    pairs : Tensor of shape (3, n)
        The pairs that leave out each of the three objects, as `pair_ids` numbers them.
    odd : Tensor of shape (n,)
        Position of the odd one.
    anchor : Tensor of shape (n,) or None
        Position of the anchor, -1 for none; None if no judgment has one.
    weight : Tensor of shape (n,) or None
        How many equal judgments a row stands for; None if each is its own.
    n_objects : int
        How many objects there are, judged or not.
    total : int
        How many rows the data have of which these are a part.
    rows : Tensor of shape (n,) or None
        Which of them these are; None if they are all.
    """

    pairs: Tensor
    odd: Tensor
    anchor: Tensor | None
    weight: Tensor | None
    n_objects: int
    total: int
    rows: Tensor | None = None

    @classmethod
    def of(cls, triplets: Triplets | Judgments, device: torch.device | str = "cpu") -> Judgments:
        """One row per judgment, in the order of `triplets`."""
        if isinstance(triplets, Judgments):
            return triplets
        return Judgments(
            pair_ids(_to(triplets.objects, device), triplets.n_objects),
            _to(triplets.odd, device),
            _to(triplets.anchor, device) if triplets.anchored.any() else None,
            None,
            triplets.n_objects,
            len(triplets),
        )

    @classmethod
    def aggregated(cls, triplets: Triplets, device: torch.device | str = "cpu") -> Judgments:
        """One weighted row per distinct judgment, where that saves a tenth of the rows.

        The log-likelihood is the same; its cost goes by distinct judgments.
        """
        first, counts = triplets.distinct_judgments()
        if len(first) > 0.9 * len(triplets):
            return cls.of(triplets, device)
        rows = cls.of(triplets[first], device)
        weight = torch.as_tensor(counts, dtype=torch.get_default_dtype(), device=device)
        return replace(rows, weight=weight)

    def __len__(self) -> int:
        return len(self.odd)

    def __getitem__(self, rows: Tensor) -> Judgments:
        """Some rows, as a part of these."""
        return replace(
            self,
            pairs=self.pairs[:, rows],
            odd=self.odd[rows],
            anchor=None if self.anchor is None else self.anchor[rows],
            weight=None if self.weight is None else self.weight[rows],
            rows=rows,
        )

    def parts(self, size: int) -> list[Judgments]:
        """Random disjoint parts of at most `size` rows, each laid out for fast access.

        Cutting up the data once costs less than gathering rows at every step, and
        neighbouring rows then look up neighbouring similarities.
        """
        shuffled = torch.randperm(len(self), device=self.odd.device).split(size)
        return [self[rows[self.pairs[2, rows].argsort()]] for rows in shuffled]


def pair_ids(objects: Tensor, m: int) -> Tensor:
    """Numbers i·m + j of the pairs that leave out each of three of `m` objects, (3, n)."""
    i, j, k = objects.unbind(-1)
    return torch.stack([j * m + k, i * m + k, i * m + j])


def choice_log_probability(X: Tensor, pairs: Tensor, anchor: Tensor | None = None) -> Tensor:
    """Log-probability that each of three objects is the odd one.

    Parameters
    ----------
    X : Tensor of shape (..., m, d)
        Non-negative embedding.
    pairs : Tensor of shape (3, n)
        The pairs of each triplet, from `pair_ids`.
    anchor : Tensor of shape (n,), optional
        Position that cannot be the odd one, -1 for none.

    Returns
    -------
    Tensor of shape (..., n, 3)

    Examples
    --------
    >>> import torch
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> choice_log_probability(X, pair_ids(torch.tensor([[0, 1, 2]]), m=3)).exp()
    tensor([[0.1065, 0.1065, 0.7870]])
    """
    similarity = pair_similarity(X, pairs)
    if anchor is not None:
        ruled_out = anchor == torch.arange(3, device=anchor.device)[:, None]
        similarity = similarity.masked_fill(ruled_out, -torch.inf)
    # Three long rows are normalised much faster than many short ones.
    return similarity.log_softmax(-2).mT


def log_likelihood(X: Tensor, judgments: Judgments) -> Tensor:
    """Log-probability of each judgment, shape (..., n); weights are not applied."""
    log_p = choice_log_probability(X, judgments.pairs, judgments.anchor)
    odd = judgments.odd[:, None].expand(*log_p.shape[:-1], 1)
    return log_p.gather(-1, odd).squeeze(-1)


def pair_similarity(X: Tensor, pairs: Tensor) -> Tensor:
    """Dot products of the rows of X that `pairs` number, shape (..., *pairs.shape)."""
    m = X.shape[-2]
    if m * m <= MOST_ENTRIES and pairs.numel() >= PAIRS_PER_ENTRY * m * m:
        flat = _from_all_similarities(X, pairs.flatten())
    else:
        flat = _from_rows(X, pairs.flatten())
    return flat.unflatten(-1, pairs.shape)


def _from_all_similarities(X: Tensor, pairs: Tensor) -> Tensor:
    return (X @ X.mT).flatten(-2).index_select(-1, pairs)


def _from_rows(X: Tensor, pairs: Tensor) -> Tensor:
    m = X.shape[-2]
    dots = [
        (X.index_select(-2, block // m) * X.index_select(-2, block % m)).sum(-1)
        for block in pairs.split(BLOCK)
    ]
    return torch.cat(dots, -1)


def _to(array: np.ndarray, device: torch.device | str) -> Tensor:
    return torch.as_tensor(array.astype(np.int64), device=device)
