"""The paper's whole grid, 180 priors with 20 seeds each, of a data set of the size of FOOD."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import pyrovice as pv
from benchmarks.harness.data import embedding, origin

FIGURE = Path(__file__).parents[1] / "whole_grid.png"
JUDGMENTS, VALIDATION, SEEDS = 4_500, 4_500, 20


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    truth = embedding("food_vice6")
    train = pv.simulate(truth, JUDGMENTS, seed=0)
    valid = pv.simulate(truth, VALIDATION, seed=1)
    priors = pv.priors.paper_grid()[:: 18 if quick else 1]
    seeds = 2 if quick else SEEDS
    began = time.perf_counter()
    found = pv.sweep(train, valid, priors=priors, seeds=seeds, n_jobs=-1, progress=False)
    minutes = (time.perf_counter() - began) / 60
    if not quick:
        pv.plot.prior_grid(found).savefig(FIGURE, dpi=150)
    fits = len(found.table)
    failed = int(found.summary.failed.sum())
    return (
        f"{len(priors)} priors x {seeds} seeds = {fits:,} fits of {JUDGMENTS:,} judgments of "
        f"{len(truth)} objects ({origin('food_vice6')}), scored on {VALIDATION:,} others: "
        f"{minutes:.1f} minutes on {os.cpu_count()} cores, {60e3 * minutes / fits:.0f} ms a fit, "
        f"{failed} failed. The best ten priors, and the simplest within one paired standard error "
        f"of the best is {found.simplest!r}:\n\n{_table(found)}\n\n"
        "![Nats worse than the best prior, by spike, slab and π](whole_grid.png)"
    )


def _table(found: pv.Sweep) -> str:
    columns = {
        "spike": "spike",
        "slab": "slab",
        "pi": "π",
        "validation_cross_entropy": "validation nats",
        "paired_error": "± against the best",
        "dimensions": "dimensions",
    }
    best = found.summary.nsmallest(10, "validation_cross_entropy")
    lines = [" | ".join(["", *columns.values(), ""]).strip(), "| --- " * len(columns) + "|"]
    for row in best[[*columns]].itertuples(index=False):
        spike, slab, pi, nats, error, dimensions = row
        lines.append(
            f"| {spike:g} | {slab:g} | {pi:g} | {nats:.4f} | {error:.4f} | {dimensions:.1f} |"
        )
    return "\n".join(lines)
