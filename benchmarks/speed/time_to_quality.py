"""Quality over time: the default training against the paper's algorithm, in one run.

Both fit the same judgments, simulated at the size of THINGS, and are scored the same way off the
clock: held-out cross-entropy of the kept dimensions, −ELBO/n, and how many dimensions are kept.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure

import pyrovice as pv
from benchmarks.harness.baseline import Baseline
from benchmarks.harness.data import embedding, origin
from benchmarks.harness.machine import peak_memory_gb
from benchmarks.harness.scores import HEADER, Score, bound, bound_of, normal, score
from pyrovice.plot.style import BLUE, ORANGE, PAGE_WIDTH, STYLE

PRIOR = pv.SpikeSlab(0.125, 0.5, 0.6)
FIGURE = Path(__file__).parents[1] / "time_to_quality.png"


def run(quick: bool) -> str:
    truth = embedding("things_vice42")
    n = 100_000 if quick else 1_460_000
    data, held_out = (pv.simulate(truth, size, seed=s) for s, size in enumerate((n, 100_000)))
    rows = np.take_along_axis(
        data.objects, np.argsort(np.arange(3) == data.odd[:, None], axis=1, kind="stable"), axis=1
    )
    settings = (torch.tensor(rows, dtype=torch.long), data.n_objects, 100)
    prior = (PRIOR.spike, PRIOR.slab, PRIOR.pi)
    epoch = Baseline(*settings, prior).seconds_per_epoch()

    fit = pv.fit(
        data, prior=PRIOR, dimensions=100, validation=held_out.subset(20_000, seed=0),
        progress=False,
    )  # fmt: skip
    watched = fit.history
    timed = pv.fit(data, prior=PRIOR, dimensions=100, progress=False)
    seconds = timed.history.seconds.iloc[-1]
    ours = score(timed.posterior, held_out, bound(timed), truth)
    memory = peak_memory_gb()
    epoch = (epoch + Baseline(*settings, prior).seconds_per_epoch()) / 2

    curve: list[tuple[float, Score]] = []
    loop = Baseline(*settings, prior)

    def look(spent: float) -> None:
        bounded = bound_of(loop.mu, loop.log_sigma.exp(), PRIOR, data)
        posterior = normal(loop.mu, loop.log_sigma)
        curve.append((spent, score(posterior, held_out, bounded, truth, draws=10)))

    budget = (1 if quick else 5) * epoch
    steps = loop.train(budget, budget / 12, look)
    draw(watched, seconds, curve, epoch)
    lines = [
        f"{n:,} judgments of {data.n_objects} objects ({origin('things_vice42')}), {PRIOR}, "
        f"d = 100. One epoch of `baseline.py` took {epoch:.0f} s here, measured before and after "
        "the fit.",
        "",
        f"| | epochs' worth | seconds | {HEADER} |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        f"| pyrovice, default, stopped by itself ({timed.history.step.iloc[-1]:,} steps) | "
        f"**{seconds / epoch:.2f}** | {seconds:.0f} | {ours.cells()} |",
    ]
    for spent, scored in curve[1::5]:
        lines.append(
            f"| the paper's algorithm by hand | {spent / epoch:.1f} | {spent:.0f} | "
            f"{scored.cells()} |"
        )
    lines += [
        "",
        f"{steps:,} steps of the loop. Peak memory of the process up to the end of the fits: "
        f"{memory:.2f} GB.",
        "",
        f"![Quality over time]({FIGURE.name})",
    ]
    return "\n".join(lines)


def draw(history: pv.Fit, seconds: float, curve: list[tuple[float, Score]], epoch: float) -> Figure:
    """Both curves over the time in epochs of the baseline."""
    # The watched fit is the timed one, slowed by watching: its steps are put on the other's clock.
    clock = history.step / history.step.iloc[-1] * seconds / epoch
    loop_clock = [spent / epoch for spent, _ in curve]
    panels = {
        "held-out nats": (history.validation_cross_entropy, [s.cross_entropy for _, s in curve]),
        "−ELBO/n": (history.loss, [s.loss for _, s in curve]),
        "kept dimensions": (history.dimensions, [s.kept for _, s in curve]),
    }
    with plt.rc_context(STYLE):
        figure = Figure(figsize=(PAGE_WIDTH, 2.3))
        for axes, (label, (ours, theirs)) in zip(
            figure.subplots(1, 3), panels.items(), strict=True
        ):
            axes.plot(loop_clock, theirs, color=ORANGE, marker=".", label="the paper's algorithm")
            axes.plot(clock, ours, color=BLUE, label="pyrovice")
            axes.set_xscale("log")
            axes.set_ylabel(label)
            if label != "kept dimensions":
                best = min(*ours, *theirs)
                axes.set_ylim(best - 0.01, best + 0.25)
        figure.axes[0].legend()
        figure.supxlabel("training time, in epochs of the paper's algorithm by hand", fontsize=8)
        figure.savefig(FIGURE, dpi=150)
    return figure
