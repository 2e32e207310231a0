"""Where training starts: the first mean and scale of every entry of X.

Where training starts decides which dimensions it can find. The paper starts
from noise; the default here starts from the judgments themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from pyrovice.likelihood import Judgments

Start = Callable[[Judgments, int], tuple[Tensor, Tensor]]
"""Judgments and number of dimensions to (mean, scale), both m x d."""

ROTATIONS = 60
OBJECTS_PER_VECTOR = 12


def from_noise(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
    """The paper's start: Kaiming normal means N(0, 2/d), log-scale −1/sd(means)."""
    loc = torch.randn(judgments.n_objects, dimensions) * (2 / dimensions) ** 0.5
    return loc, torch.exp(-1 / loc.std()).expand_as(loc)


def from_pair_counts(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
    """Start from how much more often than by chance each pair was kept.

    With all similarities equal, the gradient of the log-likelihood by the
    similarity of a pair is (times kept) − (times shown)/3, and its curvature is
    (times shown)·2/9. One Newton step gives a noisy similarity matrix; its
    leading eigenvectors, rotated towards sparsity (varimax), turned to the side
    of their heavier tail and rectified, are a first non-negative embedding.
    Dimensions beyond those start from positive noise.
    """
    excess, shown = pair_counts(judgments)
    m = judgments.n_objects
    curvature = 2 / 9 * shown.sum() / (m * (m - 1))
    values, vectors = torch.linalg.eigh(excess / curvature)
    # The spectrum of pure noise of this size ends here (Wigner's semicircle).
    noise_edge = 2 * (m / curvature).sqrt()
    # Weak dimensions hide below the edge and are worth rotating too. But rotated towards
    # sparsity, as many vectors as there are objects would single out objects.
    size = max(int((values > noise_edge).sum()), m // OBJECTS_PER_VECTOR)
    size = min(size, dimensions)
    values, vectors = values[m - size :], vectors[:, m - size :]
    signal = 0.5 * (values + (values.square() - noise_edge.square()).clamp(min=0).sqrt())
    rotated = (vectors * signal.clamp(min=0).sqrt()) @ varimax(vectors)
    rotated = rotated * torch.where(rotated.pow(3).sum(0) < 0, -1.0, 1.0)
    noise = torch.randn(m, dimensions).abs()
    # Exact zeros would be dead under the rectifier, and seeds must differ a little.
    found = rotated.relu() + 0.01 * noise[:, :size]
    loc = torch.cat([found, (2 / dimensions) ** 0.5 * noise[:, size:]], dim=1)
    return loc, torch.full_like(loc, 0.1)


def pair_counts(judgments: Judgments) -> tuple[Tensor, Tensor]:
    """Times kept minus expected by chance, and times shown; symmetric, (m, m)."""
    m = judgments.n_objects
    pairs = judgments.pairs.flatten()
    allowed = torch.ones(3, len(judgments))
    if judgments.anchor is not None:
        allowed = (judgments.anchor != torch.arange(3)[:, None]).to(allowed)
    kept = torch.nn.functional.one_hot(judgments.odd, 3).mT.to(allowed)
    excess = kept - allowed / allowed.sum(0)
    if judgments.weight is not None:
        allowed, excess = allowed * judgments.weight, excess * judgments.weight
    total = torch.zeros(2, m * m)
    total[0].index_add_(0, pairs, excess.flatten())
    total[1].index_add_(0, pairs, allowed.flatten())
    total = total.view(2, m, m)
    total = total + total.mT
    return total[0], total[1]


def varimax(loadings: Tensor) -> Tensor:
    """The rotation that makes the squared loadings of each column most uneven."""
    size = loadings.shape[1]
    rotation = torch.eye(size)
    reached = loadings.new_zeros(())
    for _ in range(ROTATIONS):
        rotated = loadings @ rotation
        target = rotated.pow(3) - rotated * rotated.square().mean(0)
        left, strength, right = torch.linalg.svd(loadings.mT @ target)
        rotation = left @ right
        if strength.sum() < reached * (1 + 1e-5):
            break
        reached = strength.sum()
    return rotation
