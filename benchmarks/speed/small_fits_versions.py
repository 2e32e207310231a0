"""Fits of small data in this version and in another: time and quality, both in one run.

python -m benchmarks.speed.small_fits_versions FOLDER     FOLDER: a checkout of the other version

Each version runs in a process of its own with one thread, and they take turns, seed by seed.
Seconds are those of the processor, imports not included.
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

pv.fit(pv.simulate(truth("generated", 12, 2), 300, seed=0), progress=False)
for line in sys.stdin:
    kind, m, d, n, seed = json.loads(line)
    embedding = truth(kind, m, d)
    data, test = pv.simulate(embedding, n, seed=seed), pv.simulate(embedding, 20_000, seed=1000)
    began = time.process_time()
    fit = pv.fit(data, seed=seed, progress=False)
    seconds = time.process_time() - began
    loss = float(fit.history.loss.iloc[-50:].mean())
    print(json.dumps([seconds, len(fit.history), loss, fit.evaluate(test).cross_entropy,
                      fit.n_dimensions]), flush=True)
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
        for worker in workers.values():
            worker.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
