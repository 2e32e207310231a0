"""Fits of small data in this version and in another: time and quality, both in one run.

python -m benchmarks.speed.small_fits_versions FOLDER     FOLDER: a checkout of the other version

Each version runs in a process of its own with one thread, and they take turns, seed by seed.
Seconds are those of the processor, imports not included. Then this version fits twenty seeds of the
example in a stack, between two single fits of the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.harness.data import embedding
from benchmarks.harness.machine import describe_machine

HERE = Path(__file__).resolve().parents[2]
SEEDS = range(5)
STACKED = 20
CASES = {
    "30 objects, 3,000 judgments": ("generated", 30, 5, 3_000),
    "36 foods, 3,000 judgments": ("food", 36, 6, 3_000),
    "the example, 80 objects, 20,000": ("example", 80, 7, 20_000),
    "200 objects, 50,000 judgments": ("generated", 200, 12, 50_000),
}
WORKER = """
import json, sys, time, warnings
import numpy as np, torch
torch.set_num_threads(1)
warnings.simplefilter("ignore")
import pyrovice as pv

def truth(kind, m, d):
    if kind == "example":
        return np.asarray(pv.load_example().embedding)
    if kind == "food":
        return np.load(sys.argv[1])
    rng = np.random.default_rng(m)
    return rng.gamma(1.5, 0.6, (m, d)) * (rng.random((m, d)) < 0.3)

def stacked(data, seeds):
    from pyrovice.inference.plan import Plan
    from pyrovice.inference.stacked_fits import fit_many
    plans = [
        Plan.of(data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=pv.Training(), seed=seed)
        for seed in range(seeds)
    ]
    return [fit for _, fit in sorted(fit_many(plans), key=lambda each: each[0])]

pv.fit(pv.simulate(truth("generated", 12, 2), 300, seed=0), progress=False)
for line in sys.stdin:
    kind, m, d, n, seed, *seeds = json.loads(line)
    embedding = truth(kind, m, d)
    data, test = pv.simulate(embedding, n, seed=seed), pv.simulate(embedding, 20_000, seed=1000)
    began = time.process_time()
    fits = stacked(data, *seeds) if seeds else [pv.fit(data, seed=seed, progress=False)]
    seconds = time.process_time() - began
    print(json.dumps([
        seconds,
        np.mean([len(fit.history) for fit in fits]),
        np.mean([fit.history.loss.iloc[-50:].mean() for fit in fits]),
        np.mean([fit.evaluate(test).cross_entropy for fit in fits]),
        fits[0].n_dimensions if len(fits) == 1 else [fit.n_dimensions for fit in fits],
    ]), flush=True)
"""


def start(folder: Path, food: Path) -> subprocess.Popen[str]:
    """A process that fits with the pyrovice of a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(food)],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(worker: subprocess.Popen[str], case: tuple) -> list[float]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(case) + "\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def main(other: Path) -> None:
    print(describe_machine() + "\n")
    columns = "data, version, processor s, ratio, steps, −ELBO/n, held-out nats, dimensions"
    print(f"| {columns.replace(', ', ' | ')} |\n" + "| --- " * 8 + "|")
    with TemporaryDirectory() as scratch:
        food = Path(scratch) / "food.npy"
        np.save(food, embedding("food_vice6"))
        workers = {"other": start(other, food), "this": start(HERE, food)}
        for name, (kind, m, d, n) in CASES.items():
            found = {version: [] for version in workers}
            for seed in SEEDS:
                for version, worker in workers.items():
                    found[version].append(asked(worker, (kind, m, d, n, seed)))
            for version, rows in found.items():
                seconds, steps, loss, nats, _ = np.mean(rows, axis=0)
                ratio = seconds / np.mean([row[0] for row in found["other"]])
                kept = ", ".join(str(row[4]) for row in rows)
                print(
                    f"| {name} | {version} | {seconds:.2f} | {ratio:.2f} | {steps:,.0f} | "
                    f"{loss:.4f} | {nats:.4f} | {kept} |",
                    flush=True,
                )
            differences = np.subtract(*[[row[3] for row in found[v]] for v in ("this", "other")])
            error = differences.std(ddof=1) / len(SEEDS) ** 0.5
            print(
                f"| | this − other | | | | | {differences.mean():+.4f} ± {error:.4f} | |",
                flush=True,
            )
        compare_a_stack(workers)
        for worker in workers.values():
            worker.kill()


def compare_a_stack(workers: dict[str, subprocess.Popen[str]]) -> None:
    """Twenty seeds of the example together, against one fit of the other version."""
    name, (kind, m, d, n) = list(CASES.items())[2]
    before, together, after = (
        asked(workers["other"], (kind, m, d, n, 0)),
        asked(workers["this"], (kind, m, d, n, 0, STACKED)),
        asked(workers["other"], (kind, m, d, n, 0)),
    )
    one = (before[0] + after[0]) / 2
    rows = [(f"{name}, one seed", "other", [one, *before[1:]])]
    rows.append((f"the same, {STACKED} seeds stacked", "this", together))
    for what, version, (seconds, steps, loss, nats, kept) in rows:
        kept = kept if isinstance(kept, int) else f"{min(kept)} to {max(kept)}"
        print(
            f"| {what} | {version} | {seconds:.2f} | {seconds / one:.2f} | {steps:,.0f} | "
            f"{loss:.4f} | {nats:.4f} | {kept} |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
