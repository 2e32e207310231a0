"""How much of each dimension features predict."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import name_columns
from pyrovice.plot.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH, STYLE, axes_for, figure_of
from pyrovice.results.fit import Fit

# More bars than this need the width of a page.
MANY_BARS = 20


def features(fit: Fit, ax: Axes | None = None) -> Figure:
    """The share of each kept dimension's variance that features predict, by block.

    Every object is predicted from the others, as in ``fit.explained()``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> few, rest = example.triplets.split(0.05, 0.95, seed=0)
    >>> features = example.embedding + 0.3  # in earnest: ratings, activations, word vectors
    >>> fit = pv.fit(few, prior=pv.Features(features), dimensions=12)
    >>> pv.plot.features(fit).axes[0].get_ylabel()
    'variance predicted by features'
    """
    shares = fit.explained()
    if shares.empty:
        raise PyroviceError("This fit keeps no dimension, so there is nothing to draw.")
    blocks = shares.drop(columns="all")
    with plt.rc_context(STYLE):
        width = PAGE_WIDTH if len(shares) > MANY_BARS else COLUMN_WIDTH
        axes = axes_for(ax, width, 3.2 if fit.dimension_names else 2.2)
        # Blocks that work against each other have a negative share.
        up, down = np.zeros(len(blocks)), np.zeros(len(blocks))
        for i, name in enumerate(blocks):
            share = blocks[name].to_numpy()
            bottom = np.where(share >= 0, up, down)
            colour = COLOURS[i % len(COLOURS)]
            label = None if len(blocks.columns) == 1 else name
            axes.bar(range(len(blocks)), share, bottom=bottom, color=colour, label=label)
            up, down = up + np.maximum(share, 0), down + np.minimum(share, 0)
        axes.set_xlabel("dimension")
        axes.set_ylabel("variance predicted by features")
        axes.set_ylim(min(0.0, 1.05 * down.min()), 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        name_columns(axes, list(blocks.index))
        if len(blocks.columns) > 1:
            axes.legend(
                loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=4, handlelength=1
            )
    return figure_of(axes)
