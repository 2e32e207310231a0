"""Time and peak memory of an epoch against judgments, objects and dimensions.

Each measurement runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np

import pyrovice as pv
from benchmarks.harness.machine import peak_memory_gb
from pyrovice.model import simulation

BASE = {"n": 1_000_000, "m": 1854, "d": 100}
SWEEPS = {
    "n": (10_000, 100_000, 1_000_000, 10_000_000),
    "m": (36, 200, 1_854, 8_000, 26_107),
    "d": (10, 50, 100, 200),
}
LARGEST = {"n": 4_700_000, "m": 26_107, "d": 100}
EPOCHS = 4


def run(quick: bool) -> str:
    lines = [
        "Seconds of one epoch of the default training (the fastest of the later ones) and peak "
        "memory of the whole process, data included.",
        "",
        "| judgments | objects | dimensions | seconds an epoch | peak memory (GB) |",
        "| --- | --- | --- | --- | --- |",
    ]
    exponents = []
    for name, values in SWEEPS.items():
        seconds = []
        for value in values[:2] if quick else values:
            size = BASE | {name: value}
            each, memory = measure(size)
            seconds.append(each)
            lines.append(row(size, each, memory))
        upper = slice(-2, None)
        slope = np.polyfit(np.log(values[: len(seconds)][upper]), np.log(seconds[upper]), 1)[0]
        exponents.append(f"{name}^{slope:.2f}")
    if not quick:
        lines.append(row(LARGEST, *measure(LARGEST)))
    lines += [
        "",
        f"Growth between the two largest values of each: {', '.join(exponents)} (the rest fixed at "
        f"n = {BASE['n']:,}, m = {BASE['m']:,}, d = {BASE['d']}). Above 16,384 objects the matrix "
        "of similarities is not formed and rows are gathered instead.",
    ]
    return "\n".join(lines)


def row(size: dict[str, int], seconds: float, memory: float) -> str:
    return f"| {size['n']:,} | {size['m']:,} | {size['d']} | {seconds:.2f} | {memory:.2f} |"


def measure(size: dict[str, int]) -> tuple[float, float]:
    """Run :func:`child` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.scaling", json.dumps(size)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(answer.stdout.splitlines()[-1]))


def child(size: dict[str, int]) -> None:
    rng = np.random.default_rng(0)
    objects = simulation.random_triplets(size["m"], size["n"], rng)
    data = pv.Triplets(objects, rng.integers(0, 3, size["n"]), names=range(size["m"]))
    training = replace(pv.Training(), stop=pv.MaxEpochs(EPOCHS))
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    fit = pv.fit(data, dimensions=size["d"], training=training, progress=False)
    each = float(np.min(np.diff(fit.history.seconds)))
    print(json.dumps([each, peak_memory_gb()]))


if __name__ == "__main__":
    child(json.loads(sys.argv[1]))
