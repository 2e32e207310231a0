"""What the dimensions mean: their top objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.errors import PyroviceError
from pyrovice.plot.images import Images
from pyrovice.plot.labels import labels, title_of_dimension
from pyrovice.plot.selection import kept_embedding
from pyrovice.plot.style import BLUE, GREY, PAGE_WIDTH, SMALL, STYLE, TEXT, figure_of, part_for
from pyrovice.plot.words import word_cloud
from pyrovice.results.fit import Fit
from pyrovice.results.site_tables import INTERVAL

# Fewer with long names, which need the width.
DIMENSIONS_PER_ROW, WITH_LONG_NAMES, LONG, LONG_TITLE = 3, 2, 13, 16
MANY_WORDS = 20
# Letters of a name beside a bar, and per inch below a picture.
LONGEST_NAME, LETTERS_PER_INCH = 22, 15


def dimensions(
    fit: Fit,
    k: int | None = None,
    *,
    which: Iterable[int | str] | None = None,
    images: str | Path | None = None,
    words: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """The kept dimensions, each by its top objects.

    As bars with 90 % posterior intervals; as pictures; or as a cloud of words whose size is
    the weight.

    Parameters
    ----------
    fit : Fit
        The fit.
    k : int, optional
        How many objects of each dimension: 6 by default, or 20 words.
    which : iterable of int or str, optional
        Which dimensions; all that are kept by default.
    images : path, optional
        A folder with a picture for each object, called as the object is: ``cat.jpg``, or any
        one in a folder ``cat/``. Pictures are shown whole, with name and weight below; an object
        without one is shown by its name.
    words : bool
        Whether to draw clouds of words.
    ax : Axes, optional
        The panels together take the place of these axes.

    Examples
    --------
    >>> import pyrovice as pv
    >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
    >>> len(pv.plot.dimensions(fit).axes), len(pv.plot.dimensions(fit, which=[1, 2]).axes)
    (7, 2)
    """
    if words and images is not None:
        raise PyroviceError("Choose either images=... or words=True.")
    if k is None:
        k = MANY_WORDS if words else 6
    if k < 1:
        raise PyroviceError(f"k={k}; expected at least one object for each dimension.")
    weights = kept_embedding(fit, which).rename(index=str)
    importance = fit.importance()
    # Counts of objects, or largest weights where weights cannot be zero.
    size = "{:,} objects" if importance.dtype.kind in "iu" else "{:.2f}"
    titles = {dim: f"{title_of_dimension(dim)} ({size.format(importance[dim])})" for dim in weights}
    with plt.rc_context(STYLE):
        if images is not None:
            return _pictures(fit, titles, k, Images(Path(images), fit.names), ax)
        shown = min(k, len(weights))
        short = labels(fit.names, LONGEST_NAME)
        long = has_long_names(fit, short, shown)
        per_row = WITH_LONG_NAMES if long else DIMENSIONS_PER_ROW
        rows = math.ceil(weights.shape[1] / per_row)
        columns = min(per_row, weights.shape[1])
        height = 1.55 if words else 0.45 + 0.16 * shown
        part = part_for(ax, PAGE_WIDTH, 0.35 + rows * height)
        panels = part.subplots(rows, columns, squeeze=False, sharex=not words).ravel()
        ends = [fit.quantile(q) for q in INTERVAL]
        for panel, dim in zip(panels, weights, strict=False):
            top = np.argsort(-weights[dim].to_numpy(), kind="stable")[:shown]
            names, values = weights.index[top], weights[dim].to_numpy()[top]
            if words:
                word_cloud(panel, names, values, aspect=PAGE_WIDTH / columns / (height - 0.3))
            else:
                low, high = (end[dim].to_numpy()[top] for end in ends)
                top_bars(panel, [short[name] for name in names], values, low, high)
            panel.set_title(titles[dim], color=GREY, loc="left", fontsize=SMALL)
        for panel in panels[weights.shape[1] :]:
            panel.remove()
        if not words:
            for panel in panels[max(0, weights.shape[1] - columns) : weights.shape[1]]:
                panel.tick_params(axis="x", labelbottom=True)
            part.supxlabel("weight [μ]₊ with 90 % posterior interval", fontsize=TEXT)
    return figure_of(part)


def has_long_names(fit: Fit, short: dict[str, str], k: int) -> bool:
    """Whether the names of top objects, or of dimensions above them, need wide panels."""
    objects = (len(short[str(name)]) for name in fit.top_objects(k).to_numpy().ravel())
    dims = (len(dim) for dim in fit.embedding() if isinstance(dim, str))
    return max(objects) > LONG or max(dims, default=0) > LONG_TITLE


def top_bars(
    panel: Axes, names: Sequence[str], values: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """Bars with intervals, the first on top."""
    bars = np.arange(len(values))
    panel.barh(bars, values, color=BLUE, height=0.7)
    panel.hlines(bars, low, high, color="black", linewidth=0.8)
    panel.set_yticks(bars, names)
    panel.invert_yaxis()
    panel.tick_params(axis="y", length=0)


def _pictures(fit: Fit, titles: dict[Any, str], k: int, images: Images, ax: Axes | None) -> Figure:
    """A row of pictures for each dimension, the strongest object first, each with its weight."""
    top, weights = fit.top_objects(k), fit.embedding()
    side = min(PAGE_WIDTH / len(top), 1.3)
    # As many letters as fit below a picture.
    short = labels(fit.names, max(8, int(side * LETTERS_PER_INCH)))
    part = part_for(ax, side * len(top), len(titles) * (side + 0.6))
    strips = part.subfigures(len(titles), 1, squeeze=False).ravel()
    for strip, (dim, title) in zip(strips, titles.items(), strict=True):
        strip.suptitle(title, x=0.01, ha="left", color=GREY, fontsize=TEXT)
        panels = strip.subplots(1, len(top), squeeze=False)[0]
        for panel, name in zip(panels, top[dim], strict=True):
            _picture(panel, images.of(str(name)), short[str(name)])
            panel.set_xlabel(
                f"{short[str(name)]}\n{weights.loc[name, dim]:.2f}", fontsize=SMALL, labelpad=2
            )
    return figure_of(part)


def _picture(panel: Axes, picture: np.ndarray | None, name: str) -> None:
    """The whole picture in the middle of a square, or the name in its place."""
    # Close to the title above, so that it is clear which pictures are its own.
    panel.set(xticks=[], yticks=[], aspect="equal", anchor="N")
    for spine in panel.spines.values():
        spine.set_visible(False)
    if picture is None:
        panel.set(xlim=(0, 1), ylim=(0, 1))
        panel.text(0.5, 0.5, name, ha="center", va="center", fontsize=SMALL, color=GREY)
        return
    height, width = picture.shape[:2]
    panel.imshow(picture)
    side = max(height, width)
    panel.set(
        xlim=((width - side) / 2, (width + side) / 2),
        ylim=((height + side) / 2, (height - side) / 2),
    )
