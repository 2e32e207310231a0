"""What groups of people weigh differently."""

from __future__ import annotations

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import label, labels_of_dimensions
from pyrovice.plot.object_bars import BAR_HEIGHT
from pyrovice.plot.style import BLUE, GREY, ORANGE, SMALL, STYLE, figure_of, part_for
from pyrovice.results.fit import Fit

PANELS_PER_ROW = 2
# Inches: a panel with its numbers, and the names of dimensions.
PANEL, NAMES = 2.6, 1.5
# Letters in a line of a title, and in all of it.
TITLE_LINE, LONGEST_TITLE = 24, 72


def groups(fit: Fit, ax: Axes | None = None) -> Figure:
    """Differences of mean log-weights between groups, with 90 % intervals.

    A panel for each pair of groups, in colour where the interval excludes zero. Beside it the
    probability that the difference is positive, and the p-value of a permutation test over
    people: see :meth:`Fit.groups`.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> half = {person: "a" if i % 2 else "b" for i, person in enumerate(data.people())}
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> fit = pv.fit(data, people=pv.People(groups=half), dimensions=12, training=short)
    >>> pv.plot.groups(fit).axes[0].get_title(loc="left")
    'a − b'
    """
    found = fit.groups()
    if found.empty:
        raise PyroviceError("This fit kept no dimension, so there is nothing to draw.")
    pairs = list(dict.fromkeys(found.index.get_level_values("groups")))
    columns = min(PANELS_PER_ROW, len(pairs))
    rows = -(-len(pairs) // columns)
    dims = fit.n_dimensions
    reach = 1.05 * max(float(found[end].abs().max()) for end in ("5 %", "95 %"))
    with plt.rc_context(STYLE):
        titles = {pair: _title(pair) for pair in pairs}
        lines = max(title.count("\n") for title in titles.values())
        height = rows * (0.85 + 0.14 * lines + BAR_HEIGHT * dims)
        part = part_for(ax, NAMES + PANEL * columns, height)
        grid = part.add_gridspec(rows, 2 * columns, width_ratios=[3, 1.3] * columns)
        named = labels_of_dimensions(fit, longest=20)
        for i, pair in enumerate(pairs):
            row, column = divmod(i, columns)
            panel, numbers = (part.add_subplot(grid[row, 2 * column + j]) for j in (0, 1))
            of_pair = found.xs(pair, level="groups")
            _draw(panel, of_pair, titles[pair])
            panel.set_xlim(-reach, reach)
            _write(numbers, of_pair)
            for axes in (panel, numbers):
                axes.set_ylim(dims - 0.4, -0.6)
            names = [named[dim] if column == 0 else "" for dim in fit.embedding()]
            panel.set_yticks(range(dims), names)
    return figure_of(part)


def _title(pair: str) -> str:
    """Both names, on as many lines as they need: the numbers stand beside them."""
    return fill(label(pair.replace(" - ", " − "), LONGEST_TITLE), TITLE_LINE)


def _draw(axes: Axes, found: pd.DataFrame, title: str) -> None:
    rows = np.arange(len(found))
    low, high = found["5 %"].to_numpy(), found["95 %"].to_numpy()
    away = np.where(low > 0, ORANGE, np.where(high < 0, BLUE, GREY))
    axes.axvline(0, color="black", linewidth=0.8, linestyle="--", zorder=0)
    axes.hlines(rows, low, high, color=away, linewidth=1.4)
    axes.scatter(found["difference"], rows, color=away, s=14, zorder=3)
    axes.set_title(title, loc="left", fontweight="bold")
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel("difference of log-weights")


def _write(axes: Axes, found: pd.DataFrame) -> None:
    """The numbers beside the lines."""
    axes.set_axis_off()
    axes.set_xlim(0, 2)
    for x, column, head in ((0.4, "P(> 0)", "P(> 0)"), (1.5, "p_value", "p")):
        axes.text(x, -0.75, head, ha="center", va="bottom", fontsize=SMALL)
        for row, value in enumerate(found[column]):
            text = f"{value:.3f}" if column == "p_value" else f"{value:.2f}"
            axes.text(x, row, text, ha="center", va="center", fontsize=SMALL)
