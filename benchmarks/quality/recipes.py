"""What the default training owes to each of its parts: one thing changed at a time.

Judged on held-out nats and on the number of kept dimensions over seeds, on real judgments where
they are at hand and on simulated ones with known truth.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import embedding
from benchmarks.harness.scores import Score, bound, score
from benchmarks.harness.side_by_side import side_by_side
from benchmarks.quality.sizes import people

PRIOR = pv.SpikeSlab(0.125, 0.5, 0.6)
DEFAULT = pv.Training()
RECIPES = {
    "default": DEFAULT,
    "the paper's start, nothing dropped, rate .05": replace(
        DEFAULT, start="noise", drop_collapsed=False, learning_rate=0.05
    ),
    "the paper's start": replace(DEFAULT, start="noise"),
    "collapsed dimensions stay": replace(DEFAULT, drop_collapsed=False),
    "learning rate / 2": DEFAULT,
    "learning rate x 2": DEFAULT,
    "1,000 steps": replace(DEFAULT, schedule=pv.Anneal(steps=1000)),
    "batches of 30,000": replace(DEFAULT, batch_size=30_000),
}
FACTORS = {"learning rate / 2": 0.5, "learning rate x 2": 2.0}


SEEDS = {"human": 2, "simulated": 1}


def run(quick: bool) -> str:
    names = list(RECIPES)[:1] if quick else list(RECIPES)
    cases = [(name, kind, seed) for kind, n in SEEDS.items() for name in names for seed in range(n)]
    scores = dict(zip(cases, side_by_side(measure, cases), strict=True))
    lines = [
        f"1,854 objects, d = 100, {PRIOR}. Human: 90 % of the judgments of people, "
        f"{SEEDS['human']} seeds; simulated: 1,460,000 judgments, one seed.",
        "",
        "| training | human: held-out nats | kept | −ELBO/n | simulated: held-out nats | kept | "
        "−ELBO/n | true dimensions found |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in names:
        cells = [name]
        for kind, n in SEEDS.items():
            found = [scores[name, kind, seed] for seed in range(n)]
            cells += [
                f"{np.mean([s.cross_entropy for s in found]):.4f}",
                ", ".join(str(s.kept) for s in found),
                f"{np.mean([s.loss for s in found]):.4f}",
            ]
        cells.append(f"{found[0].recovered:.0%}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def measure(case: tuple[str, str, int]) -> Score:
    """Fit one kind of data with one recipe and seed."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    name, kind, seed = case
    truth = None
    if kind == "human":
        train, held_out = people()
    else:
        truth = embedding("things_vice42")
        train, held_out = pv.simulate(truth, 1_460_000, seed=0), pv.simulate(truth, 50_000, seed=1)
    fit = pv.fit(
        train,
        prior=PRIOR,
        dimensions=100,
        training=with_rate(name, train),
        seed=seed,
        progress=False,
    )
    return score(fit.posterior, held_out, bound(fit), truth)


def with_rate(name: str, data: pv.Triplets) -> pv.Training:
    """The training of that name; some have a multiple of the automatic learning rate."""
    if name not in FACTORS:
        return RECIPES[name]
    weights = PRIOR.distribution().expand([1000, 1000]).sample()
    automatic = DEFAULT.first_rate(weights, len(data) / data.n_objects)
    return replace(DEFAULT, learning_rate=FACTORS[name] * automatic)
