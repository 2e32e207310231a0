"""How much each dimension matters."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import height_of_names, name_columns
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, PAGE_WIDTH, PALE, STYLE, axes_for, figure_of
from pyrovice.results.fit import Fit
from pyrovice.results.pruning import MIN_OBJECTS, THRESHOLD, default_rule

# As many upright names stand side by side in a column of text.
MOST_NAMES = 20


def importance(fit: Fit, ax: Axes | None = None) -> Figure:
    """The dimensions by importance, those that are kept in blue.

    Importance is the number of objects with a credibly positive weight, or the largest weight
    where weights cannot be zero. The dashed line is what a dimension must exceed to be kept.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.importance(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> figure.axes[0].get_ylabel()
    'objects with a credible weight'
    """
    values = fit.importance()
    if values.empty:
        raise PyroviceError("This fit has no dimension, so there is nothing to draw.")
    kept = values.index.isin(fit.embedding().columns)
    counted = default_rule(fit.posterior) == "fdr"
    least = MIN_OBJECTS if counted else THRESHOLD
    with plt.rc_context(STYLE):
        # Numbers can be left out where there is no room; names are all there.
        crowded = bool(fit.dimension_names) and len(values) > MOST_NAMES
        axes = axes_for(
            ax,
            PAGE_WIDTH if crowded else COLUMN_WIDTH,
            2.2 + height_of_names(list(values.index)),
        )
        numbers, heights = np.arange(1, len(values) + 1), values.to_numpy()
        axes.bar(numbers[kept], heights[kept], color=BLUE, label=f"kept ({kept.sum()})")
        if not kept.all():
            said = f"dropped ({(~kept).sum()})"
            axes.bar(numbers[~kept], heights[~kept], color=PALE, label=said)
        axes.axhline(least, color="black", linewidth=0.8, linestyle="--", label=f"limit {least:g}")
        axes.set_xlabel("dimension")
        axes.set_ylabel("objects with a credible weight" if counted else "largest weight")
        if counted:
            axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
        name_columns(axes, list(values.index), first=1)
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=3, handlelength=1.3
        )
    return figure_of(axes)
