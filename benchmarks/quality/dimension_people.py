"""How many dimensions the judgments of people show: at three learning rates, and in two halves.

The refits are stored in the folder `dimension_store`, so that a run that was killed goes on.
"""

from __future__ import annotations

import warnings

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.dimension_counts import STORE
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.criticism.resamples import RATES
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.plan import Plan
from pyrovice.results.matching import same_dimensions

SURE = 0.9


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
    halves = data.split(0.5, 0.5, seed=0)
    fits = [fitted(half, 1.0) for half in halves]
    found = [counted(fit, half) for fit, half in zip(fits, halves, strict=True)]
    for name, fit, each in zip(("one half", "the other"), fits, found, strict=True):
        lines.append(row(name, 1.0, fit, each))
    sure, again = np.sum([returns(fits, found, i) for i in (0, 1)], axis=0)
    lines += [
        "",
        f"Of the dimensions of a half's fit with a probability above {SURE}, {again} of {sure} are "
        "in the fit of the other half (r > .8, one to one), which has none of its judgments.",
    ]
    return "\n".join(lines)


def fitted(data: pv.Triplets, rate: float) -> pv.Fit:
    """The default fit at a multiple of the automatic learning rate."""
    return train_plan(
        Plan.of(
            data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=pv.Training(), seed=0,
            rate_factor=rate,
        )
    )  # fmt: skip


def counted(fit: pv.Fit, data: pv.Triplets) -> Dimensionality:
    """What is said of its dimensions."""
    return fit.dimensionality(data, store=STORE / "refits", progress=False)


def row(name: str, rate: float, fit: pv.Fit, found: Dimensionality) -> str:
    verdicts = found.table.verdict.value_counts()
    shares = " | ".join(str(verdicts.get(each, 0)) for each in ("certain", "likely", "possible"))
    return (
        f"| {name} | {rate:g} | {fit.n_dimensions} | {found.count} | {found.low} to {found.high} | "
        f"{shares} |"
    )


def returns(fits: list[pv.Fit], found: list[Dimensionality], i: int) -> tuple[int, int]:
    """How many dimensions of one half are sure, and how many of these the other half has."""
    table = found[i].table
    sure = (table.probability[table.in_fit] > SURE).to_numpy()
    mine, other = (fits[j].embedding().to_numpy(float) for j in (i, 1 - i))
    return int(sure.sum()), int(np.sum(same_dimensions(mine, other)[sure] >= 0))
