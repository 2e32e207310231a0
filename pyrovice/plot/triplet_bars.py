"""Why this answer: what each pair of a triplet has in common."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import labels, labels_of_dimensions
from pyrovice.plot.selection import kept_embedding, row_of
from pyrovice.plot.style import COLOURS, COLUMN_WIDTH, GREY, PALE, SMALL, STYLE, axes_for, figure_of
from pyrovice.results.fit import Fit
from pyrovice.results.site_tables import INTERVAL

TRIPLET_DRAWS = 100
# Of the longest bar; less can hardly be seen.
SMALL_PIECE = 0.02
# Pairs in the order in which each leaves out the first, the second and the third object.
PAIRS = ((1, 2), (0, 2), (0, 1))


def triplet(fit: Fit, a: str, b: str, c: str, ax: Axes | None = None) -> Figure:
    """What makes each pair of three objects similar, and how probably it is kept.

    A bar per pair; its length is the posterior mean of the pair's similarity, and its pieces
    are the dimensions that it comes from. Behind it stands the probability that the pair is
    kept, i.e. that the third object is the odd one, with its 90 % interval.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
    >>> figure = pv.plot.triplet(fit, "dog", "cat", "carrot")
    >>> figure.axes[0].get_title(loc="left")
    'odd one: carrot (90 %)'
    """
    rows = [row_of(fit, name) for name in (a, b, c)]
    if len(set(rows)) < 3:
        raise PyroviceError(f"{a!r}, {b!r}, {c!r} are not three different objects.")
    X = fit.draws(TRIPLET_DRAWS, seed=0)[:, rows]
    shared = np.stack([X[:, i] * X[:, j] for i, j in PAIRS], axis=1)  # draw x pair x dimension
    chances = _chances(fit, rows)
    pieces, p = shared.mean(axis=0), chances.mean(axis=0)
    low, high = np.quantile(chances, INTERVAL, axis=0)
    # Pieces of the same colour are the same dimension; small ones are put together.
    number_of = dict(zip(fit.kept_positions(), kept_embedding(fit), strict=True))
    kept = fit.kept_positions()
    kept = kept[pieces[:, kept].max(axis=0) > SMALL_PIECE * pieces.sum(axis=1).max()]
    largest = kept[np.argsort(-pieces[:, kept].max(axis=0), kind="stable")][: len(COLOURS)]
    named = labels_of_dimensions(fit, longest=16)
    short = labels(fit.names, 16)
    names = [short[str(fit.names[row])] for row in rows]
    with plt.rc_context(STYLE):
        axes = axes_for(ax, COLUMN_WIDTH, 2.6)
        left = np.zeros(3)
        for colour, place in zip(COLOURS, largest, strict=False):
            axes.barh(range(3), pieces[:, place], left=left, color=colour, edgecolor="white",
                      linewidth=0.5, height=0.62, label=named[number_of[place]])  # fmt: skip
            left += pieces[:, place]
        rest = pieces.sum(axis=1) - left
        axes.barh(range(3), rest, left=left, color=PALE, height=0.62, label="all others")
        for bar, total in enumerate(pieces.sum(axis=1)):
            axes.annotate(
                f"{p[bar]:.2f} [{low[bar]:.2f}, {high[bar]:.2f}]",
                (total, bar),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                color="black" if bar == p.argmax() else GREY,
                fontweight="bold" if bar == p.argmax() else "normal",
            )
        axes.set_yticks(range(3), [f"{names[i]}\n{names[j]}" for i, j in PAIRS])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        # Room for the probabilities behind the bars.
        axes.set_xlim(0, max(1.75 * float(pieces.sum(axis=1).max()), 0.1))
        axes.set_xlabel("similarity; probability [90 % interval]")
        title = f"odd one: {names[int(p.argmax())]} ({p.max():.0%})".replace("%", " %")
        axes.set_title(title, loc="left", fontweight="bold")
        axes.legend(
            loc="upper right", bbox_to_anchor=(1, -0.28), ncols=2, handlelength=1.0,
            columnspacing=1.0, borderaxespad=0,
        )  # fmt: skip
    return figure_of(axes)


def _chances(fit: Fit, rows: list[int]) -> NDArray[np.floating]:
    """How probably each of three objects is the odd one, (draws, 3)."""
    order = np.argsort(rows)
    asked = Triplets([np.asarray(rows)[order]], [0], names=fit.names)
    p = [
        fit.model.choice_log_probability(sites, asked).exp().numpy()[0]
        for sites in fit.posterior.each(TRIPLET_DRAWS, seed=0)
    ]
    return np.stack(p)[:, np.argsort(order)]
