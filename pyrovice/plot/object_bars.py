"""One object by itself."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.plot.labels import labels, labels_of_dimensions
from pyrovice.plot.selection import kept_embedding, row_of
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, STYLE, axes_for, figure_of
from pyrovice.results.fit import Fit
from pyrovice.results.site_tables import INTERVAL

BAR_HEIGHT = 0.19
LONGEST_TITLE = 22


def object_profile(fit: Fit, name: str, k: int = 12, ax: Axes | None = None) -> Figure:
    """The `k` strongest dimensions of one object, with 90 % posterior intervals.

    Dimensions are named by their number and their top objects.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
    >>> pv.plot.object_profile(fit, "carrot").axes[0].get_title(loc="left")
    'carrot'
    """
    row = row_of(fit, name)
    weights = kept_embedding(fit).iloc[row]
    # Where the weight itself is zero, its interval may still reach further than another's.
    low, reach = (fit.quantile(q).iloc[row] for q in INTERVAL)
    order = np.lexsort([-reach.to_numpy(), -weights.to_numpy()])[:k]
    chosen = weights.index[order]
    low, high = low[chosen], reach[chosen]
    named = labels_of_dimensions(fit, longest=24)
    with plt.rc_context(STYLE):
        axes = axes_for(ax, COLUMN_WIDTH, 0.75 + BAR_HEIGHT * len(chosen))
        bars = np.arange(len(chosen))
        axes.barh(bars, weights[chosen], color=BLUE, height=0.7)
        axes.hlines(bars, low, high, color="black", linewidth=0.9)
        axes.set_yticks(bars, [named[dim] for dim in chosen])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("weight, 90 % interval")
        axes.set_title(
            labels(fit.names, LONGEST_TITLE)[str(fit.names[row])], loc="left", fontweight="bold"
        )
    return figure_of(axes)
