"""Effective draws per second of NUTS in this version and in another: both in one run.

python -m benchmarks.speed.nuts_versions FOLDER     FOLDER: a checkout of the other version

12 objects in 2 dimensions with 3,000 judgments, as in `yardstick`. Each version runs in a process
of its own with one thread, and they take turns.
Seconds are those of the processor, warm-up included and imports not. Effective draws are those of
the rectified weights and of the similarities, by ArviZ.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import arviz as az
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.machine import describe_machine
from pyrovice.results.matching import align_draws

HERE = Path(__file__).resolve().parents[2]
DRAWS, WARMUP, TURNS = 200, 150, 1
WORKER = """
import json, sys, time, warnings
import numpy as np, torch
torch.set_num_threads(1)
warnings.simplefilter("ignore")
import pyrovice as pv
from pyrovice.inference import nuts

rng = np.random.default_rng(3)
truth = rng.gamma(4.0, 0.4, (12, 2)) * (rng.random((12, 2)) < 0.3)
truth[np.arange(12), rng.integers(0, 2, 12)] = rng.gamma(4.0, 0.4, 12)
data = pv.simulate(truth, 3000, seed=3)
model = pv.Model(pv.SpikeSlab(), 12, 2)
for line in sys.stdin:
    draws, warmup, seeds = json.loads(line)
    began = time.process_time()
    method = nuts.NUTS(draws, warmup, len(seeds))
    if hasattr(nuts, "run_chains"):
        ran = nuts.run_chains(model, data, method, seeds)
    else:
        ran = [nuts.run_chain(model, data, method, seed) for seed in seeds]
    seconds = time.process_time() - began
    steps = [float(chain.stats["n_steps"].mean()) for chain in ran]
    print(json.dumps([seconds, steps, [chain.sites["X"].tolist() for chain in ran]]), flush=True)
"""


def start(folder: Path) -> subprocess.Popen[str]:
    """A process that works with the pyrovice of a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def summary(draws: NDArray[np.floating]) -> dict[str, NDArray[np.floating]]:
    """Weights, dimensions in one order, and similarities, rectified, by chain and draw."""
    weights = np.maximum(draws, 0)
    weights = np.take_along_axis(weights, align_draws(weights)[:, :, None], axis=3)
    pairs = np.triu_indices(draws.shape[2], 1)
    similarities = np.einsum("cnik,cnjk->cnij", weights, weights)[:, :, *pairs]
    return {"weights": weights.reshape(*weights.shape[:2], -1), "similarities": similarities}


def effective(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Effective draws of each column that is not the same in all draws."""
    varied = values[..., values.std(axis=(0, 1)) > 0]
    return az.ess(az.convert_to_dataset({"x": varied})).x.to_numpy()


def main(folder: Path) -> None:
    """Print a table of both versions."""
    versions = {"other": start(folder), "this": start(HERE)}
    found: dict[str, list] = {name: [] for name in versions}
    for turn in range(TURNS):
        for name, process in versions.items():
            # Chains of this version advance together, four at a time unless asked otherwise.
            seeds = [turn] if name == "other" else [4 * turn + i for i in range(4)]
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([DRAWS, WARMUP, seeds]) + "\n")
            process.stdin.flush()
            found[name].append(json.loads(process.stdout.readline()))
    print(describe_machine(), "\n")
    print(
        "| version | chains | leapfrog steps a draw | processor s | effective draws of | median "
        "| a second | least | a second |"
    )
    print("| --- " * 9 + "|")
    kept = {}
    for name, turns in found.items():
        seconds = sum(turn[0] for turn in turns)
        steps = np.mean([each for turn in turns for each in turn[1]])
        draws = np.array([chain for turn in turns for chain in turn[2]])
        kept[name] = summary(draws)
        for what, values in kept[name].items():
            ess = effective(values)
            print(
                f"| {name} | {len(draws)} x {DRAWS} after {WARMUP} | {steps:.0f} | {seconds:.0f} "
                f"| {what} | {np.median(ess):.0f} | {np.median(ess) / seconds:.2f} "
                f"| {ess.min():.0f} | {ess.min() / seconds:.2f} |"
            )
    for what in ("weights", "similarities"):
        a, b = (kept[name][what].reshape(-1, kept[name][what].shape[-1]) for name in versions)
        errors = np.abs(a.mean(0) - b.mean(0)) / b.std(0)
        spreads = a.std(0) / b.std(0)
        print(
            f"\n{what}: means differ by at most {errors.max():.2f} posterior sd (median "
            f"{np.median(errors):.2f}); sd of the other over this {spreads.min():.2f} to "
            f"{spreads.max():.2f}, median {np.median(spreads):.2f}."
        )
    for process in versions.values():
        process.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
