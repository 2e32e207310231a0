"""The same dimensions in two fits, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.errors import PyroviceError
from pyrovice.plot.dimension_panels import LONGEST_NAME, has_long_names, top_bars
from pyrovice.plot.labels import labels, title_of_dimension
from pyrovice.plot.selection import kept_embedding
from pyrovice.plot.style import GREY, PAGE_WIDTH, SMALL, STYLE, TEXT, figure_of, part_for
from pyrovice.results.fit import Fit
from pyrovice.results.matching import correlations, partners
from pyrovice.results.site_tables import INTERVAL

# Of the page, with short names and with long ones; letters of a title that fit above a panel.
WIDTH, WIDTH_WITH_LONG_NAMES = 0.72, 1.0
LONGEST_TITLE = 32


def side_by_side(
    first: Fit,
    second: Fit,
    k: int = 6,
    *,
    which: Iterable[int | str] | None = None,
    titles: tuple[str, str] = ("first", "second"),
    ax: Axes | None = None,
) -> Figure:
    """Two fits of the same objects: a row per dimension of the first, beside its match.

    Dimensions are matched one to one, so that the correlations add up to the most. Those that
    have no match stand alone, the second fit's in the end.

    Parameters
    ----------
    first, second : Fit
        Fits of the same objects: other seeds, priors, people, or years.
    k : int
        How many top objects of each dimension.
    which : iterable of int or str, optional
        Which dimensions of the first fit, each beside its match among all of the second. By
        default all that are kept, which takes a long page if there are many.
    titles : two of str
        What the fits are called.
    ax : Axes, optional
        The panels together take the place of these axes.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
    >>> figure = pv.plot.side_by_side(fit, fit, titles=("once", "twice"))
    >>> figure.axes[1].get_title(loc="left")
    'twice: dimension 1, r = 1.00'
    >>> len(pv.plot.side_by_side(fit, fit, which=[3, 1]).axes)
    4
    """
    if first.names != second.names:
        raise PyroviceError(
            "These fits are of other objects, or have them in another order, so that their "
            "dimensions cannot be matched; read the judgments of both with the same names=."
        )
    fits, weights = (first, second), [kept_embedding(fit) for fit in (first, second)]
    r = correlations(*(each.to_numpy() for each in weights))
    match = partners(r)
    shown = weights[0].columns.get_indexer(kept_embedding(first, which).columns)
    rows = [(i, int(match[i])) for i in shown.tolist()]
    if which is None:
        rows += [(-1, j) for j in range(weights[1].shape[1]) if j not in match]
    short = labels(first.names, LONGEST_NAME)
    with plt.rc_context(STYLE):
        height = 0.45 + 0.16 * min(k, len(first.names))
        long = any(has_long_names(fit, short, k) for fit in fits)
        width = PAGE_WIDTH * (WIDTH_WITH_LONG_NAMES if long else WIDTH)
        part = part_for(ax, width, 0.35 + height * len(rows))
        panels = part.subplots(len(rows), 2, squeeze=False, sharex=True)
        for side, fit in enumerate(fits):
            ends = [fit.quantile(q).to_numpy() for q in INTERVAL]
            for panel, pair in zip(panels[:, side], rows, strict=True):
                place = pair[side]
                if place < 0:
                    panel.set_axis_off()
                    said = f"{titles[side]}: no match"
                    panel.text(0, 0.5, said, color=GREY, fontsize=SMALL, transform=panel.transAxes)
                    continue
                values = weights[side].to_numpy()[:, place]
                top = np.argsort(-values, kind="stable")[:k]
                names = [short[str(first.names[row])] for row in top]
                top_bars(panel, names, values[top], ends[0][top, place], ends[1][top, place])
                title = f"{titles[side]}: {title_of_dimension(weights[side].columns[place])}"
                if side and pair[0] >= 0:
                    title += f", r = {r[pair]:.2f}"
                lines = textwrap.fill(title, LONGEST_TITLE)
                panel.set_title(lines, color=GREY, loc="left", fontsize=SMALL)
        part.supxlabel("weight [μ]₊ with 90 % posterior interval", fontsize=TEXT)
    return figure_of(part)
