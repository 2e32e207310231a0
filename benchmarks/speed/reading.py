"""How long it takes to bring data in: reading, checking, splitting, making triplets from features.

All of it runs in one thread and is measured in seconds of the processor, which other work on the
machine hardly changes, and as a multiple of what `numpy.unique` takes for the same number of rows.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.machine import peak_memory_gb

OBJECTS = 1_854
ROUNDS = 3
BLOCK = 100_000


def run(quick: bool) -> str:
    scale = 20 if quick else 1
    sizes = [1_000_000 // scale, 4_700_000 // scale]
    middle = 1_460_000 // scale
    lines = [
        f"{OBJECTS:,} objects. Seconds of the processor, the fastest of {ROUNDS} rounds (files are "
        "read once); `unique` is numpy's on as many rows of three ids, each as one number.",
        "",
        "| | rows | CPU seconds | times `unique` | peak memory (GB) |",
        "| --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, table, n in (
            ("salmon", salmon_table, sizes[0]),
            ("things", things_table, sizes[0]),
            ("things", things_table, sizes[1]),
        ):
            path = Path(folder) / f"{name}_{n}.csv"
            write(path, table, n)
            seconds, memory = in_a_process(path)
            size = path.stat().st_size / 2**20
            lines.append(row(f"read a {name} table ({size:.0f} MB)", n, seconds, memory))
            path.unlink()
        array = Path(folder) / "train_90.npy"
        np.save(array, ids(middle)[:, :3])
        lines.append(row("read a .npy file", middle, *in_a_process(array)))
    data = pv.Triplets.from_array(ids(middle))
    ascending, odd = data.objects, data.odd
    checked = fastest(lambda: pv.Triplets(ascending, odd, names=data.names))
    lines.append(row("check", middle, checked))
    lines.append(row("split 0.9, 0.1", middle, fastest(lambda: data.split(0.9, 0.1, seed=0))))
    lines.append(row("5 folds", middle, fastest(lambda: data.folds(5, seed=0))))
    lines.append(row("describe", middle, fastest(data.describe)))
    features = np.random.default_rng(0).normal(size=(OBJECTS, 512))
    made = fastest(lambda: pv.tripletize(features, sizes[0], seed=0))
    lines.append(row("tripletize 1,854 x 512 features", sizes[0], made))
    return "\n".join(lines)


def row(what: str, n: int, seconds: float, memory: float | None = None) -> str:
    same = keys(n)
    unique = fastest(lambda: np.unique(same))
    peak = "" if memory is None else f"{memory:.2f}"
    return f"| {what} | {n:,} | {seconds:.2f} | {seconds / unique:.1f} | {peak} |"


def fastest(action: Callable[[], Any]) -> float:
    """Seconds of the fastest round: what other work on the machine disturbed least."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times)


def in_a_process(path: Path) -> tuple[float, float]:
    """Seconds to read a file, and the peak memory of a process that does nothing else."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(read, (path,))


def read(path: Path) -> tuple[float, float]:
    began = time.process_time()
    pv.Triplets.read(path)
    return time.process_time() - began, peak_memory_gb()


def ids(n: int) -> np.ndarray:
    """Three different objects in each row."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, OBJECTS, n)
    steps = rng.integers(1, OBJECTS // 2, (n, 2))
    return np.column_stack([first, first + steps[:, 0], first + steps.sum(axis=1)]) % OBJECTS


def keys(n: int) -> np.ndarray:
    a, b, c = ids(n).astype(np.int64).T
    return (a * OBJECTS + b) * OBJECTS + c


def write(path: Path, table: Callable[[int], pd.DataFrame], n: int) -> None:
    """Some rows over and over, since it takes long to write many."""
    block = table(min(n, BLOCK))
    with path.open("w", encoding="utf-8") as file:
        block.head(0).to_csv(file, sep="\t", index=False)
        text = block.to_csv(sep="\t", index=False, header=False)
        for _ in range(n // len(block)):
            file.write(text)
        file.writelines(text.splitlines(keepends=True)[: n % len(block)])


def things_table(n: int) -> pd.DataFrame:
    """All fourteen columns of the table published with THINGS."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(ids(n) + 1, columns=["image1", "image2", "image3"])
    table["choice"] = rng.integers(1, 4, n)
    table["RT"] = rng.integers(400, 9_000, n)
    table["noise_ceiling"] = 0
    table["subject_id"] = [f"A{who}" for who in rng.integers(10**9, 10**9 + 12_000, n)]
    table["HIT_nr"] = np.arange(n) // 20
    table["trial_nr"] = np.arange(n) % 20
    table["age"] = 33
    table["gender"] = "f"
    table["date"] = "2021-02-03"
    table["time"] = "13:14:15"
    table["dataset"] = 1
    return table


def salmon_table(n: int) -> pd.DataFrame:
    """Salmon's columns, objects by id and by name."""
    rng = np.random.default_rng(1)
    shown = ids(n)
    won = rng.integers(1, 3, n)
    rows = np.arange(n)
    table = pd.DataFrame(shown, columns=["head", "left", "right"])
    table["winner"] = shown[rows, won]
    table["loser"] = shown[rows, 3 - won]
    table["puid"] = [f"p{who}" for who in rng.integers(0, 5_000, n)]
    table["response_time"] = rng.random(n).round(3)
    for role in ("head", "left", "right", "winner", "loser"):
        table[f"{role}_object"] = "object " + table[role].astype(str)
    return table
