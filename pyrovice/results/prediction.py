"""Choice probabilities averaged over the posterior (paper, "Posterior probability estimation")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.repeats import triplet_keys
from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError
from pyrovice.model.model import Model
from pyrovice.results.posterior import Posterior

# Judgments from which on putting them in order saves more than it takes.
WORTH_SORTING = 100_000


def predict(
    model: Model, posterior: Posterior, triplets: Triplets, draws: int, seed: int
) -> NDArray[np.float64]:
    """Mean over posterior draws of the probability of each position being odd, (n, 3)."""
    if draws < 1:
        raise DataError(f"draws={draws}; expected at least one.")
    if triplets.n_objects != posterior.shape[0]:
        raise DataError(
            f"The judgments are of {triplets.n_objects} objects and the fit of "
            f"{posterior.shape[0]}; read them with the fit's names=fit.names."
        )
    order = None
    if len(triplets) >= WORTH_SORTING:
        # Neighbouring rows then look up neighbouring similarities.
        order = np.argsort(triplet_keys(triplets.objects, triplets.n_objects))
        triplets = triplets[order]
    shown = model.judgments(triplets)
    # By position, as probabilities are computed: three long rows instead of many short ones.
    total = np.zeros((3, len(triplets)))
    for sites in model.with_newcomers(posterior.each(draws, seed), draws, seed):
        for rows, p in model.choice_probability_in_stretches(sites, shown):
            # Torch would make a copy in float64 first.
            total[:, rows] += p.numpy()
    total /= draws
    found = np.empty((len(triplets), 3))
    found[slice(None) if order is None else order] = total.T
    return found


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
