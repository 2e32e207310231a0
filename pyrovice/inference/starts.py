"""Where training starts: the first mean and scale of every entry of X.

Where training starts decides which dimensions it can find. The paper starts
from noise; the default here starts from the judgments themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.model.judgments import Judgments

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator

Start = Callable[[Judgments, int], tuple[Tensor, Tensor]]
"""Judgments and number of dimensions to (mean, scale), both m x d."""

ROTATIONS = 60
OBJECTS_PER_VECTOR = 12
HEAD_START = 0.3
SMALL = 0.1
# Features count if they hold by so many standard deviations more than in so many random orders.
SHUFFLES, CLEARLY = 12, 3.0


def from_noise(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
    """The paper's start: Kaiming normal means N(0, 2/d), log-scale −1/sd(means)."""
    loc = torch.randn(judgments.n_objects, dimensions) * (2 / dimensions) ** 0.5
    return loc, torch.exp(-1 / loc.std()).expand_as(loc)


def from_pair_counts(
    judgments: Judgments, dimensions: int, known: NDArray[np.floating] | None = None
) -> tuple[Tensor, Tensor]:
    """Start from how much more often than by chance each pair was kept.

    With all similarities equal, the gradient of the log-likelihood by the
    similarity of a pair is (times kept) − (times shown)/3, and its curvature is
    (times shown)·2/9. One Newton step gives a noisy similarity matrix; its
    leading eigenvectors, rotated towards sparsity (varimax), turned to the side
    of their heavier tail and rectified, are a first non-negative embedding.
    Dimensions beyond those start from positive noise.

    `known` are directions, objects x components, in which the embedding is expected: the
    features of the objects. What the counts say in other directions counts less, so that noise
    there is as large as it is along them. Features that say no more about the counts than those
    of other objects would are left aside.
    """
    # Weak dimensions hide below the edge of the noise and are worth rotating too. But rotated
    # towards sparsity, as many vectors as there are objects would single out objects.
    least = judgments.n_objects // OBJECTS_PER_VECTOR
    found = _non_negative_factors(judgments, dimensions, least, known)
    noise = torch.randn(judgments.n_objects, dimensions).abs()
    size = found.shape[1]
    # Exact zeros would be dead under the rectifier, and seeds must differ a little.
    first = found.to(noise) + 0.01 * noise[:, :size]
    # The dimensions that no eigenvector gave must not collapse before they have found
    # anything: the paper's noise alone loses them where the judgments are few.
    others = ((2 / dimensions) ** 0.5 + HEAD_START) * noise[:, size:]
    loc = torch.cat([first, others], dim=1)
    return loc, torch.full_like(loc, 0.1)


def from_clear_pair_counts(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
    """The same for guides without uncertainty, with nothing that could be noise.

    A point keeps what fits, be it noise: what it is given it does not give up. So it is
    given eigenvectors beyond the spectrum of noise only, and the other dimensions start as
    those of the SPoSE program do, small and all alike.
    """
    found = _non_negative_factors(judgments, dimensions, 0)
    noise = torch.randn(judgments.n_objects, dimensions)
    size = found.shape[1]
    others = SMALL + SMALL / 10 * noise[:, size:]
    loc = torch.cat([found.to(noise) + 0.01 * noise[:, :size].abs(), others], dim=1)
    return loc, torch.full_like(loc, 0.1)


def _non_negative_factors(
    judgments: Judgments, most: int, least: int, known: NDArray[np.floating] | None = None
) -> Tensor:
    """The leading eigenvectors of the pair counts, rotated and rectified: `least` at least."""
    from scipy.sparse.linalg import ArpackError, eigsh

    excess, shown = pair_counts(judgments)
    m = judgments.n_objects
    curvature = 2 / 9 * shown / (m * (m - 1) / 2)
    similarity, rank = excess / curvature, m
    if known is not None and known.shape[1] < m:
        basis, _ = np.linalg.qr(known.astype(float))
        if _tells(basis, similarity):
            similarity, rank = _along(similarity, basis), known.shape[1]
    # The spectrum of pure noise of this size ends here (Wigner's semicircle).
    noise_edge = 2 * (rank / curvature) ** 0.5
    most = min(most, m - 1)
    try:
        values, vectors = eigsh(similarity, k=most, which="LA", v0=np.ones(m))
    except ArpackError:
        # Answers that cancel out leave nothing to look at: training starts from noise.
        return torch.zeros(m, 0)
    size = min(most, max(int((values > noise_edge).sum()), least))
    values, vectors = values[most - size :], vectors[:, most - size :]
    if not size:
        return torch.zeros(m, 0)
    signal = 0.5 * (values + np.sqrt(np.maximum(values**2 - noise_edge**2, 0)))
    rotated = (vectors * np.sqrt(np.maximum(signal, 0))) @ varimax(vectors)
    rotated = rotated * np.where((rotated**3).sum(0) < 0, -1.0, 1.0)
    return torch.as_tensor(rotated).relu()


def _tells(basis: NDArray[np.floating], similarity: csr_array) -> bool:
    """Whether directions hold more of the similarities than if their rows were shuffled."""
    rng = np.random.default_rng(0)
    m = len(basis)

    def held(basis: NDArray[np.floating]) -> float:
        return float(np.linalg.norm(basis.T @ (similarity @ basis)))

    by_chance = [held(basis[rng.permutation(m)]) for _ in range(SHUFFLES)]
    return held(basis) > float(np.mean(by_chance) + CLEARLY * np.std(by_chance))


def _along(similarity: csr_array, basis: NDArray[np.floating]) -> LinearOperator:
    """The similarities with all but some directions damped.

    Noise of m x m independent entries has a spectrum up to √m, and in a space of r directions
    up to √r. Damped by (r/m)^¼ on both sides, the rest of it ends at √r too.
    """
    from scipy.sparse.linalg import LinearOperator

    m, rank = basis.shape
    damped = (rank / m) ** 0.25

    def turned(x: NDArray[np.floating]) -> NDArray[np.floating]:
        return damped * x + (1 - damped) * (basis @ (basis.T @ x))

    return LinearOperator((m, m), matvec=lambda x: turned(similarity @ turned(x)), dtype=float)


def pair_counts(judgments: Judgments) -> tuple[csr_array, float]:
    """Times kept minus expected by chance, symmetric (m, m), and how many pairs were shown."""
    from scipy.sparse import coo_array

    m = judgments.n_objects
    allowed = np.ones((3, len(judgments)))
    if judgments.anchor is not None:
        allowed = (judgments.anchor.cpu().numpy() != np.arange(3)[:, None]).astype(float)
    kept = judgments.odd.cpu().numpy() == np.arange(3)[:, None]
    excess = kept - allowed / allowed.sum(0)
    if judgments.weight is not None:
        weight = judgments.weight.cpu().numpy()
        allowed, excess = allowed * weight, excess * weight
    pairs = judgments.pairs.cpu().numpy().ravel()
    one_way = coo_array((excess.ravel(), (pairs // m, pairs % m)), shape=(m, m)).tocsr()
    return one_way + one_way.T, float(allowed.sum())


def varimax(loadings: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation that makes the squared loadings of each column most uneven."""
    rotation = np.eye(loadings.shape[1])
    reached = 0.0
    for _ in range(ROTATIONS):
        rotated = loadings @ rotation
        target = rotated**3 - rotated * (rotated**2).mean(0)
        left, strength, right = np.linalg.svd(loadings.T @ target)
        rotation = left @ right
        if strength.sum() < reached * (1 + 1e-5):
            break
        reached = strength.sum()
    return rotation
