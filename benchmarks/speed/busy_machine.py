"""A small fit beside other work: with the default number of threads, and with one thread."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

CODE = """
import time, warnings
warnings.simplefilter("ignore")
import pyrovice as pv

data = pv.load_example().triplets
pv.fit(data, training=pv.Training(stop=pv.MaxEpochs(20)), progress=False)
began = time.perf_counter()
pv.fit(data, progress=False)
print(time.perf_counter() - began)
"""
ONE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run(quick: bool) -> str:
    rounds = 1 if quick else 5
    cores = os.cpu_count() or 1
    lines = ["| beside it | default, s | one thread, s | ratio | lowest to highest |"]
    lines.append("| --- " * 5 + "|")
    for beside in (0, cores):
        loops = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(beside)
        ]
        try:
            pairs = [(seconds({}), seconds(ONE)) for _ in range(rounds)]
        finally:
            for loop in loops:
                loop.kill()
        usual, alone = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratios = [a / b for a, b in pairs]
        what = f"{beside} busy loops" if beside else "nothing"
        lines.append(
            f"| {what} | {usual:.1f} | {alone:.1f} | {usual / alone:.2f} | "
            f"{min(ratios):.2f} to {max(ratios):.2f} |"
        )
    return (
        f"The built-in example on {cores} cores, each fit in a process of its own, which has made "
        f"one before; {rounds} of each in turns, medians of the time by the clock. *One thread*: "
        "OMP_NUM_THREADS=1.\n\n" + "\n".join(lines)
    )


def seconds(settings: dict[str, str]) -> float:
    """By the clock, of one fit in a process with these settings."""
    others = {name: value for name, value in os.environ.items() if name not in ONE}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=others | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)
