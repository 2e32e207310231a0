"""Predicted against observed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREY, STYLE, figure_of, part_for
from pyrovice.results.calibration import Calibration
from pyrovice.results.fit import Fit


def calibration(
    fit: Fit | Calibration, data: Triplets | None = None, ax: Axes | None = None
) -> Figure:
    """Observed share of answers over their predicted probability, with 95 % intervals.

    Below it, how many answers were predicted with each probability.

    Parameters
    ----------
    fit : Fit or Calibration
        A fit, or what `fit.calibration` returned.
    data : Triplets, optional
        The judgments to compare a fit with, preferably some that it has not seen.
    ax : Axes, optional
        Both panels together take the place of these axes.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.split(0.9, 0.1, seed=0)
    >>> figure = pv.plot.calibration(pv.fit(train, dimensions=12), test)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['observed share', 'answers']
    """
    if isinstance(fit, Fit):
        if data is None:
            raise PyroviceError("Say which judgments: pv.plot.calibration(fit, data).")
        found = fit.calibration(data)
    else:
        found = fit
    table = found.table
    with plt.rc_context(STYLE):
        part = part_for(ax, COLUMN_WIDTH, 1.2 * COLUMN_WIDTH)
        above, below = part.subplots(2, sharex=True, height_ratios=(4, 1))
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
        part.align_ylabels()
    return figure_of(part)
