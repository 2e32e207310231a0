"""The experimenter's question: how many judgments do I need?"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.criticism.across_seeds import reproducibility
from pyrovice.criticism.bounds.prospective import sample_size
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError, PyroviceWarning
from pyrovice.guides import MeanField
from pyrovice.inference.plan import Plan
from pyrovice.inference.settings import Training
from pyrovice.inference.stacked_fits import fit_many, fit_or_error
from pyrovice.model.priors import SpikeSlab
from pyrovice.model.simulation import (
    check_embedding,
    choice_probabilities,
    plausible_embedding,
    simulate,
)
from pyrovice.results.matching import recovered

# New triplets that simulated fits are scored on: an accuracy to within about 0.005.
TEST_TRIPLETS = 10_000
# Enough judgments reach this share of the best possible accuracy above chance.
ENOUGH = 0.95
MEANINGS = {
    "judgments": "how many were simulated and fitted",
    "per_object": "in how many each object takes part, on average",
    "accuracy": "share of new answers that the fits predict",
    "best": "the same for the truth itself, which nothing can exceed",
    "dimensions": "how many are kept, on average over the seeds",
    "recovered": "share of the true dimensions that a kept one correlates with above 0.8",
    "reproducibility": "share of kept dimensions that come back with other seeds",
}


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """How many judgments an experiment needs; made by :func:`design`, printed in words.

    Attributes
    ----------
    n_objects, dimensions : int
        What was asked about.
    epsilon, delta, levels
        What the bound was asked to guarantee.
    sample_size : int
        Judgments that the paper's bound asks for.
    participants : int or None
        How many people share them.
    simulated : DataFrame or None
        A row per number of judgments that was tried: `judgments`, `per_object` (in how many
        each object takes part), `accuracy` on new triplets with its `best` possible value,
        `dimensions` kept (mean over seeds), `recovered` (share of the true dimensions with a
        match above 0.8) and `reproducibility` over seeds. Larger numbers of
        judgments contain the smaller ones.
    runs : DataFrame or None
        The same by seed, for :func:`pyrovice.plot.learning_curves`.
    anchored : bool
        Whether every simulated judgment has an anchor, and thus two answers.
    """

    n_objects: int
    dimensions: int
    epsilon: float
    delta: float
    levels: int
    sample_size: int
    participants: int | None = None
    simulated: pd.DataFrame | None = None
    runs: pd.DataFrame | None = None
    anchored: bool = False

    def per_participant(self, judgments: int) -> int | None:
        """How many judgments each participant makes, of this many in all."""
        return None if self.participants is None else math.ceil(judgments / self.participants)

    @property
    def enough(self) -> int | None:
        """The fewest simulated judgments with 95 % of the best possible accuracy above chance."""
        if self.simulated is None:
            return None
        chance = 1 / 2 if self.anchored else 1 / 3
        reached = (self.simulated.accuracy - chance) / (self.simulated.best - chance)
        return next(
            (int(n) for n, r in zip(self.simulated.judgments, reached, strict=True) if r >= ENOUGH),
            None,
        )

    def __repr__(self) -> str:
        said = (
            f"For {self.n_objects:,} objects and at most {self.dimensions} dimensions the bound "
            f"asks for {self._in_words(self.sample_size)}: then, with probability "
            f"{1 - self.delta:g}, any embedding whose weights take {self.levels + 1} values has "
            f"an error on new triplets that is at most {self.epsilon:g} above its error on these. "
            "This holds for all such embeddings at once, and is therefore very conservative."
        )
        if self.simulated is None:
            said += (
                " Simulations say what fewer would give: add judgments=[...], on the command line "
                "--judgments N."
            )
            return textwrap.fill(said, 100)
        enough = (
            "none of the numbers tried"
            if self.enough is None
            else f"{self._in_words(self.enough)} (of the numbers tried)"
        )
        told = (
            "In simulations from an embedding of that size, 95 % of the best possible accuracy "
            f"above chance was reached by {enough}."
        )
        table = self.simulated.to_string(index=False, float_format=lambda value: f"{value:.3f}")
        meanings = "\n".join(f"  {name:<16} {MEANINGS[name]}" for name in self.simulated)
        noise = (
            f"One of {self.dimensions} dimensions more or less is {1 / self.dimensions:.2f} of "
            "`recovered`: with few seeds it can fall by that much by chance."
        )
        parts = [textwrap.fill(said, 100), textwrap.fill(told, 100), table, meanings]
        return "\n".join([*parts, textwrap.fill(noise, 100)])

    def _in_words(self, judgments: int) -> str:
        each = self.per_participant(judgments)
        shared = "" if each is None else f", with {self.participants:,} participants {each:,} each"
        return f"{judgments:,} judgments{shared}"


def design(
    n_objects: int,
    dimensions: int,
    *,
    participants: int | None = None,
    epsilon: float = 0.1,
    delta: float = 0.001,
    levels: int = 4,
    judgments: int | Sequence[int] = (),
    embedding: ArrayLike | pd.DataFrame | None = None,
    anchored: bool = False,
    seeds: int = 2,
    training: Training = Training(),  # noqa: B008 (frozen)
) -> Design:
    """Say how many judgments an experiment needs: by the bound, and by simulation.

    Once there are some hundred judgments, :func:`pyrovice.forecast` says what more would give.

    Parameters
    ----------
    n_objects, dimensions : int
        How many objects, and how many dimensions there may be at most.
    participants : int, optional
        How many people share the judgments.
    epsilon, delta, levels
        As for :func:`sample_size`.
    judgments : int or sequence of int, optional
        Numbers of judgments to simulate and fit, which takes a few seconds for each and each
        seed. Without any, there is only the bound.
    embedding : array of shape (n_objects, d), optional
        The truth to simulate from, for example that of a pilot. By default one that
        resembles the published ones is made up, with `dimensions` dimensions.
    anchored : bool
        Whether to simulate "is the anchor more like a or b?" instead of "which is the odd one?".
    seeds : int
        How many fits for each number of judgments, all to the same simulated ones.
    training : Training
        How to train them.

    Returns
    -------
    Design

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.bounds.design(100, 10, participants=50)
    For 100 objects and at most 10 dimensions the bound asks for 80,818 judgments, with 50
    participants 1,617 each: then, with probability 0.999, any embedding whose weights take 5
    values has an error on new triplets that is at most 0.1 above its error on these. This holds
    for all such embeddings at once, and is therefore very conservative. Simulations say what
    fewer would give: add judgments=[...], on the command line --judgments N.
    """
    needed = sample_size(n_objects, dimensions, levels=levels, epsilon=epsilon, delta=delta)
    if participants is not None:
        participants = whole(participants, "participants", least=1)
    answer = Design(n_objects, dimensions, epsilon, delta, levels, needed, participants)
    sizes = sorted(whole(n, "judgments", least=1) for n in np.atleast_1d(judgments).tolist())
    if not sizes:
        return answer
    seeds = whole(seeds, "seeds", least=2)
    if embedding is None:
        truth = plausible_embedding(n_objects, dimensions, seed=0)
    else:
        truth = check_embedding(embedding)
    if len(truth) != n_objects:
        raise PyroviceError(
            f"The embedding is of {len(truth)} objects and the design of {n_objects}."
        )
    share = 1.0 if anchored else 0.0
    data = simulate(truth, sizes[-1], seed=0, anchored=share)
    test = simulate(truth, TEST_TRIPLETS, seed=1, anchored=share)
    # The first of the same judgments each time: what differs is only how many there are.
    runs = pd.concat(
        [_simulated_runs(truth, data[:n], test, seeds, training) for n in sizes], ignore_index=True
    )
    return replace(answer, simulated=_means_by_size(runs), runs=runs, anchored=bool(anchored))


def _simulated_runs(
    truth: NDArray[np.float64], data: Triplets, test: Triplets, seeds: int, training: Training
) -> pd.DataFrame:
    """Fits of several seeds to the same simulated judgments, scored on new ones."""
    n = len(data)
    chances = choice_probabilities(truth, test.objects, test.anchor)
    with warnings.catch_warnings():
        # Too few judgments are what is being tried out.
        warnings.simplefilter("ignore", PyroviceWarning)
        plans = [
            Plan.of(data, prior=SpikeSlab(), guide=MeanField(), training=training, seed=seed)
            for seed in range(seeds)
        ]
        made = dict(fit_many(plans))
        fits = [fit_or_error(made[seed]).prune() for seed in range(seeds)]
    rows = []
    for seed, found in enumerate(fits):
        p = found.predict(test)
        first = p == p.max(axis=1, keepdims=True)
        rows.append(
            {
                "judgments": n,
                "per_object": 3 * n / len(truth),
                "seed": seed,
                "accuracy": ((chances * first).sum(axis=1) / first.sum(axis=1)).mean(),
                "best": chances.max(axis=1).mean(),
                "dimensions": found.n_dimensions,
                "recovered": recovered(truth, found.embedding().to_numpy()),
            }
        )
    some = any(row["dimensions"] for row in rows)
    for row in rows:
        row["reproducibility"] = reproducibility(fits).score if some else 0.0
    return pd.DataFrame(rows)


def _means_by_size(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.drop(columns="seed").groupby("judgments", as_index=False).mean()
