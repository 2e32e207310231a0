"""Time and memory of choosing the next triplets, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

CASES = ((36, 12, 20_000), (200, 20, 100_000), (1854, 45, 1_000_000))
# Fits are made up: what choosing costs depends on their sizes only.
CODE = """
import dataclasses, json, resource, sys, time
import numpy as np, torch
import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding, random_triplets
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import NormalWeights

m, d, judgments = map(int, sys.argv[1:])
torch.set_num_threads(1)
small = pv.simulate(plausible_embedding(12, 2, seed=0), 400, seed=0)
short = pv.Training(schedule=pv.Anneal(steps=20), stop=pv.MaxEpochs(20))
fit = pv.fit(small, dimensions=2, training=short, progress=False)
mu = plausible_embedding(m, d, seed=0).astype(np.float32)
names = tuple(map(str, range(m)))
fit = dataclasses.replace(
    fit, names=names, model=pv.Model(fit.prior, m, d), fitted_guide=None, pruned=True,
    posterior=Posterior(NormalWeights(mu, np.full_like(mu, 0.1))),
)
objects = random_triplets(m, judgments, np.random.default_rng(0))
data = pv.Triplets(objects, np.zeros(judgments, int), names=names)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
began = time.perf_counter()
pv.next_triplets(fit, 1000, data=data, repeats=m < 50)
print(json.dumps({
    "seconds": time.perf_counter() - began,
    "before": before,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
}))
"""


def run(quick: bool) -> str:
    lines = [
        "1,000 triplets by `pv.next_triplets`, one thread; peak memory is that of the whole "
        "process, with what it had before choosing (Python, torch, the judgments).",
        "",
        "| objects | dimensions | judgments so far | seconds | GB before | GB at most |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for m, d, judgments in CASES[: 1 if quick else None]:
        arguments = [sys.executable, "-W", "ignore", "-c", CODE, str(m), str(d), str(judgments)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        lines.append(
            f"| {m:,} | {d} | {judgments:,} | {found['seconds']:.1f} | {found['before']:.2f} | "
            f"{found['peak']:.2f} |"
        )
    return "\n".join(lines)
