"""Dot products of pairs in which everybody weighs the dimensions for themselves."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding, embedding_bag

from pyrovice.model.judgments import Judgments


def weighted_similarity(X: Tensor, weight: Tensor, judgments: Judgments) -> Tensor:
    """Σ_k w_pk x_ik x_jk of the three pairs of every judgment by a known person, (3, n).

    Parameters
    ----------
    X : Tensor of shape (objects, dimensions)
        The rectified embedding.
    weight : Tensor of shape (people, dimensions)
        Everybody's weights.
    judgments : Judgments
        Whose pairs, with the person who made each of them.
    """
    assert judgments.person is not None
    found: Tensor = _Weighted.apply(X, weight, judgments)
    return found


class _Weighted(torch.autograd.Function):
    """What autograd would do too, with less memory to go through: three times as fast."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, weight: Tensor, judgments: Judgments) -> Tensor:
        ctx.save_for_backward(X, weight)
        ctx.judgments = judgments
        found = []
        for block in judgments.blocks:
            first, second, third, w = _rows(X, weight, block)
            seen = first * w
            pairs = ((second.mul(w), third), (seen, third), (seen, second))
            found.append(torch.stack([torch.linalg.vecdot(a, b) for a, b in pairs]))
        return torch.cat(found, -1)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None]:
        X, weight = ctx.saved_tensors
        judgments: Judgments = ctx.judgments
        if torch.is_grad_enabled():
            # Somebody wants second derivatives, and autograd knows them.
            plain = _plain(X, weight, judgments)
            by_X, by_weight = torch.autograd.grad(plain, (X, weight), slope, create_graph=True)
            return by_X, by_weight, None
        by_X, by_weight = torch.zeros_like(X), torch.zeros_like(weight)
        slopes = slope.split([len(block) for block in judgments.blocks], -1)
        for block, (of_23, of_13, of_12) in zip(judgments.blocks, slopes, strict=True):
            first, second, third, w = _rows(X, weight, block)
            by_rows = X.new_empty(3, len(block), X.shape[-1])
            by_first, by_second, by_third = by_rows
            torch.mul(of_12[:, None], second, out=by_first).addcmul_(of_13[:, None], third)
            torch.mul(of_12[:, None], first, out=by_second).addcmul_(of_23[:, None], third)
            torch.mul(of_13[:, None], first, out=by_third).addcmul_(of_23[:, None], second)
            by_w = (first * by_first).addcmul_(second * third, of_23[:, None])
            by_rows *= w
            by_X += _summed(by_rows.flatten(0, 1), block.order_by_object, len(X))
            by_weight += _summed(by_w, block.order_by_person, len(weight))
        return by_X, by_weight, None


def _rows(X: Tensor, weight: Tensor, judgments: Judgments) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The three objects of all judgments, and the weights of who judged."""
    assert judgments.person is not None
    first, second, third = (embedding(place, X) for place in judgments.objects)
    return first, second, third, embedding(judgments.person, weight)


def _summed(values: Tensor, order: tuple[Tensor, Tensor], size: int) -> Tensor:
    """The sums of the rows that belong to each of `size` numbers."""
    places, numbers = order
    first = torch.searchsorted(numbers, torch.arange(size, device=numbers.device))
    return embedding_bag(places, values, first, mode="sum")


def _plain(X: Tensor, weight: Tensor, judgments: Judgments) -> Tensor:
    with torch.enable_grad():
        first, second, third, w = _rows(X, weight, judgments)
        pairs = ((second, third), (first, third), (first, second))
        return torch.stack([(a * b * w).sum(-1) for a, b in pairs])
