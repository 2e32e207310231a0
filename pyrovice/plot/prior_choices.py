"""What a prior implies, before any data."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.model.priors import PriorPredictive
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, STYLE, figure_of, part_for
from pyrovice.results.site_tables import INTERVAL

PRIOR_BINS = 40
# A heavy tail would squeeze all other weights into one bar.
QUANTILE_SHOWN = 0.999


def prior_predictive(result: PriorPredictive, ax: Axes | None = None) -> Figure:
    """Weights after the rectifier, and how certain the choices are that follow.

    The accuracy is that of an observer who knows X: its mean over draws, and the
    range of 90 % of them. The largest 0.1 % of the weights are not shown.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.prior_predictive(pv.priors.predictive(pv.SpikeSlab(), (80, 12)))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['positive weight [X]₊', 'largest choice probability']
    """
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 2.3)
        left, right = part.subplots(1, 2)
        _weights(left, result)
        _certainty(right, result)
    return figure_of(part)


def _weights(axes: Axes, result: PriorPredictive) -> None:
    positive = result.positive_weights
    if len(positive):
        end = np.quantile(positive, QUANTILE_SHOWN)
        axes.hist(positive, bins=PRIOR_BINS, range=(0, end), density=True, color=BLUE)
        axes.set_xlim(0, end)
    axes.set_xlabel("positive weight [X]₊")
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    zeros = result.zeros.mean()
    share = f"{100 * zeros:.0f} % of the weights are zero" if zeros else "no weight is zero"
    axes.set_title(share, loc="left", color=GREY)


def _certainty(axes: Axes, result: PriorPredictive) -> None:
    # Rounding may put a third below a third, and out of the histogram.
    largest = result.largest.ravel().clip(1 / 3, 1)
    share = np.full(len(largest), 1 / len(largest))
    axes.hist(largest, bins=PRIOR_BINS, range=(1 / 3, 1), weights=share, color=BLUE)
    accuracy = result.accuracy
    low, high = np.quantile(accuracy, INTERVAL)
    axes.axvspan(low, high, color=ORANGE, alpha=0.25, linewidth=0, zorder=0)
    axes.axvline(
        accuracy.mean(),
        color=ORANGE,
        linewidth=1.5,
        label=f"accuracy {accuracy.mean():.2f} [{low:.2f}, {high:.2f}]",
    )
    axes.axvline(
        result.guessing,
        color="black",
        linestyle="--",
        linewidth=0.8,
        label=f"guessing {result.guessing:.2f}",
    )
    # Above the panel, because the bars may stand anywhere in it.
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        ncols=2,
        handlelength=1.3,
        columnspacing=1.0,
    )
    axes.set_xlim(0.31, 1.0)
    axes.set_xticks([1 / 3, 0.5, 0.75, 1], ["1/3", "0.5", "0.75", "1"])
    axes.set_xlabel("largest choice probability")
    axes.set_ylabel("share of choices")
