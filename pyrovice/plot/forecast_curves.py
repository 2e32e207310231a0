"""What more judgments would give, as curves."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from pyrovice.criticism.forecasting import MEASURES, Forecast
from pyrovice.plot.style import COLOURS, PAGE_WIDTH, STYLE, TEXT, figure_of, part_for

LABELS = {
    "nats": "held-out cross-entropy [nats]",
    "accuracy": "accuracy",
    "dimensions": "dimensions kept",
}
SHORT = EngFormatter(sep="")


def forecast(found: Forecast, ax: Axes | None = None) -> Figure:
    """Scores of parts of the judgments, and what is expected of more, with 80 % intervals.

    Parameters
    ----------
    found : Forecast
        As :func:`pyrovice.forecast` gives it.
    ax : Axes, optional
        The panels together take the place of these axes.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv
    >>> ends = {f"{m}{end}": [1.0, 0.9] for m in ("nats", "accuracy", "dimensions")
    ...         for end in ("", "_low", "_high")}
    >>> runs = pd.DataFrame({"resample": [0, 0], "judgments": [500, 900], "nats": [1.05, 1.0],
    ...                      "accuracy": [0.4, 0.5], "dimensions": [2, 3]})
    >>> table = pd.DataFrame({"judgments": [1000, 2000], **ends})
    >>> len(pv.plot.forecast(pv.Forecast(table, runs, 1000, 0.8)).axes)
    3
    """
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 2.5)
        panels = part.subplots(1, len(MEASURES), squeeze=False)[0]
        for axes, measure in zip(panels, MEASURES, strict=True):
            _panel(axes, found, measure)
        # Above all panels: inside, it would lie over judgments or the forecast.
        part.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        part.supxlabel("judgments", fontsize=TEXT)
    return figure_of(part)


def _panel(axes: Axes, found: Forecast, measure: str) -> None:
    known, ahead = found.runs, found.table
    axes.plot(
        known.judgments, known[measure], "o", color=COLOURS[1], markersize=2.5, alpha=0.6,
        label="fits of parts",
    )  # fmt: skip
    axes.plot(
        ahead.judgments, ahead[measure], "o-", color=COLOURS[0], markersize=3, label="expected"
    )
    axes.fill_between(
        ahead.judgments, ahead[f"{measure}_low"], ahead[f"{measure}_high"], color=COLOURS[0],
        alpha=0.2, linewidth=0,
    )  # fmt: skip
    axes.axvline(found.n_judgments, color="black", linewidth=0.8, linestyle=":", label="now")
    axes.set_xscale("log")
    ends = known.judgments.min(), found.n_judgments, ahead.judgments.max()
    axes.set_xticks(np.unique(ends).tolist())
    axes.xaxis.set_major_formatter(lambda n, _: SHORT(float(f"{n:.2g}")))
    axes.minorticks_off()
    if measure == "dimensions":
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        # A count that does not change would fill the panel with what rounding left.
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, max(np.floor(high) - 1, 0)), max(high, np.ceil(low) + 1))
    axes.set_ylabel(LABELS[measure])
