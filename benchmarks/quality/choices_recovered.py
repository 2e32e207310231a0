"""Are the parameters of a choice found again, in simulated judgments?

Every data set is kept beside the others until the table is written, so that a run that was stopped
goes on: in the folder named by the variable PYROVICE_RUNS, or in a temporary one.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pyro.distributions as dist
import torch
from numpy.typing import NDArray

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding

OBJECTS, DIMENSIONS = 24, 3
DATA_SETS = 20
TRAINING = pv.Training(schedule=pv.Anneal(steps=600))
LAPSE, FAVOUR = dist.Beta(1.0, 20.0), dist.Normal(0.0, 0.3)
TEMPERATURE = dist.LogNormal(0.0, 0.3)


@dataclass(frozen=True)
class Design:
    """What answers are simulated with, what is learned, and from how many."""

    true: Any
    learned: Any
    judgments: int
    from_prior: bool = False

    @property
    def parameter(self) -> str:
        return next(iter(self.learned.learned()))

    def truth(self) -> list[float]:
        return np.atleast_1d(getattr(self.true, self.parameter)).tolist()


def _design(judgments: int, learned: Any, **true: Any) -> Design:
    choice = pv.choices.DotProduct
    return Design(choice(**true), choice(**learned), judgments, "temperature" in true)


DESIGNS = {
    "lapse 0": _design(20_000, {"lapse": LAPSE}, lapse=0.0),
    "lapse .05": _design(20_000, {"lapse": LAPSE}, lapse=0.05),
    "lapse .15": _design(20_000, {"lapse": LAPSE}, lapse=0.15),
    "temperature .7": _design(5_000, {"temperature": TEMPERATURE}, temperature=0.7),
    "temperature 1.4": _design(5_000, {"temperature": TEMPERATURE}, temperature=1.4),
    "position": _design(5_000, {"position": FAVOUR}, position=(0.3, 0.0, -0.3)),
}


def run(quick: bool) -> str:
    folder = Path(os.environ.get("PYROVICE_RUNS") or mkdtemp())
    times = 2 if quick else DATA_SETS
    found = {
        name: np.stack([learned(folder, name, seed) for seed in range(times)]) for name in DESIGNS
    }
    return "\n".join(table(found))


def embedding(seed: int, from_prior: bool) -> NDArray[np.float64]:
    """Plausible weights; weights of the prior where it alone tells their scale."""
    if not from_prior:
        return plausible_embedding(OBJECTS, DIMENSIONS, seed=seed)
    torch.manual_seed(seed)
    return pv.Model(pv.SpikeSlab(), OBJECTS, DIMENSIONS).embedding().relu().numpy()


def learned(folder: Path, name: str, seed: int) -> NDArray[np.float64]:
    """By entry: mean, and the ends of the interval, after sampling and of the guide itself."""
    path, design = folder / f"recovered {name} {seed}.npy", DESIGNS[name]
    if path.exists():
        return np.load(path)
    data = pv.simulate(
        embedding(seed, design.from_prior), design.judgments, seed=seed, choice=design.true
    )
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    fit = pv.fit(
        data,
        choice=design.learned,
        dimensions=DIMENSIONS if design.from_prior else 2 * DIMENSIONS,
        training=TRAINING,
        seed=seed,
        progress=False,
    )
    drawn = fit.hyperparameters()[["mean", "5 %", "95 %"]].to_numpy()
    guess = fit.guide.quantiles([0.05, 0.95])[design.parameter].detach().numpy().reshape(2, -1).T
    found = np.concatenate([drawn, guess], axis=1)
    np.save(path, found)
    return found


def table(found: dict[str, NDArray[np.float64]]) -> Iterator[str]:
    yield (
        f"{OBJECTS} objects in {DIMENSIONS} dimensions, {DATA_SETS} data sets each. Weights are "
        "plausible ones, and fits begin with twice the dimensions; where the temperature is "
        "learned, only the scale of the prior tells it from the scale of the weights, so these "
        "are drawn from the prior and their number is given. *In the interval*: of the 90 % "
        "intervals of all entries, in how many data sets each (for positions: first, second and "
        "third place). *Guide*: the same of the mean-field guide as it is trained, before the "
        "sampler takes over."
    )
    yield ""
    yield "| design | judgments | true | mean | highest upper end | in the interval | guide |"
    yield "| --- " * 7 + "|"
    for name, of in found.items():
        design = DESIGNS[name]
        cells = []
        for i, true in enumerate(design.truth()):
            mean, low, high, guide_low, guide_high = of[:, i].T
            at_zero = design.parameter == "lapse" and true == 0
            # No interval of shares reaches down to zero.
            held = high < 0.02 if at_zero else (low <= true) & (true <= high)
            guess = guide_high < 0.02 if at_zero else (guide_low <= true) & (true <= guide_high)
            what = " below .02" if at_zero else ""
            cells.append(
                (
                    f"{true:g}",
                    f"{mean.mean():.3f}",
                    f"{high.max():.3f}",
                    f"{held.sum()} of {len(of)}{what}",
                    f"{guess.sum()}{what}",
                )
            )
        columns = (", ".join(column) for column in zip(*cells, strict=True))
        yield f"| {name} | {design.judgments:,} | {' | '.join(columns)} |"
