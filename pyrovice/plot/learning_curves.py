"""What more judgments buy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator
from scipy.stats import t

from pyrovice.criticism.significance import CONFIDENCE
from pyrovice.errors import PyroviceError
from pyrovice.plot.style import COLOURS, PAGE_WIDTH, STYLE, TEXT, figure_of, part_for

# Two digits, or neighbours would touch.
SHORT = EngFormatter(sep="")
MEASURES = ("kl_divergence", "accuracy", "dimensions")


def data_efficiency(
    runs: pd.DataFrame, measures: Sequence[str] = MEASURES, ax: Axes | None = None
) -> Figure:
    """Each measure over the number of judgments: means over runs, with 95 % intervals.

    Parameters
    ----------
    runs : DataFrame
        A row per run: `judgments`, the measures, and `model` if there are several. The
        attribute `runs` of what :func:`pyrovice.bounds.design` returns is such a table.
    measures : sequence of str
        The columns to show, a panel each.
    ax : Axes, optional
        The panels together take the place of these axes.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv
    >>> runs = pd.DataFrame(
    ...     {"judgments": [100, 100, 200, 200], "accuracy": [0.5, 0.52, 0.6, 0.61]}
    ... )
    >>> len(pv.plot.data_efficiency(runs, ["accuracy"]).axes)
    1
    """
    missing = {"judgments", *measures} - set(runs)
    if missing or not len(measures):
        raise PyroviceError(
            f"The table has no column {', '.join(map(repr, sorted(missing))) or 'to show'}; it has "
            f"{', '.join(map(repr, runs))}. Choose with measures=[...]."
        )
    models = dict(iter(runs.groupby("model", sort=False))) if "model" in runs else {"": runs}
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH * max(len(measures), 2) / 3, 2.5 if len(models) > 1 else 2.3)
        panels = part.subplots(1, len(measures), squeeze=False)[0]
        for axes, measure in zip(panels, measures, strict=True):
            for colour, (name, of_model) in zip(cycle(COLOURS), models.items(), strict=False):
                _curve(axes, of_model.groupby("judgments")[measure], str(name), colour)
            axes.set_xscale("log")
            axes.set_xticks(sorted(runs.judgments.unique()))
            axes.xaxis.set_major_formatter(lambda n, _: SHORT(float(f"{n:.2g}")))
            axes.minorticks_off()
            axes.set_ylabel(measure.replace("_", " ").replace("kl ", "KL "))
            if runs[measure].dropna().mod(1).eq(0).all():
                axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        if len(models) > 1:
            # Above all panels: inside, it would lie over the curves.
            handles = panels[0].get_legend_handles_labels()
            part.legend(
                *handles, loc="outside upper left", ncols=min(len(models), 2 * len(measures))
            )
        part.supxlabel("judgments", fontsize=TEXT)
    return figure_of(part)


def _curve(axes: Axes, groups: pd.core.groupby.SeriesGroupBy, name: str, colour: str) -> None:
    """The mean of each group, and its t interval where there are several runs."""
    mean, n = groups.mean(), groups.size()
    half = groups.sem() * t.ppf((1 + CONFIDENCE) / 2, np.maximum(n - 1, 1))
    axes.plot(mean.index, mean, color=colour, marker=".", label=name)
    axes.fill_between(
        mean.index, mean - half.fillna(0), mean + half.fillna(0), color=colour, alpha=0.2,
        linewidth=0,
    )  # fmt: skip
