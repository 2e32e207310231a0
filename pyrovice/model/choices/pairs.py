"""Similarities of the pairs that people choose among.

Speed is decided here and nowhere else: three equal computations of the three
similarities, and which of them to use follows from the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from pyrovice.model.judgments import Judgments
from pyrovice.model.pair_pattern import worth_a_pattern

# Forming S wins from about this many pairs per entry of S on: measured 0.005 to 0.03 on two cores,
# for 200 to 5,000 objects and 20 to 100 dimensions.
PAIRS_PER_ENTRY = 0.015
# S is never formed beyond this many entries (1 GB in float32).
MOST_ENTRIES = 2**28
# Judgments whose probabilities stay within the processor's cache.
STRETCH = 2**16
# Similarities whose exponentials float32 can hold and add up.
LARGEST_EXPONENT = 80.0
# Rows gathered at once, so that memory does not grow with the number of judgments.
BLOCK = 2**16


def similarities(X: Tensor, judgments: Judgments) -> Tensor:
    """Dot products of the three pairs of every judgment, the fast way.

    Parameters
    ----------
    X : Tensor of shape (..., objects, dimensions)
        The rectified embedding.
    judgments : Judgments
        Whose pairs.

    Returns
    -------
    Tensor of shape (..., n, 3)
        In column o the similarity of the pair that is kept if o is the odd one.

    Examples
    --------
    >>> import pyrovice as pv, torch
    >>> from pyrovice.model.judgments import Judgments
    >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> pv.choices.similarities(X, Judgments.of(pv.Triplets([[0, 1, 2]], [2])))
    tensor([[0., 0., 2.]])
    """
    return judged_similarity(X, judgments).mT


def judged_similarity(X: Tensor, judgments: Judgments) -> Tensor:
    """The same by columns, (..., 3, n)."""
    pairs = judgments.pairs
    if judgments.comes_again and X.dim() == 2 and worth_a_pattern(len(X), pairs):
        return judgments.pattern.products(X).unflatten(0, pairs.shape)
    return pair_similarity(X, pairs)


def pair_similarity(X: Tensor, pairs: Tensor) -> Tensor:
    """Dot products of the rows of X that `pairs` number, shape (..., *pairs.shape)."""
    if worth_forming_all(X.shape[-2], pairs):
        flat = _from_all_similarities(X, pairs.flatten())
    else:
        flat = _from_rows(X, pairs.flatten())
    return flat.unflatten(-1, pairs.shape)


def worth_forming_all(m: int, pairs: Tensor) -> bool:
    """Whether the similarities of all pairs of `m` objects cost less than these alone."""
    return m * m <= MOST_ENTRIES and pairs.numel() >= PAIRS_PER_ENTRY * m * m


def _from_all_similarities(X: Tensor, pairs: Tensor) -> Tensor:
    return (X @ X.mT).flatten(-2).index_select(-1, pairs)


def _from_rows(X: Tensor, pairs: Tensor) -> Tensor:
    m = X.shape[-2]
    dots = [
        (X.index_select(-2, block // m) * X.index_select(-2, block % m)).sum(-1)
        for block in pairs.split(BLOCK)
    ]
    return torch.cat(dots, -1)


def row_products(first: Tensor, second: Tensor, third: Tensor) -> Tensor:
    """The same where each judgment has three rows of its own, (..., n, dimensions) each."""
    pairs = ((second, third), (first, third), (first, second))
    return torch.stack([(a * b).sum(-1) for a, b in pairs], dim=-2)


def odd_in_stretches(S: Tensor, judgments: Judgments) -> Iterator[tuple[slice, Tensor]]:
    """Softmax of the similarities of the three pairs, for one stretch of rows after the other.

    Parameters
    ----------
    S : Tensor of shape (objects, objects)
        The similarities of all pairs, none of them negative.
    judgments : Judgments
        What is asked.

    Yields
    ------
    slice, Tensor of shape (3, rows)
        Which rows, and the probability that each of their three objects is odd.
    """
    # Every pair is in many judgments, so that exponentials of all pairs are the fewer ones.
    fits = bool(S.max() <= LARGEST_EXPONENT)
    looked_up = S.exp().flatten() if fits else S.flatten()
    for first in range(0, len(judgments), STRETCH):
        rows = slice(first, first + STRETCH)
        part = judgments[rows]
        kept = looked_up.index_select(0, part.pairs.flatten()).unflatten(0, part.pairs.shape)
        if not fits:
            yield rows, rule_out_anchors(kept, part, dim=-2).softmax(-2)
            continue
        kept = rule_out_anchors(kept, part, dim=-2, by=0.0)
        yield rows, kept.div_(kept[0] + kept[1] + kept[2])


def rule_out_anchors(
    scores: Tensor, judgments: Judgments, dim: int, by: float = -torch.inf
) -> Tensor:
    """The scores of the three answers along `dim`, `by` for an anchor, which cannot be odd."""
    if judgments.anchor is None:
        return scores
    position = torch.arange(3, device=scores.device)
    ruled_out = judgments.anchor == position[:, None]
    return scores.masked_fill(ruled_out if dim == -2 else ruled_out.mT, by)
