"""What many fits say: the grid of priors, and dimensions by seed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pyrovice.errors import PyroviceError
from pyrovice.model.priors import SpikeSlab
from pyrovice.plot.style import (
    BLUE,
    GREY,
    ORANGE,
    PAGE_WIDTH,
    SMALL,
    STYLE,
    TEXT,
    axes_for,
    figure_of,
    part_for,
)
from pyrovice.sweeps.result import SCORE, Sweep

PANELS_PER_ROW = 5
# Scores beyond this quantile share a colour, or one hopeless prior would hide all differences.
QUANTILE_COLOURED = 0.9
# Nats that the colours span at least, and standard errors: smaller differences look small.
LEAST_SPAN, LEAST_ERRORS = 0.02, 4


def prior_grid(sweep: Sweep, ax: Axes | None = None) -> Figure:
    """How many nats worse than the best each spike and slab predicts, a panel for each π.

    The best prior has a filled dot, the simplest within one paired standard error of it a ring.
    Small dots are on all others within their own, and a line on the colour bar is at the middle
    of these errors. Colours span 0.02 nats and four of them at least, so that differences that
    are none look like none. The worst tenth of the scores share the darkest colour.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, valid = pv.load_example().triplets.split(0.2, 0.1, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=50), stop=pv.MaxEpochs(50))
    >>> priors = [pv.SpikeSlab(0.25, 1.0, pi) for pi in (0.3, 0.6)]
    >>> found = pv.sweep(train, valid, priors=priors, seeds=1, training=quick, dimensions=9)
    >>> figure = pv.plot.prior_grid(found)
    >>> [panel.get_title() for panel in figure.axes[:2]]
    ['π = 0.3', 'π = 0.6']
    """
    grid = sweep.summary.assign(prior=list(sweep.priors))
    grid = grid[[isinstance(prior, SpikeSlab) for prior in sweep.priors]]
    if grid.empty:
        raise PyroviceError(
            "This sweep has no SpikeSlab priors, so there is no grid to draw; see "
            "plot.dimensions_by_seed, or sweep.summary."
        )
    if grid.family.nunique() > 1:
        raise PyroviceError("This sweep has two families of SpikeSlab; draw them one by one.")
    pis, spikes, slabs = (np.unique(grid[name]) for name in ("pi", "spike", "slab"))
    columns = min(PANELS_PER_ROW, len(pis))
    rows = -(-len(pis) // columns)
    worse = grid[SCORE] - grid[SCORE].min()
    grid = grid.assign(worse=worse, near=worse <= grid["paired_error"].fillna(0.0))
    others = grid["paired_error"][worse > 0].dropna()
    error = float(others.median()) if len(others) else 0.0
    span = max(worse.quantile(QUANTILE_COLOURED), LEAST_SPAN, LEAST_ERRORS * error)
    with plt.rc_context(STYLE):
        side = PAGE_WIDTH / PANELS_PER_ROW
        part = part_for(ax, 1.2 + side * columns, 0.7 + side * rows)
        panels = part.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for panel, pi in zip(panels, pis, strict=False):
            here = grid[grid.pi == pi]
            values = here.pivot(index="spike", columns="slab", values="worse")
            values = values.reindex(index=spikes, columns=slabs).to_numpy()
            image = panel.imshow(
                values, origin="lower", cmap="viridis_r", vmin=0, vmax=span, aspect="auto"
            )
            near = here[here.near]
            if len(near):
                x, y = np.searchsorted(slabs, near.slab), np.searchsorted(spikes, near.spike)
                panel.scatter(x, y, s=3, color=ORANGE, linewidths=0)
            for prior, face in ((sweep.simplest, "none"), (sweep.best, ORANGE)):
                if isinstance(prior, SpikeSlab) and prior.pi == pi:
                    x, y = np.searchsorted(slabs, prior.slab), np.searchsorted(spikes, prior.spike)
                    size = 22 if face == ORANGE else 60
                    panel.scatter(x, y, s=size, facecolors=face, edgecolors=ORANGE, linewidths=1.4)
            panel.set_title(f"π = {pi:g}")
            panel.set_xticks(range(len(slabs)), [f"{slab:g}" for slab in slabs], rotation=90)
            panel.set_yticks(range(len(spikes)), [f"{spike:g}" for spike in spikes])
        for panel in panels[len(pis) :]:
            panel.remove()
        for panel in panels[max(0, len(pis) - columns) : len(pis)]:
            panel.tick_params(axis="x", labelbottom=True)
        part.supxlabel("slab", fontsize=TEXT)
        part.supylabel("spike", fontsize=TEXT)
        bar = part.colorbar(image, ax=panels[: len(pis)].tolist(), extend="max", fraction=0.03)
        bar.set_label("nats worse than the best,\non validation")
        if error:
            bar.ax.axhline(error, color=ORANGE, linewidth=1.4)
    return figure_of(part)


def dimensions_by_seed(sweep: Sweep, most: int = 12, ax: Axes | None = None) -> Figure:
    """How many dimensions each seed kept, for the `most` best priors, best first.

    A dot per seed and a line at their mean; on the right the mean validation cross-entropy.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, valid = pv.load_example().triplets.split(0.2, 0.1, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=50), stop=pv.MaxEpochs(50))
    >>> found = pv.sweep(
    ...     train, valid, priors=[pv.SpikeSlab()], seeds=2, training=quick, dimensions=9
    ... )
    >>> pv.plot.dimensions_by_seed(found).axes[0].get_xlabel()
    'dimensions kept (a dot per seed, a line at their mean)'
    """
    summary = sweep.summary.dropna(subset=SCORE).sort_values(SCORE)[:most]
    if summary.empty:
        raise PyroviceError("All fits of this sweep failed, so there is nothing to draw.")
    made = sweep.table[sweep.table.error == ""]
    with plt.rc_context(STYLE):
        axes = axes_for(ax, PAGE_WIDTH, 0.7 + 0.24 * len(summary))
        for row, (label, prior) in enumerate(summary.iterrows()):
            found = made[made.prior == label].dimensions.astype(int)
            for count, seeds in found.value_counts().items():
                # Seeds that kept equally many stand side by side, not on top of each other.
                spread = 0.12 * (np.arange(seeds) - (seeds - 1) / 2) / max(1, seeds / 5)
                axes.scatter(np.full(seeds, count), row + spread, s=14, color=BLUE, linewidths=0)
            axes.vlines(prior["dimensions"], row - 0.38, row + 0.38, color=ORANGE, linewidth=1.5)
            axes.annotate(
                f"{prior[SCORE]:.4f}",
                (1, row),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                color=GREY,
            )
        axes.annotate(
            "nats", (1, 1), xycoords="axes fraction", xytext=(4, 3), textcoords="offset points",
            fontsize=SMALL, color=GREY,
        )  # fmt: skip
        axes.set_yticks(range(len(summary)), [_short(str(label)) for label in summary.index])
        axes.invert_yaxis()
        axes.set_xlabel("dimensions kept (a dot per seed, a line at their mean)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.grid(axis="x", color=GREY, alpha=0.2, linewidth=0.5)
    return figure_of(axes)


def _short(label: str) -> str:
    return label.replace(", family='normal'", "")
