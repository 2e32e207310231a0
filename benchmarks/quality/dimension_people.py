"""How many dimensions the judgments of people show: at three learning rates, and in two halves.

The refits are stored in the folder `dimension_store`, so that a run that was killed goes on.
"""

from __future__ import annotations

import warnings

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.dimension_counts import STORE
from pyrovice.criticism.dimension_count import (
    LEAST_RETURNS,
    SHARE,
    Dimensionality,
    real_probability,
)
from pyrovice.criticism.recurring_dimensions import recurring
from pyrovice.criticism.resamples import RATES, resamples_of
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.many_fits import results_of
from pyrovice.inference.plan import Plan
from pyrovice.results.matching import SAME_DIMENSION, correlations

SURE = 0.9
RESAMPLES = 12
# Above which two independent estimates are of the same dimension.
BOTH = SAME_DIMENSION**2


def run(quick: bool) -> str:
    data = human_things()
    if data is None:
        return "The judgments of people are not at hand here."
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    if quick:
        data = data.subset(40_000, seed=0)
    lines = [
        f"{len(data):,} judgments of people on 1,854 objects: what fits at a half, one and two "
        "times the automatic learning rate keep, and what `fit.dimensionality(data)` says of each.",
        "",
        "| judgments | rate | kept | count | 90 % interval | certain | likely | possible |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rate in RATES[1:2] if quick else RATES:
        fit = fitted(data, rate)
        lines.append(row("all", rate, fit, counted(fit, data)))
    others = {f"seed {seed}": fitted(data, 1.0, seed=seed) for seed in (1, 2)}
    others["the paper's start from noise"] = fitted(data, 1.0, pv.Training(start="noise"))
    halves = data.split(0.5, 0.5, seed=0)
    fits = [fitted(half, 1.0) for half in halves]
    for name, fit, half in zip(("one half", "the other"), fits, halves, strict=True):
        lines.append(row(name, 1.0, fit, counted(fit, half)))
    recur = [recurring_in(fit, half) for fit, half in zip(fits, halves, strict=True)]
    r = np.concatenate([returns(*recur), returns(*recur[::-1])])
    lines += [
        "",
        "At the automatic rate, fits to all judgments from other starts keep "
        + ", ".join(f"{fit.n_dimensions} ({name})" for name, fit in others.items())
        + ".",
        "",
        f"The halves have no judgment in common. Two estimates that each correlate at "
        f"{SAME_DIMENSION} with what they are of correlate at {BOTH:.2f} with each other, if their "
        f"errors are their own. Of the {len(r)} dimensions that have a probability above {SURE} in "
        f"one half, {(r > BOTH).sum()} are at r > {BOTH:.2f} among those that recur in the other "
        "(each the mean of what the refits have of it), and "
        f"{(r > SAME_DIMENSION).sum()} at r > {SAME_DIMENSION}; the lowest is {r.min():.2f}.",
    ]
    return "\n".join(lines)


def fitted(
    data: pv.Triplets, rate: float, training: pv.Training | None = None, seed: int = 0
) -> pv.Fit:
    """The default fit at a multiple of the automatic learning rate."""
    return train_plan(
        Plan.of(
            data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=training or pv.Training(),
            seed=seed, rate_factor=rate,
        )
    )  # fmt: skip


def counted(fit: pv.Fit, data: pv.Triplets) -> Dimensionality:
    """What is said of its dimensions."""
    return fit.dimensionality(data, resamples=RESAMPLES, store=STORE / "refits", progress=False)


def row(name: str, rate: float, fit: pv.Fit, found: Dimensionality) -> str:
    verdicts = found.table.verdict.value_counts()
    shares = " | ".join(str(verdicts.get(each, 0)) for each in ("certain", "likely", "possible"))
    return (
        f"| {name} | {rate:g} | {fit.n_dimensions} | {found.count} | {found.low} to {found.high} | "
        f"{shares} |"
    )


def recurring_in(fit: pv.Fit, data: pv.Triplets) -> tuple[np.ndarray, np.ndarray]:
    """What the refits of `counted` have in common, and how probably each of it is real."""
    wanted = resamples_of(fit, data, [SHARE] * RESAMPLES, seed=0)
    kept = results_of(wanted, store=STORE / "refits")
    common = recurring([each["embedding"].astype(float) for each in kept])
    returned = common.found.sum(axis=0)
    often = returned >= LEAST_RETURNS
    return common.centres[:, often], real_probability(returned[often], RESAMPLES)


def returns(
    mine: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """How well each sure dimension of one half correlates with its like in the other."""
    centres, probability = mine
    return correlations(centres[:, probability > SURE], other[0]).max(axis=1)
