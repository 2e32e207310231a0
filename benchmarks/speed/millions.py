"""Millions of judgments in this version and in another: reading, describing, scoring.

python -m benchmarks.speed.millions FOLDER [MILLIONS]     FOLDER: a checkout of the other version

Each measurement is a process of its own with one thread, so that its peak memory is its own; the
two versions take turns. Seconds are those of the processor, imports not included, and the fastest
of two rounds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness.machine import describe_machine

HERE = Path(__file__).resolve().parents[2]
ROUNDS = 2
# Runs with the pyrovice of whatever folder it is started in; both versions know these names.
WORKER = """
import json, resource, sys, time, warnings
import numpy as np, torch
torch.set_num_threads(1)
warnings.simplefilter("ignore")
import pyrovice as pv

what, path = sys.argv[1:]
names = [f"object {i}" for i in range(2000)]
data = fit = None
if what != "read":
    data = pv.Triplets.from_array(np.load(path), names=names)
if what == "evaluate":
    truth = np.random.default_rng(0).gamma(0.3, 0.4, (2000, 20))
    fit = pv.fit(pv.simulate(truth, 20_000, seed=0, names=names), dimensions=20, progress=False,
                 training=pv.Training(stop=pv.MaxEpochs(3)))
work = {
    "read": lambda: pv.Triplets.read(path),
    "describe": lambda: data.describe(),
    "evaluate": lambda: fit.evaluate(data),
}[what]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
work()
seconds = time.process_time() - began
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, (after - before) / 2**20]))
"""


def ask(folder: Path, what: str, path: Path) -> tuple[float, float]:
    """Processor seconds and gigabytes beyond what was there before."""
    said = subprocess.run(
        [sys.executable, "-c", WORKER, what, str(path)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds, gigabytes = json.loads(said)
    return seconds, gigabytes


def main(other: Path, millions: float) -> None:
    """Print a table of both versions."""
    n = round(millions * 1e6)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 1998, (n, 3)), axis=1) + np.arange(3)
    rows = np.take_along_axis(rows, rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1), axis=1)
    print(describe_machine(), "\n")
    print(f"{n:,} judgments of 2,000 objects.\n")
    print("| | other (s) | this (s) | ratio | other (GB) | this (GB) | ratio |")
    print("| --- " * 7 + "|")
    with tempfile.TemporaryDirectory() as folder:
        text, array = Path(folder) / "judgments.txt", Path(folder) / "judgments.npy"
        np.savetxt(text, rows, fmt="%d")
        np.save(array, rows)
        for what, path in {"read": text, "describe": array, "evaluate": array}.items():
            found = np.array(
                [[ask(version, what, path) for version in (other, HERE)] for _ in range(ROUNDS)]
            ).min(0)
            (a, a_gb), (b, b_gb) = found
            print(
                f"| {what} | {a:.2f} | {b:.2f} | {b / a:.2f} | {a_gb:.2f} | {b_gb:.2f} | "
                f"{b_gb / max(a_gb, 1e-9):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
