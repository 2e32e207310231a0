"""Small data, many fits: one fit against what it took with 2,000 steps, and many in a stack.

Times are processor time of one thread, so that other work on the machine counts little.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch

import pyrovice as pv
from benchmarks.harness.data import embedding
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many

# What every fit took before its length followed from the data.
LONG = pv.Training(
    schedule=pv.Anneal(steps=2000), stop=pv.Stability(window=200, unit="steps", tolerance=1e-3)
)
TEST = 20_000
SEEDS = 5
STACKED_SEEDS = 20


def generated(m: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.gamma(1.5, 0.6, (m, d)) * (rng.random((m, d)) < 0.3)


def cases(quick: bool) -> dict[str, tuple[np.ndarray, int]]:
    """Embeddings to simulate from, and how many judgments."""
    example = pv.load_example()
    found = {"30 objects": (generated(30, 5, 1), 3_000), "the example": (example.embedding, 20_000)}
    if not quick:
        found["36 objects (FOOD)"] = (embedding("food_vice6"), 3_000)
        found["200 objects"] = (generated(200, 12, 3), 50_000)
    return found


def plans(data: pv.Triplets, training: pv.Training, seeds: Sequence[int]) -> list[Plan]:
    arguments = {"prior": pv.SpikeSlab(), "guide": pv.MeanField(), "training": training}
    return [Plan.of(data, seed=seed, threads=1, **arguments) for seed in seeds]


def one_by_one(each: Sequence[Plan]) -> list[pv.Fit]:
    return [train_plan(plan) for plan in each]


def stacked(each: Sequence[Plan]) -> list[pv.Fit]:
    made = dict(fit_many(each))
    return [made[i] for i in range(len(each))]


def timed(
    work: Callable[[Sequence[Plan]], list[pv.Fit]], each: Sequence[Plan]
) -> tuple[list[pv.Fit], float]:
    began = time.process_time()
    made = work(each)
    return made, time.process_time() - began


def run(quick: bool = False) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    torch.set_num_threads(1)
    seeds = range(2 if quick else SEEDS)
    rows = [
        "| data | fit | processor seconds | of 2,000 steps | steps | −ELBO/n | held-out nats | "
        "dimensions |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, (truth, n) in cases(quick).items():
        truth = np.asarray(truth)
        data, test = pv.simulate(truth, n, seed=0), pv.simulate(truth, TEST, seed=1)
        long, reference = timed(one_by_one, plans(data, LONG, seeds))
        reference /= len(seeds)
        rows.append(_row(name, "2,000 steps", long, test, reference, reference))
        short, took = timed(one_by_one, plans(data, pv.Training(), seeds))
        rows.append(_row("", "default", short, test, took / len(seeds), reference))
        many = range(4 if quick else STACKED_SEEDS)
        made, took = timed(stacked, plans(data, pv.Training(), many))
        rows.append(_row("", f"{len(many)} seeds stacked, all", made, test, took, reference))
    return (
        f"Means over {len(seeds)} seeds, simulated judgments, {TEST:,} others held out, a "
        "thread. The time of a stack is that of all its fits together, with all that follows "
        "training. The unit is a fit of 2,000 steps by today's code; benchmarks/VERSIONS.md "
        "compares with the first version.\n\n" + "\n".join(rows)
    )


def _row(
    name: str,
    what: str,
    fits: Sequence[pv.Fit],
    test: pv.Triplets,
    seconds: float,
    reference: float,
) -> str:
    nats = np.mean([fit.evaluate(test).cross_entropy for fit in fits])
    loss = np.mean([fit.history.loss.iloc[-50:].mean() for fit in fits])
    steps = np.mean([len(fit.history) for fit in fits])
    kept = np.mean([fit.n_dimensions for fit in fits])
    return (
        f"| {name} | {what} | {seconds:.2f} | {seconds / reference:.2f} | {steps:,.0f} | "
        f"{loss:.4f} | {nats:.4f} | {kept:.1f} |"
    )
