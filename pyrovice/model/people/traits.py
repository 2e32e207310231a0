"""What people have of their own, and the objects as each of them sees them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Copies of traits that the derivatives of so many judgments or more are summed into. Four took half
# of the time of one, where half of 160,000 judgments were of nobody who is known.
COPIES, COPIED_FROM = 4, 20_000


@dataclass(frozen=True)
class Traits:
    """What people have of their own, (..., people, ...); None if they do not differ in it."""

    weight: Tensor | None
    temperature: Tensor | None
    lapse: Tensor | None
    own: Tensor | None


def of_each(trait: Tensor, who: Tensor) -> Tensor:
    """A trait of whoever gave each judgment, (..., n).

    Many judgments have nobody who is known. Their derivatives, summed into one number one after
    the other, would wait for each other; of several copies each has a part of them.
    """
    n = who.shape[0]
    if n < COPIED_FROM or not torch.is_grad_enabled():
        return trait.index_select(-1, who)
    copies = trait.unsqueeze(-1).expand(*trait.shape, COPIES).flatten(-2)
    place = who * COPIES + torch.arange(n, device=who.device).remainder(COPIES)
    return copies.index_select(-1, place)


def seen(X: Tensor, person: int, traits: Traits) -> Tensor:
    """The embedding as one person sees it, (..., objects, dimensions)."""
    if traits.own is not None:
        X = (X + traits.own[..., person, :, :]).relu()
    return X if traits.weight is None else X * traits.weight[..., person, None, :].sqrt()


def seen_by_all(X: Tensor, traits: Traits) -> Tensor:
    """The embedding as everybody sees it, (..., people, objects, dimensions)."""
    X = X.unsqueeze(-3)
    if traits.own is not None:
        X = (X + traits.own).relu()
    return X if traits.weight is None else X * traits.weight.sqrt().unsqueeze(-2)


def seen_rows(
    X: Tensor, objects: Tensor, who: Tensor, traits: Traits
) -> tuple[Tensor, Tensor, Tensor]:
    """The three objects of every judgment as its person sees them, each (..., n, dimensions)."""
    factor = None if traits.weight is None else traits.weight.sqrt().index_select(-2, who)
    found = []
    for place in objects:
        row = X.index_select(-2, place)
        if traits.own is not None:
            of_everybody = traits.own.flatten(-3, -2)
            row = (row + of_everybody.index_select(-2, who * X.shape[-2] + place)).relu()
        found.append(row if factor is None else row * factor)
    first, second, third = found
    return first, second, third
