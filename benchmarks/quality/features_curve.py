"""How many judgments features save: the learning curve with and without them."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.features import feature_blocks, timed
from pyrovice.plot.style import COLOURS, COLUMN_WIDTH, STYLE

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
FIGURE = Path(__file__).parents[1] / "features_curve.png"
# A curve compares: shorter training than the default does for both.
TRAINING = pv.Training(schedule=pv.Anneal(steps=800))
# A split that no other benchmark of features has.
SPLIT = 3


def run(quick: bool) -> str:
    blocks = feature_blocks()
    if blocks is None:
        return "The judgments and features are not at hand here."
    train, held_out = human_things().split(0.9, 0.1, seed=SPLIT)
    rows = []
    for share in SHARES[: 2 if quick else None]:
        part = train if share == 1 else train.subset(round(share * len(train)), seed=0)
        for name, prior in {"no features": pv.SpikeSlab(), "Features": pv.Features(blocks)}.items():
            fit, _ = timed(
                lambda prior=prior, part=part: pv.fit(
                    part, prior=prior, training=TRAINING, progress=False
                )
            )
            scores = fit.evaluate(held_out)
            row = {
                "judgments": len(part),
                "model": name,
                "nats": scores.cross_entropy,
                "accuracy": scores.accuracy,
                "dimensions": fit.n_dimensions,
            }
            print(row, flush=True)
            rows.append(row)
    table = pd.DataFrame(rows)
    draw(table).savefig(FIGURE, dpi=200)
    wide = table.pivot(
        index="judgments", columns="model", values=["nats", "accuracy", "dimensions"]
    )
    lines = [
        f"Parts of {len(train):,} judgments of people, scored on {len(held_out):,} others; default "
        "settings but for 800 steps of training instead of 2,000. *Worth* is how many judgments "
        "predict as well without features, by interpolation of nats over the logarithm of "
        "judgments.",
        "",
        "| judgments | nats without | with features | accuracy without | with | dimensions without "
        "| with | worth |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    without = wide["nats", "no features"]
    for n, row in wide.iterrows():
        cells = [
            f"{row[kind, name]:.4f}" if kind != "dimensions" else f"{row[kind, name]:.0f}"
            for kind in ("nats", "accuracy", "dimensions")
            for name in ("no features", "Features")
        ]
        lines.append(f"| {n:,} | {' | '.join(cells)} | {worth(without, row['nats', 'Features'])} |")
    return "\n".join([*lines, "", f"![learning curves]({FIGURE.name})"])


def worth(without: pd.Series, nats: float) -> str:
    """The judgments that a fit without features needs for the same score."""
    if nats < without.min():
        return f"more than {without.index.max():,}"
    order = np.argsort(without.to_numpy())
    at = np.interp(nats, without.to_numpy()[order], np.log(without.index.to_numpy(float))[order])
    return f"{np.exp(at):,.0f}"


def draw(table: pd.DataFrame) -> plt.Figure:
    """Held-out nats over judgments."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
        labels = {"no features": "default prior", "Features": "with features"}
        for (name, part), colour in zip(
            table.groupby("model", sort=False), (COLOURS[1], COLOURS[0]), strict=True
        ):
            axes.plot(
                part.judgments, part.nats, "o-", color=colour, markersize=3, label=labels[name]
            )
        axes.axhline(np.log(3), color="black", linewidth=0.8, linestyle=":", label="chance")
        axes.set_xscale("log")
        axes.set_xlabel("judgments")
        axes.set_ylabel("held-out cross-entropy [nats]")
        axes.legend()
    return figure
