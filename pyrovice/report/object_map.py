"""Where objects stand on the map of the page: those alike close together.

t-SNE (van der Maaten and Hinton, 2008) with exact gradients on the cosines of the weights, from
their principal components, so that the same fit has the same map.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# How many neighbours an object has, in effect, if there are enough objects.
NEIGHBOURS = 20
STEPS = 200
# In the first steps neighbours attract each other more, so that groups form.
EXAGGERATION, EXAGGERATED_STEPS = 8.0, 70
MOMENTUM, LARGEST_STEP = 0.8, 5.0
# Halvings of the interval in which each object's scale is searched.
HALVINGS = 25
# Objects are moved apart until none is nearer to another than this share of the room they have.
ROOM, ROUNDS = 0.7, 60
TINY = 1e-12


def places(weights: NDArray[np.floating]) -> NDArray[np.float32]:
    """Objects in the unit square, (m, 2).

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.eye(2).repeat(5, axis=0) + 0.1 * np.random.default_rng(0).random((10, 2))
    >>> found = places(weights)
    >>> within = np.ptp(found[:5], axis=0).max()
    >>> bool(within < np.abs(found[:5].mean(0) - found[5:].mean(0)).max())
    True
    """
    m = len(weights)
    X = torch.tensor(np.asarray(weights, np.float32))
    if m < 3 or not X.any():
        return _on_a_circle(m)
    unit = X / X.norm(dim=1, keepdim=True).clamp_min(TINY)
    distance = (1 - unit @ unit.T).clamp_min(0)
    P = _neighbourhoods(distance, min(NEIGHBOURS, (m - 1) / 3))
    Y = _principal(unit)
    moved, rate = torch.zeros_like(Y), max(m / EXAGGERATION, 10.0)
    for step in range(STEPS):
        attraction = P * EXAGGERATION if step < EXAGGERATED_STEPS else P
        moved = (MOMENTUM * moved - rate * _gradient(attraction, Y)).clamp(
            -LARGEST_STEP, LARGEST_STEP
        )
        Y = Y + moved
        Y = Y - Y.mean(0)
    return _squared(_apart(_squared(Y) + 1e-3 * _around(m))).numpy()


def _on_a_circle(m: int) -> NDArray[np.float32]:
    """Where nothing is known of objects, all are equally far from the middle."""
    return (0.5 + 0.5 * _around(m)).numpy()


def _neighbourhoods(distance: Tensor, neighbours: float) -> Tensor:
    """How probably objects are neighbours, (m, m), each with as many of them in effect."""
    m = len(distance)
    low, high = torch.zeros(m, 1), torch.full((m, 1), 1e6)
    scale = torch.ones(m, 1)
    itself = torch.eye(m, dtype=torch.bool)
    for _ in range(HALVINGS):
        p = torch.exp(-(distance - _nearest(distance, itself)) * scale).masked_fill(itself, 0)
        p = p / p.sum(1, keepdim=True).clamp_min(TINY)
        entropy = -(p * p.clamp_min(TINY).log()).sum(1, keepdim=True)
        wide = entropy > np.log(neighbours)
        low, high = torch.where(wide, scale, low), torch.where(wide, high, scale)
        scale = torch.where(high < 1e6, (low + high) / 2, 2 * scale)
    return (p + p.T) / (2 * m)


def _nearest(distance: Tensor, itself: Tensor) -> Tensor:
    return distance.masked_fill(itself, torch.inf).amin(1, keepdim=True)


def _principal(X: Tensor) -> Tensor:
    """The first two principal components, small; signs do not depend on the machine."""
    centred = X - X.mean(0)
    U, S, _ = torch.linalg.svd(centred, full_matrices=False)
    found = U[:, :2] * S[:2]
    found = torch.nn.functional.pad(found, (0, 2 - found.shape[1]))
    signs = torch.sign(found.gather(0, found.abs().argmax(0, keepdim=True)))
    return 1e-2 * (found * signs / found.std().clamp_min(TINY) + 0.1 * _around(len(X)))


def _around(m: int) -> Tensor:
    """Directions, no two equal: objects with equal weights would stay on top of each other."""
    angle = torch.arange(m) * 2.4
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def _squared(Y: Tensor) -> Tensor:
    """The same places, stretched to the unit square."""
    low, high = Y.amin(0), Y.amax(0)
    return (Y - low) / (high - low).clamp_min(TINY)


def _apart(Y: Tensor) -> Tensor:
    """Objects that would stand on top of each other, side by side."""
    least = ROOM / len(Y) ** 0.5
    for _ in range(ROUNDS):
        between = torch.cdist(Y, Y, compute_mode="use_mm_for_euclid_dist").fill_diagonal_(torch.inf)
        i, j = (between < least).nonzero(as_tuple=True)
        if not len(i):
            break
        away = Y[i] - Y[j]
        length = away.norm(dim=1, keepdim=True)
        Y = Y.index_add(0, i, 0.25 * away / length.clamp_min(TINY) * (least - length))
    return Y


def _gradient(P: Tensor, Y: Tensor) -> Tensor:
    """Of the divergence between neighbourhoods of the weights and those of the map."""
    square = (Y**2).sum(1)
    # In place: at two thousand objects nearly all of the time is spent on these matrices.
    near = torch.addmm(square, Y, Y.T, alpha=-2).add_(square[:, None]).clamp_min_(0)
    near.add_(1).reciprocal_().fill_diagonal_(0)
    pull = (P - near / near.sum().clamp_min(TINY)).mul_(near)
    return 4 * (pull.sum(1, keepdim=True) * Y - pull @ Y)
