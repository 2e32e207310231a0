"""How probably every pair of objects is kept, averaged over third objects.

There are as many triplets as the number of objects cubed. For a softmax of similarities there is a
short cut through exponentials of all of them; any other choice is asked triplet by triplet.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from pyrovice.model.judgments import Judgments, pair_ids

# Entries of the (rows, m, thirds) block held at once, if one row has no more: what a cache holds.
BLOCK_ENTRIES = 2**20
# The sum of three exponentials of this is still a float32.
LARGEST_EXPONENT = 80


def pairs_kept(
    S: Tensor, third: Tensor, favours: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Tensor:
    """The mean probability for a softmax of similarities; the diagonal, not a pair, is NaN.

    Parameters
    ----------
    S : Tensor of shape (m, m)
        How alike all pairs are.
    third : Tensor of int
        The third objects to average over.
    favours : three floats
        What is added to the log-odds that the third object is the odd one, the second of the pair
        and the first.
    """
    m = len(S)
    to_third = S[:, third]
    # Exponentials of all similarities at once where float32 can hold them, else of differences.
    if in_range := bool(S.abs().max() < LARGEST_EXPONENT):
        S, to_third = S.exp(), to_third.exp()
    itself = _itself(m, third)
    own_row, own_third = itself.nonzero(as_tuple=True)
    result = torch.empty(m, m)
    for block in torch.arange(m).split(max(1, BLOCK_ENTRIES // (m * len(third)))):
        # kept[b, j, k]: how {i, j} does against the pairs {i, k} and {j, k}
        ij, ik, jk = S[block][:, :, None], to_third[block][:, None, :], to_third[None]
        if any(favours):
            own, other, first = (math.exp(each) if in_range else each for each in favours)
            combine = torch.mul if in_range else torch.add
            ij, ik, jk = combine(ij, own), combine(ik, other), combine(jk, first)
        if in_range:
            kept = (ik + jk).add_(ij).reciprocal_().mul_(ij)
        else:
            kept = (ik - ij).exp_().add_((jk - ij).exp_()).add_(1).reciprocal_()
        kept[:, own_row, own_third] = 0
        in_block, k = itself[block].nonzero(as_tuple=True)
        kept[in_block, :, k] = 0
        result[block] = kept.sum(-1)
    return _averaged(result, itself)


def asked_kept(answer: Callable[[Judgments], Tensor], m: int, third: Tensor) -> Tensor:
    """The same for any choice.

    Parameters
    ----------
    answer : callable
        From judgments to the log-probability of each position being odd, (n, 3).
    m : int
        How many objects there are.
    third : Tensor of int
        The third objects to average over.
    """
    itself = _itself(m, third)
    result = torch.zeros(m, m)
    for i in range(m - 1):
        others = torch.arange(i + 1, m)
        j, k = torch.meshgrid(others, third, indexing="ij")
        apart = (k != i) & (k != j)
        objects = torch.stack([torch.full_like(j[apart], i), j[apart], k[apart]], dim=-1)
        ascending, order = objects.sort(dim=-1)
        asked = Judgments(
            pair_ids(ascending, m), torch.zeros(len(objects), dtype=torch.long), None, None, m,
            len(objects),
        )  # fmt: skip
        # The pair is kept if the third object, which came last, is the odd one.
        odd = (order == 2).long().argmax(dim=-1, keepdim=True)
        kept = torch.zeros(apart.shape)
        kept[apart] = answer(asked).exp().gather(-1, odd).squeeze(-1).to(kept)
        result[i, others] = result[others, i] = kept.sum(-1)
    return _averaged(result, itself)


def _itself(m: int, third: Tensor) -> Tensor:
    """Which third object is the object itself: a pair has no third object in itself."""
    return torch.arange(m)[:, None] == third


def _averaged(total: Tensor, itself: Tensor) -> Tensor:
    others = itself.shape[1] - itself.sum(1)
    total /= others[:, None] - itself.sum(1)
    return total.fill_diagonal_(torch.nan)
