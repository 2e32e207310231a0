"""How many of the dimensions behind simulated THINGS are found, by a fit and by its refinement."""

from __future__ import annotations

import time
import warnings

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import embedding, origin
from pyrovice.results.matching import correlations, same_dimensions

PRIOR = pv.SpikeSlab(0.125, 0.5, 0.6)
SEEDS = (0, 1)
# A kept dimension below this correlation with every true one is like none of them.
LIKE_NONE = 0.5


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    truth = embedding("things_vice42")
    n = 100_000 if quick else 1_460_000
    lines = [
        f"{n:,} judgments simulated from {truth.shape[1]} dimensions of {len(truth):,} objects "
        f"({origin('things_vice42')}) for each seed, 100,000 others held out. *Found*: true "
        "dimensions that correlate above .8, one to one, with a kept one. *Spurious*: kept "
        f"dimensions that correlate below {LIKE_NONE} with every true one; the rest of the kept "
        "ones are parts or mixtures of true ones. Seconds are processor time; two chains run in "
        "processes of their own.",
        "",
        "| seed | fit | kept | found | spurious | held-out nats | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for seed in SEEDS[:1] if quick else SEEDS:
        data = pv.simulate(truth, n, seed=10 + seed)
        held_out = pv.simulate(truth, 100_000, seed=20 + seed)
        began = time.process_time()
        fit = pv.fit(data, prior=PRIOR, dimensions=100, seed=seed, progress=False)
        lines.append(row(seed, "default", fit, truth, held_out, began))
        began = time.process_time()
        # One chain stays in this process, whose seconds are counted.
        for chains in (1, 2):
            refined = pv.refine(fit.prune(), data, chains=chains, seed=seed, progress=False)
            name = f"refined, {chains} chain{'s' * (chains > 1)}"
            lines.append(row(seed, name, refined, truth, held_out, began if chains == 1 else None))
    return "\n".join(lines)


def row(
    seed: int,
    name: str,
    fit: pv.Fit,
    truth: np.ndarray,
    held_out: pv.Triplets,
    began: float | None,
) -> str:
    seconds = "" if began is None else f"{time.process_time() - began:.0f}"
    kept = fit.embedding().to_numpy(float)
    found = int((same_dimensions(truth, kept) >= 0).sum())
    spurious = int((correlations(truth, kept).max(axis=0) < LIKE_NONE).sum())
    nats = fit.evaluate(held_out).cross_entropy
    return (
        f"| {seed} | {name} | {kept.shape[1]} | {found} ({found / truth.shape[1]:.0%}) | "
        f"{spurious} | {nats:.4f} | {seconds} |"
    )
