"""Real answers among drawn ones."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.criticism.checks import Check, CheckReport
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, STYLE, TEXT, figure_of, part_for
from pyrovice.results.site_tables import INTERVAL

CHECKS_PER_ROW = 4
CHECK_HEIGHT = 1.45


def checks(report: CheckReport, ax: Axes | None = None) -> Figure:
    """A panel per check: the statistic of drawn answers, and that of the real ones.

    The real one is a line; where it depends on the posterior draw, a band holds 90 % of
    its values. Checks that are flagged are orange.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> figure = pv.plot.checks(pv.checks.report(pv.fit(data, dimensions=12), data))
    >>> len(figure.axes)
    6
    """
    names = list(report.checks)
    columns = min(CHECKS_PER_ROW, len(names), 3 if len(names) in (5, 6) else CHECKS_PER_ROW)
    rows = -(-len(names) // columns)
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH * columns / CHECKS_PER_ROW, 0.25 + CHECK_HEIGHT * rows)
        for i, name in enumerate(names):
            axes = part.add_subplot(rows, columns, i + 1)
            _panel(axes, report.checks[name], flagged=name in report.flagged)
        label = "value of the statistic: drawn answers (grey), real answers (line)"
        part.supxlabel(label, fontsize=TEXT)
    return figure_of(part)


def _panel(axes: Axes, check: Check, flagged: bool) -> None:
    colour = ORANGE if flagged else BLUE
    axes.hist(check.replicated, bins=25, color=GREY, alpha=0.55)
    low, high = np.quantile(check.observed, INTERVAL)
    if high > low:
        axes.axvspan(low, high, color=colour, alpha=0.25, linewidth=0)
    axes.axvline(check.observed.mean(), color=colour, linewidth=1.5)
    axes.set_title(f"{check.name}\ntail area {check.tail_area:.3f}", color=colour)
    axes.margins(x=0.05)
    axes.set_yticks([])
    axes.spines.left.set_visible(False)
    axes.locator_params(axis="x", nbins=3)
