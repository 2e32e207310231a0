"""Where true values lie among posterior draws."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.criticism.interval_calibration import IntervalCalibration
from pyrovice.criticism.refitting import LEVELS
from pyrovice.errors import PyroviceError
from pyrovice.plot.style import BLUE, GREY, PAGE_WIDTH, SMALL, STYLE, figure_of, part_for

PANELS_PER_ROW = 3


def ranks(found: IntervalCalibration, ax: Axes | None = None) -> Figure:
    """Rank histograms of a calibration by simulation, a panel for each quantity.

    Flat, at the dashed line, if intervals are right; high at both ends if they are too narrow, in
    the middle if too wide, on one side if values are off. Above each, how many of the 50, 80 and
    95 % intervals hold the truth.

    Parameters
    ----------
    found : IntervalCalibration
        What :func:`pyrovice.calibrate` returned.
    ax : Axes, optional
        All panels together take the place of these axes.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> three_kinds = 1.5 * np.repeat(np.eye(3), 10, axis=0)
    >>> data = pv.simulate(three_kinds, 2000, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=40), stop=pv.MaxEpochs(40))
    >>> found = pv.calibrate(pv.fit(data, dimensions=4, training=quick), data, simulations=2)
    >>> [axes.get_title(loc="left") for axes in pv.plot.ranks(found).axes]
    ['choice probability', 'similarity', 'weight']
    """
    if not isinstance(found, IntervalCalibration):
        raise PyroviceError(
            f"plot.ranks got a {type(found).__name__}; expected what pv.calibrate(fit, data) "
            "returned."
        )
    table = found.ranks
    names = list(table)
    columns = min(PANELS_PER_ROW, len(names))
    rows = -(-len(names) // columns)
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 0.35 + 2.0 * rows)
        panels = part.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        width = 1 / len(table)
        for panel, name in zip(panels, names, strict=False):
            panel.bar(table.index, table[name], width=0.92 * width, color=BLUE)
            panel.axhline(width, color=GREY, linewidth=0.9, linestyle="--")
            panel.set_title(name, loc="left", pad=22)
            panel.text(
                0, 1.02, _held(found.coverage.loc[name]), transform=panel.transAxes, color=GREY,
                fontsize=SMALL,
            )  # fmt: skip
            panel.set_ylim(0, max(2.2 * width, 1.1 * table[name].max()))
            panel.set_xlim(0, 1)
            panel.set_xticks([0, 0.5, 1])
            panel.tick_params(labelbottom=True, labelsize=SMALL)
        for panel in panels[len(names) :]:
            panel.remove()
        for panel in panels[: len(names) : columns]:
            panel.set_ylabel("share")
        for panel in panels[max(0, len(names) - columns) : len(names)]:
            panel.set_xlabel("rank of the truth among draws")
    return figure_of(part)


def _held(coverage: pd.Series) -> str:
    """How many of the intervals hold the truth."""
    said = "/".join(f"{100 * level:.0f}" for level in LEVELS)
    found = "/".join(f"{100 * coverage[level]:.0f}" for level in LEVELS)
    return f"{found} % are in intervals\nof {said} %"
