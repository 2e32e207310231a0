"""Predicted against observed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from pyrovice.calibration import Calibration
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREY, STYLE, PaperFigure


def calibration(found: Calibration) -> Figure:
    """Observed share of answers over their predicted probability, with 95 % intervals.

    Below it, how many answers were predicted with each probability.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> from pyrovice.calibration import calibrate
    >>> t = pv.Triplets([[0, 1, 2]] * 10, [0] * 6 + [1] * 3 + [2])
    >>> figure = pv.plot.calibration(calibrate(np.tile([0.64, 0.34, 0.02], (10, 1)), t))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['observed share', 'answers']
    """
    table = found.table
    with plt.rc_context(STYLE):
        figure = PaperFigure(figsize=(COLUMN_WIDTH, 1.2 * COLUMN_WIDTH))
        above, below = figure.subplots(2, sharex=True, height_ratios=(4, 1))
        above.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
        spread = np.abs(table[["low", "high"]].to_numpy().T - table.observed.to_numpy())
        above.errorbar(
            table.predicted, table.observed, yerr=spread, color=BLUE, marker="o", markersize=3.5,
            linewidth=1, elinewidth=0.9,
        )  # fmt: skip
        above.set_ylabel("observed share")
        above.set_xlim(-0.02, 1.02)
        above.set_ylim(-0.02, 1.02)
        above.set_title(
            f"{found.n:,} judgments, calibration error {found.error:.3f}\n"
            f"({found.noise:.3f} if predictions were exactly right)",
            loc="left",
            color=GREY,
        )
        left = [interval.left for interval in table.bin]
        width = table.bin.iloc[0].length
        below.bar(left, table.n, width=width, align="edge", color=BLUE, edgecolor="white")
        below.set_ylabel("answers")
        below.set_xlabel("predicted probability")
        figure.align_ylabels()
    return figure
