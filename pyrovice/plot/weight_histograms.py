"""Weights against what the prior expected of them (the paper's histograms of dimensions)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.plot.density_curve import prior_density
from pyrovice.plot.labels import title_of_dimension
from pyrovice.plot.selection import kept_embedding
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, STYLE, TEXT, figure_of, part_for
from pyrovice.results.fit import Fit

HISTOGRAMS_PER_ROW = 4
LONGEST_TITLE = 16
HISTOGRAM_HEIGHT = 1.35
WEIGHT_BINS = 25
# The density of a prior may be infinite at zero, so it is drawn from here on.
FIRST_WEIGHT = 1e-3


def histograms(
    fit: Fit, which: Iterable[int | str] | None = None, ax: Axes | None = None
) -> Figure:
    """The positive weights of each dimension over objects, and the density of the prior.

    Bars and line have the same scale: the area of each is the share of weights that are not
    zero. The shares of zeros are in the titles, the prior's in brackets. Where the prior has
    parameters of its own, its density is averaged over what was learned about them.

    Parameters
    ----------
    fit : Fit
        The fit.
    which : iterable of int or str, optional
        Which dimensions; all that are kept by default. The paper shows the first two.
    ax : Axes, optional
        The panels together take the place of these axes.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
    >>> len(pv.plot.histograms(fit, which=[1, 2]).axes)
    2
    """
    weights = kept_embedding(fit, which)
    end = float(weights.max().max()) * 1.02 or 1.0
    grid = np.concatenate([[0.0], np.linspace(FIRST_WEIGHT, end, 400)])
    densities = prior_density(fit, grid)
    columns = min(HISTOGRAMS_PER_ROW, weights.shape[1])
    rows = math.ceil(weights.shape[1] / columns)
    with plt.rc_context(STYLE):
        part = part_for(
            ax, PAGE_WIDTH * max(2, columns) / HISTOGRAMS_PER_ROW, 0.5 + HISTOGRAM_HEIGHT * rows
        )
        panels = part.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        place_of = dict(zip(fit.embedding(), fit.kept_positions(), strict=True))
        for panel, dim in zip(panels, weights, strict=False):
            place, values = place_of[dim], weights[dim].to_numpy()
            _bars(panel, values, end)
            title = f"{title_of_dimension(dim, LONGEST_TITLE)}\n{(values <= 0).mean():.0%} zero"
            if densities is not None:
                density, zero = densities
                panel.plot(grid[1:], density[1:, place], color=ORANGE, linewidth=1.2)
                title += f" (prior {zero[place]:.0%})"
            panel.set_title(title, loc="left", color=GREY)
        for panel in panels[weights.shape[1] :]:
            panel.remove()
        for panel in panels[max(0, weights.shape[1] - columns) : weights.shape[1]]:
            panel.tick_params(axis="x", labelbottom=True)
        panels[0].set_xlim(0, end)
        panels[0].set_ylim(bottom=0)
        drawn = "positive weight [μ]₊ (bars)"
        part.supxlabel(drawn + ("" if densities is None else ", prior (line)"), fontsize=TEXT)
        part.supylabel("density", fontsize=TEXT)
    return figure_of(part)


def _bars(axes: Axes, values: np.ndarray, end: float) -> None:
    """A histogram of the positive values whose area is their share of all."""
    share = np.full((values > 0).sum(), WEIGHT_BINS / end / len(values))
    axes.hist(values[values > 0], bins=WEIGHT_BINS, range=(0, end), weights=share, color=BLUE)
