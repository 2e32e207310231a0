"""Draw the figures of concepts.md: python docs/draw_concepts.py"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import pyrovice as pv
from pyrovice.model.simulation import choice_probabilities
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREEN, GREY, ORANGE, PAGE_WIDTH, STYLE

FOLDER = Path(__file__).parent / "figures"
SHOWN = ("cat", "dog", "hammer")


def model():
    """Weights of three objects, similarities of pairs, probabilities of answers."""
    truth = pv.load_example().embedding
    weights = truth.loc[list(SHOWN)]
    pairs = [(1, 2), (0, 2), (0, 1)]
    similarity = [float(weights.iloc[i] @ weights.iloc[j]) for i, j in pairs]
    chance = choice_probabilities(weights.to_numpy(), np.array([[0, 1, 2]]))[0]
    figure, axes = plt.subplots(1, 3, figsize=(PAGE_WIDTH, 2.2), width_ratios=(3, 2, 2))
    axes[0].imshow(weights, cmap="Blues", vmin=0, aspect="auto")
    axes[0].set_xticks(range(weights.shape[1]), weights.columns, rotation=40, ha="right")
    axes[0].set_yticks(range(3), SHOWN)
    axes[0].set_title("weights")
    labels = [f"{SHOWN[i]}, {SHOWN[j]}" for i, j in pairs]
    axes[1].barh(labels[::-1], similarity[::-1], color=BLUE)
    axes[1].set_title("similarity of a pair")
    bars = axes[2].barh(SHOWN[::-1], chance[::-1], color=ORANGE)
    axes[2].bar_label(bars, fmt="{:.2f}", padding=2)
    axes[2].set_xlim(0, 1.15)
    axes[2].set_title("probability of being odd")
    return figure


def prior():
    """A spike and slab, its two parts, and what the rectifier makes of it."""
    spike, slab, pi = 0.25, 1.0, 0.5
    x = np.linspace(-2.5, 2.5, 501)
    parts = pi * norm.pdf(x, 0, spike), (1 - pi) * norm.pdf(x, 0, slab)
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.2), sharey=True)
    left.plot(x, sum(parts), color="black", label="spike and slab")
    left.fill_between(x, parts[0], color=ORANGE, alpha=0.4, label="spike")
    left.fill_between(x, parts[1], color=BLUE, alpha=0.4, label="slab")
    left.set_xlabel("entry of X")
    left.set_ylabel("density")
    left.legend()
    above = x >= 0
    right.fill_between(x[above], sum(parts)[above], color=GREEN, alpha=0.5)
    right.annotate(
        "half of the mass\nis exactly zero",
        (0, 0.9),
        (-2.3, 0.7),
        arrowprops={"arrowstyle": "->", "color": GREY},
    )
    right.axvline(0, ymax=0.95, color=GREEN, linewidth=3)
    right.set_xlim(-2.5, 2.5)
    right.set_xlabel("weight, max(X, 0)")
    return figure


def guide():
    """One weight, known better and better."""
    example = pv.load_example()
    name, meaning = "skateboard", "vehicle"
    x = np.linspace(-0.6, 2.4, 601)
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.3))
    for n, colour in ((2_000, GREY), (6_000, ORANGE), (20_000, BLUE)):
        fit = pv.fit(example.triplets[:n], dimensions=12, progress=False)
        embedding = fit.embedding()
        nearest = example.embedding[meaning].to_frame().apply(embedding.corrwith)[meaning].idxmax()
        mu = fit.posterior.mu[fit.names.index(name), nearest]
        sigma = fit.posterior.sigma[fit.names.index(name), nearest]
        axes.plot(x, norm.pdf(x, mu, sigma), color=colour, label=f"{n:,} judgments")
    axes.axvline(example.embedding.loc[name, meaning], color="black", linestyle="--", label="truth")
    axes.set_xlabel(f"how much a {name} is a {meaning}")
    axes.set_ylabel("density of the guide")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def pruning(fit):
    """Credibly positive objects by dimension, with the line that decides."""
    counts = fit.importance()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.2))
    axes.bar(counts.index + 1, counts, color=[BLUE if n > 5 else GREY for n in counts])
    axes.axhline(5, color=ORANGE, linestyle="--", linewidth=1)
    axes.annotate("kept above five", (len(counts) + 0.5, 5.6), ha="right", color=ORANGE)
    axes.set_xlabel("dimension, the most important first")
    axes.set_ylabel("objects credibly above zero")
    axes.locator_params(axis="x", integer=True)
    return figure


def main():
    """Draw all."""
    FOLDER.mkdir(exist_ok=True)
    keep_idle = pv.Training(drop_collapsed=False)
    fit = pv.fit(pv.load_example().triplets, dimensions=15, training=keep_idle, progress=False)
    with plt.rc_context(STYLE):
        drawn = {"model": model(), "prior": prior(), "guide": guide(), "pruning": pruning(fit)}
    drawn["convergence"] = pv.plot.convergence(fit)
    for name, figure in drawn.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=130)


if __name__ == "__main__":
    main()
