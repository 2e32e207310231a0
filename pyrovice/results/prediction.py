"""Choice probabilities averaged over the posterior (paper, "Posterior probability estimation")."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError
from pyrovice.model.judgments import Judgments, choice_log_probability
from pyrovice.results.posterior import Posterior


def predict(posterior: Posterior, triplets: Triplets, draws: int, seed: int) -> NDArray[np.float64]:
    """Mean over posterior draws of the probability of each position being odd, (n, 3)."""
    if draws < 1:
        raise DataError(f"draws={draws}; expected at least one.")
    if triplets.n_objects != posterior.shape[0]:
        raise DataError(
            f"The judgments are of {triplets.n_objects} objects and the fit of "
            f"{posterior.shape[0]}; read them with the fit's names=fit.names."
        )
    shown = Judgments.of(triplets)
    total = torch.zeros(len(triplets), 3, dtype=torch.float64)
    for X in posterior.draws(draws, seed):
        total += choice_log_probability(torch.from_numpy(X), shown.pairs, shown.anchor).exp()
    return (total / draws).numpy()


def random_answers(seed: int) -> np.random.Generator:
    """Random numbers to draw answers with.

    They are others than NumPy gives for the same seed: a user may have assigned participants
    with those, and answers must not go with participants.
    """
    return np.random.default_rng([seed, 333])


def draw_answers(probabilities: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int8]:
    """One answer to each question, drawn with its probabilities (n, 3)."""
    uniform = rng.random((len(probabilities), 1), dtype=np.float32)
    # 1 − u lies in (0, 1], so that an answer of probability zero is never drawn.
    return ((1 - uniform) > np.cumsum(probabilities[:, :2], axis=1)).sum(axis=1).astype(np.int8)
