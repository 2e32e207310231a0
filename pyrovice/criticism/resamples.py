"""Refits to random parts of the judgments, over seeds and learning rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrovice.data.triplets import Triplets
from pyrovice.guides import Guide, MeanField
from pyrovice.inference.identity import settings
from pyrovice.inference.plan import Plan
from pyrovice.inference.settings import Training
from pyrovice.model.choices import Choice
from pyrovice.model.model import Model
from pyrovice.model.people import People
from pyrovice.model.priors import Prior
from pyrovice.results.fit import Fit
from pyrovice.storage.identity import recognise

# Times the automatic learning rate: what is found should not depend on it.
RATES = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a fit was made, without its result: what a refit needs."""

    prior: Prior
    choice: Choice
    people: People | None
    guide: Callable[[Model], Guide]
    training: Training
    dimensions: int

    @classmethod
    def of(cls, fit: Fit) -> Recipe:
        """The recipe of a fit; of a sampled one, that of the fit it would have started from."""
        # Neither chains nor a consensus can be trained.
        sampled = fit.posterior.from_chains or bool(fit.found_by)
        return cls(
            prior=fit.prior,
            choice=fit.choice,
            people=fit.model.people,
            guide=MeanField() if sampled else fit.guide_family,
            training=Training() if fit.training is None else fit.training,
            dimensions=fit.first_dimensions,
        )

    def with_automatic_rate(self) -> Recipe:
        """The same at the automatic learning rate, where the rate falls along a schedule.

        A constant one, as in the paper's recipe, has to be small, and stays what it is.
        """
        if self.training.schedule is None:
            return self
        return replace(self, training=replace(self.training, learning_rate="auto"))

    def plan(self, data: Triplets, seed: int, rate: float = 1.0) -> Plan:
        """A fit of other judgments."""
        return Plan.of(
            data,
            prior=self.prior,
            choice=self.choice,
            people=self.people,
            guide=self.guide,
            training=self.training,
            dimensions=self.dimensions,
            seed=seed,
            rate_factor=rate,
        )

    def identity(self, data: Triplets) -> dict[str, str]:
        """Everything that decides a refit to these judgments but its seed, in words."""
        words = settings(
            data,
            validation=None,
            guide=self.guide,
            dimensions=self.dimensions,
            training=self.training,
            choice=self.choice,
            people=self.people,
        )
        return words | {"prior": recognise(self.prior)}


@dataclass(frozen=True, eq=False)
class Resample:
    """A refit to a random part of the judgments; its kept dimensions are what is of interest.

    Judgments are drawn without replacement. One that is drawn twice, as in a bootstrap, passes for
    two pieces of evidence, and a fit then keeps dimensions that fit nothing but noise.
    """

    recipe: Recipe
    data: Triplets
    share: float
    rate: float
    seed: int
    words: Mapping[str, str]

    @property
    def identity(self) -> dict[str, str]:
        return {
            **self.words,
            "resample": f"{self.share!r} of the judgments",
            "rate": repr(self.rate),
            "seed": str(self.seed),
        }

    def plan(self) -> Plan:
        part = self.data.subset(max(1, round(self.share * len(self.data))), self.seed)
        return self.recipe.plan(part, self.seed, self.rate)

    def keep(self, fit: Fit) -> dict[str, np.ndarray[Any, Any]]:
        return {"embedding": fit.embedding().to_numpy(np.float32)}


def resamples_of(fit: Fit, data: Triplets, shares: Sequence[float], seed: int) -> list[Resample]:
    """A refit for each of these shares of the judgments, the learning rates taking turns."""
    recipe = Recipe.of(fit).with_automatic_rate()
    words = recipe.identity(data)
    seeds = np.random.SeedSequence(seed).generate_state(len(shares)).tolist()
    return [
        Resample(recipe, data, share, RATES[i % len(RATES)], seeds[i], words)
        for i, share in enumerate(shares)
    ]
