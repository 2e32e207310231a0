"""Peak memory of turning a THINGS-size fit into an ArviZ container, with its defaults.

The container is made in a process of its own, from a saved fit, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import pyrovice as pv
from benchmarks.harness.data import embedding, origin
from benchmarks.harness.machine import peak_memory_gb

N = 1_460_000


def run(quick: bool) -> str:
    truth = embedding("things_vice42")
    data = pv.simulate(truth, N // 10 if quick else N, seed=0)
    # Stopped early, so that no dimension is dropped: the largest container there can be.
    training = replace(pv.Training(), stop=pv.MaxEpochs(3))
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    fit = pv.fit(data, dimensions=100, training=training, progress=False)
    lines = [
        f"`fit.to_arviz(data)` of {len(data):,} judgments of {data.n_objects:,} objects "
        f"({origin('things_vice42')}) with its defaults, 500 draws and all groups. Peak memory of "
        "a process that loads fit and judgments and does this.",
        "",
        "| dimensions | peak memory (GB) | judgments predicted |",
        "| --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder) / "data.npy")
        for dimensions in (100, 45):
            part = fit._select(range(dimensions))
            part.save(Path(folder) / f"{dimensions}.npz")
            command = [
                sys.executable,
                "-m",
                "benchmarks.speed.arviz_memory",
                folder,
                str(dimensions),
            ]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            peak, predicted = json.loads(answer.stdout.splitlines()[-1])
            lines.append(f"| {dimensions} | {peak:.2f} | {predicted} |")
    return "\n".join(lines)


def child(folder: Path, dimensions: str) -> None:
    fit = pv.load(folder / f"{dimensions}.npz")
    data = pv.Triplets.read(folder / "data.npy", names=fit.names)
    idata = fit.to_arviz(data)
    print(json.dumps([peak_memory_gb(), idata.attrs["judgments"]]))


if __name__ == "__main__":
    child(Path(sys.argv[1]), sys.argv[2])
