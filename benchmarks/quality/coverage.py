"""Do intervals hold the truth? Simulate from a fit, fit again, and count; both guides."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.side_by_side import side_by_side
from pyrovice.criticism.refitting import LEVELS, Recovery, simulate_and_refit

GUIDES = {"MeanField()": pv.MeanField(), "LowRank(5)": pv.LowRank(5)}
RUNS = 30


def run(quick: bool) -> str:
    runs = 2 if quick else RUNS
    cases = [(guide, seed) for guide in GUIDES for seed in range(runs)]
    found = dict(zip(cases, side_by_side(measure, cases), strict=True))
    lines = [
        f"{runs} data sets, each simulated from a posterior draw of a fit to the built-in example "
        "(80 objects, 20,000 judgments, the same questions) and fitted again with the same "
        "settings. Share of the true values within the central intervals, mean over data sets "
        "(and its standard error): choice probabilities of 2,000 new triplets, and entries of S. "
        "The last columns: root mean square error of the posterior means over the root mean "
        "posterior variance, which is 1 for an honest posterior, and dimensions kept.",
        "",
        "| guide | quantity | 50 % | 80 % | 95 % | error over spread | kept (truth 7) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for guide in GUIDES:
        results = [found[guide, seed] for seed in range(runs)]
        kept = pd.Series([result.n_dimensions for result in results]).value_counts().sort_index()
        for quantity in results[0].coverage.index:
            shares = [_mean(results, quantity, level) for level in LEVELS]
            ratio = np.mean([r.rms[quantity] / r.spread[quantity] for r in results])
            counts = ", ".join(f"{count} x {times}" for count, times in kept.items())
            lines.append(
                f"| {guide} | {quantity} | {' | '.join(shares)} | {ratio:.2f} | {counts} |"
            )
    return "\n".join(lines)


def measure(case: tuple[str, int]) -> Recovery:
    guide, seed = case
    return simulate_and_refit(first_fit(guide), pv.load_example().triplets, seed=seed)


@cache
def first_fit(guide: str) -> pv.Fit:
    """The fit to the example that answers are simulated from."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    data = pv.load_example().triplets
    return pv.fit(data, guide=GUIDES[guide], dimensions=12, progress=False)


def _mean(results: list[Recovery], quantity: str, level: float) -> str:
    shares = [result.coverage.loc[quantity, level] for result in results]
    return f"{np.mean(shares):.3f} ({np.std(shares) / len(shares) ** 0.5:.3f})"
