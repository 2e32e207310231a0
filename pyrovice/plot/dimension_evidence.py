"""How many dimensions there are: the count with its interval, and the evidence for each."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import name_columns
from pyrovice.plot.style import (
    BLUE,
    GREY,
    ORANGE,
    PAGE_WIDTH,
    PALE,
    SMALL,
    STYLE,
    figure_of,
    part_for,
)

# More names than this would lie over each other.
MOST_NAMED = 30
# Half of the room in which refits of one share stand side by side.
SPREAD = 0.022


def dimensionality(found: Dimensionality, ax: Axes | None = None) -> Figure:
    """The number of dimensions against the share of the judgments, and how probable each one is.

    On the left a dot per refit: how many of the dimensions that are real it has. A line joins
    their means, and at all judgments is the count with its 90 % interval. On the right the
    probability of each dimension of the fit; those with a plus are not in it.

    Parameters
    ----------
    found : Dimensionality
        What ``fit.dimensionality(data)`` returned.
    ax : Axes, optional
        Both panels together take the place of these axes.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> three_kinds = 1.5 * np.repeat(np.eye(3), 10, axis=0)
    >>> data = pv.simulate(three_kinds, 2000, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=40), stop=pv.MaxEpochs(40))
    >>> fit = pv.fit(data, dimensions=4, training=quick)
    >>> figure = pv.plot.dimensionality(fit.dimensionality(data, resamples=2))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['share of the judgments', 'dimension']
    """
    if not isinstance(found, Dimensionality):
        raise PyroviceError(
            f"plot.dimensionality got a {type(found).__name__}; expected what "
            "fit.dimensionality(data) returned."
        )
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 2.6)
        left, right = part.subplots(1, 2, width_ratios=(2, 3))
        _count(left, found)
        _each(right, found)
    return figure_of(part)


def _count(axes: Axes, found: Dimensionality) -> None:
    refits = found.refits
    for share, here in refits.groupby("share"):
        order = np.argsort(here.real.to_numpy(), kind="stable")
        beside = np.linspace(-SPREAD, SPREAD, len(here)) if len(here) > 1 else np.zeros(1)
        axes.scatter(
            float(share) + beside, here.real.to_numpy()[order], s=9, color=BLUE, alpha=0.5,
            linewidths=0, clip_on=False,
        )  # fmt: skip
    means = refits.groupby("share").real.mean()
    axes.plot([*means.index, 1.0], [*means, found.count], color=BLUE, linewidth=1)
    axes.errorbar(
        1.0, found.count, yerr=[[found.count - found.low], [found.high - found.count]],
        color=ORANGE, marker="o", markersize=4.5, capsize=3, linewidth=1.4, zorder=3,
    )  # fmt: skip
    axes.set_title(found.headline, loc="left")
    axes.set_xlim(0, 1.08)
    axes.set_ylim(0, None)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_xlabel("share of the judgments")
    axes.set_ylabel("real dimensions found")


def _each(axes: Axes, found: Dimensionality) -> None:
    table = found.table
    numbers, heights = np.arange(1, len(table) + 1), table.probability.to_numpy()
    in_fit = table.in_fit.to_numpy(bool)
    real = heights >= 0.5
    # A bar of almost no height would look like a dimension that is not there.
    shown = np.maximum(heights, 0.008)
    for which, colour, text in (
        (in_fit & real, BLUE, "real"),
        (in_fit & ~real, PALE, "doubtful"),
        (~in_fit, ORANGE, "missed by the fit"),
    ):
        if which.any():
            label = f"{text} ({which.sum()})"
            axes.bar(numbers[which], shown[which], color=colour, label=label)
    for level in (0.5, 0.9):
        axes.axhline(level, color=GREY, linewidth=0.6, linestyle="--", zorder=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("dimension")
    axes.set_ylabel("probability of being real")
    if len(table) <= MOST_NAMED:
        name_columns(axes, list(table.index), first=1)
    else:
        tens = [1, *range(10, in_fit.sum() + 1, 10)]
        axes.set_xticks(tens, [str(number) for number in tens])
    if len(table):
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=3, handlelength=1.2,
            columnspacing=1.0, fontsize=SMALL,
        )  # fmt: skip
