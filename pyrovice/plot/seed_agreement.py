"""How well the dimensions of each model come back in the others."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.criticism.across_seeds import Reproducibility
from pyrovice.criticism.across_seeds import reproducibility as measured
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, SMALL, STYLE, figure_of, part_for
from pyrovice.results.fit import Fit


def reproducibility(fits: Sequence[Fit] | Reproducibility, ax: Axes | None = None) -> Figure:
    """The dimensions of all models by their mean correlation, and each model by itself.

    On the left all dimensions, the best first; on the right the share of each model's
    dimensions that are above the threshold, with how many it has.

    Parameters
    ----------
    fits : sequence of Fit, or Reproducibility
        Fits of the same objects, or the result of :func:`pyrovice.reproducibility`.
    ax : Axes, optional
        Both panels together take the place of these axes.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> X = np.random.default_rng(0).gamma(1.0, 1.0, (50, 3))
    >>> figure = pv.plot.reproducibility([X, X[:, [2, 0]]])
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['dimensions, the best first', 'model']
    """
    found = fits if isinstance(fits, Reproducibility) else measured(fits)
    ranked = np.sort(found.table.correlation.to_numpy())[::-1]
    by_model = found.by_model
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 2.4)
        left, right = part.subplots(1, 2, width_ratios=(3, 2))
        places = np.arange(1, len(ranked) + 1)
        good = ranked > found.threshold
        left.plot(places[good], ranked[good], ".", color=BLUE, label="reproducible")
        left.plot(places[~good], ranked[~good], ".", color=ORANGE, label="not reproducible")
        left.axhline(found.threshold, color="black", linewidth=0.8, linestyle="--")
        left.set_xlabel("dimensions, the best first")
        left.set_ylabel("mean correlation with match")
        # The whole dot is seen, also below zero.
        left.set_ylim(min(0, ranked.min() - 0.05), 1.05)
        left.set_xlim(0, len(ranked) + 1)
        left.locator_params(axis="x", integer=True)
        left.set_title(f"{found.score:.0%} reproducible", loc="left", color=GREY)
        left.legend(loc="lower left")
        bars = right.bar(by_model.index.astype(str), by_model.score, color=BLUE)
        right.bar_label(bars, by_model.dimensions, fontsize=SMALL)
        right.set_ylim(0, 1.1)
        right.set_xlabel("model")
        right.set_ylabel("share reproducible")
        right.set_title("above: number of dimensions", loc="left", color=GREY)
    return figure_of(part)
