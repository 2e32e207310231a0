"""Which objects are alike."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from pyrovice.plot.labels import name_rows
from pyrovice.plot.style import (
    COLUMN_WIDTH,
    HEAT,
    HEAT_ROW,
    PAGE_WIDTH,
    STYLE,
    TALLEST,
    axes_for,
    colour_bar,
    figure_of,
)
from pyrovice.results.fit import Fit

# The best order of the leaves takes minutes for more objects, and nobody would see it.
MOST_IN_BEST_ORDER = 300
# Posterior draws and, where there are more, third objects that similarities are averaged over.
DRAWS, THIRDS = 10, 100


def similarity(fit: Fit, ax: Axes | None = None) -> Figure:
    """Heat map of how probably each pair is kept, similar objects side by side.

    The order is that of the leaves of average-linkage clustering; columns have the order of the
    rows. Averaged over 10 posterior draws and at most 100 third objects.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.similarity(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> figure.axes[1].get_xlabel()
    'probability that the pair is kept'
    """
    alike = fit.similarity(draws=DRAWS, thirds=THIRDS)
    order = clustered(alike.to_numpy())
    alike = alike.iloc[order, order]
    with plt.rc_context(STYLE):
        side = HEAT_ROW * len(alike)
        # As tall as its names need; square where most of them would not fit.
        height = min(side + 1.0, TALLEST) if side < 2 * TALLEST else PAGE_WIDTH
        axes = axes_for(
            ax,
            float(np.clip(side + 1.5, COLUMN_WIDTH, PAGE_WIDTH)),
            max(height, COLUMN_WIDTH),
        )
        image = axes.imshow(alike, aspect="auto", cmap=HEAT, vmin=0)
        name_rows(axes, list(alike.index))
        axes.set_xticks([])
        axes.set_xlabel(f"the same {len(alike):,} objects")
        colour_bar(axes, image, "probability that the pair is kept")
    return figure_of(axes)


def clustered(alike: NDArray[np.floating]) -> NDArray[np.intp]:
    """An order in which neighbours are similar; the diagonal does not count."""
    apart = 1 - alike
    np.fill_diagonal(apart, 0)
    tree = linkage(
        squareform(apart, checks=False),
        "average",
        optimal_ordering=len(alike) <= MOST_IN_BEST_ORDER,
    )
    return leaves_list(tree)
