"""How alike two objects are: how often their pair would be kept.

The probability that {i, j} is kept, averaged over every third object k.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.validation import whole
from pyrovice.results.posterior import Posterior

Kept = Callable[[dict[str, torch.Tensor], torch.Tensor], torch.Tensor]
"""One draw of all sites and third objects, to how probably each pair is kept."""


def similarity_of(
    kept: Kept, posterior: Posterior, draws: int, seed: int = 0, thirds: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation over posterior draws of how probably each pair is kept.

    Parameters
    ----------
    kept : callable
        From one draw of all sites and the third objects to the probabilities, (m, m): that of a
        model, or of one person.
    posterior : Posterior
        What to draw from.
    draws : int
        How many draws.
    seed : int
        Seed of the draws and of the third objects.
    thirds : int, optional
        How many third objects to draw, the same for all pairs; all by default.
    """
    m = posterior.shape[0]
    third = torch.arange(m)
    if thirds is not None and whole(thirds, "thirds", least=3) < m:
        some = np.sort(np.random.default_rng(seed).choice(m, thirds, replace=False))
        third = torch.as_tensor(some)
    total = np.zeros((m, m))
    squares = np.zeros_like(total)
    for sites in posterior.each(whole(draws, "draws", least=1), seed):
        drawn = kept(sites, third).numpy().astype(float)
        total += drawn
        squares += drawn**2
    mean = total / draws
    return mean, np.sqrt(np.maximum(squares / draws - mean**2, 0))
