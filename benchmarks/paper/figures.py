"""The paper's plots from our runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import expon

import pyrovice as pv
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, STYLE, PaperFigure


def panels(names: list[str], draw: Callable[[Axes, str], None], x: str, y: str) -> PaperFigure:
    """One panel per data set."""
    with plt.rc_context(STYLE):
        figure = PaperFigure(figsize=(PAGE_WIDTH, 2.2))
        for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            draw(axes, name)
            axes.set_title(name, loc="left", color=GREY)
        figure.supxlabel(x, fontsize=8)
        figure.axes[0].set_ylabel(y)
    return figure


def convergence(histories: dict[str, list[pd.DataFrame]]) -> PaperFigure:
    """Dimensions over time, a line per seed; dashed where the median seed settled."""

    def draw(axes: Axes, name: str) -> None:
        for history in histories[name]:
            axes.plot(history.step, history.dimensions, color=BLUE, linewidth=0.8, alpha=0.7)
        settled = np.median([history.step.iloc[-1] for history in histories[name]])
        axes.axvline(settled, color="black", linewidth=0.8, linestyle="--")
        axes.set_ylim(bottom=0)

    return panels(list(histories), draw, "step", "dimensions kept")


def quantization(bounds: dict[str, list[pv.bounds.Bound]]) -> PaperFigure:
    """Test error over Δ, a line per seed, with the bound of the first."""

    def draw(axes: Axes, name: str) -> None:
        for bound in bounds[name]:
            table = bound.table
            axes.plot(table.scale, table.test_error, color=BLUE, linewidth=0.8, alpha=0.7)
        first = bounds[name][0]
        axes.plot(first.table.scale, first.table.bound, color=ORANGE, label="bound")
        axes.plot([], [], color=BLUE, label="test error")
        axes.axhline(first.guessing, color=GREY, linewidth=0.8, linestyle="--", label="guessing")
        axes.set_ylim(0, 1)
        axes.set_xlim(0, 1)

    figure = panels(list(bounds), draw, "scale of quantisation Δ", "error")
    with plt.rc_context(STYLE):
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def spose_weights(fit: pv.Fit) -> PaperFigure:
    """The first two dimensions of SPoSE against the prior that it assumes."""
    embedding = fit.embedding()
    with plt.rc_context(STYLE):
        figure = PaperFigure(figsize=(PAGE_WIDTH, 2.0))
        for axes, dimension in zip(figure.subplots(1, 2), embedding.columns[:2], strict=False):
            weights = embedding[dimension]
            axes.hist(weights, bins=60, density=True, color=BLUE, label="weights")
            grid = np.linspace(0, weights.max(), 200)
            prior = expon(scale=1 / float(fit.prior.rate)).pdf(grid)
            axes.plot(grid, prior, color=ORANGE, label="exponential prior")
            axes.set_yscale("log")
            axes.set_ylim(1e-3, None)
            axes.set_title(f"dimension {dimension}", loc="left", color=GREY)
            axes.set_xlabel("weight")
        figure.axes[0].set_ylabel("density")
        figure.axes[1].legend()
    return figure


def save(figure: Figure, folder: Path, name: str, caption: str) -> str:
    """Write a figure beside the page; the lines that show it there."""
    path = folder / f"paper_{name}.png"
    figure.savefig(path, dpi=150)
    return f"![{caption}]({path.name})\n\n*{caption}*"
