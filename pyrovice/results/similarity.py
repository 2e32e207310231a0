"""How alike two objects are: how often their pair would be kept.

The probability that {i, j} is kept, averaged over every third object k.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.validation import whole
from pyrovice.model.model import Model
from pyrovice.results.posterior import Posterior


def similarity_of(
    model: Model, posterior: Posterior, draws: int, seed: int = 0, thirds: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation over posterior draws of how probably each pair is kept.

    Parameters
    ----------
    model, posterior : Model, Posterior
        Of a fit.
    draws : int
        How many draws.
    seed : int
        Seed of the draws and of the third objects.
    thirds : int, optional
        How many third objects to draw, the same for all pairs; all by default.
    """
    m = model.n_objects
    third = torch.arange(m)
    if thirds is not None and whole(thirds, "thirds", least=3) < m:
        some = np.sort(np.random.default_rng(seed).choice(m, thirds, replace=False))
        third = torch.as_tensor(some)
    total = np.zeros((m, m))
    squares = np.zeros_like(total)
    for sites in posterior.each(whole(draws, "draws", least=1), seed):
        kept = model.kept_probability(sites, third).numpy().astype(float)
        total += kept
        squares += kept**2
    mean = total / draws
    return mean, np.sqrt(np.maximum(squares / draws - mean**2, 0))
