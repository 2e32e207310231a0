"""What the dimensions mean: their top objects."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from pyrovice.errors import PyroviceError
from pyrovice.fitted import Fit
from pyrovice.plot.style import BLUE, GREY, PAGE_WIDTH, STYLE, PaperFigure


def dimensions(fit: Fit, k: int = 6) -> Figure:
    """The kept dimensions, each by its `k` top objects with 90 % intervals.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.dimensions(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> len(figure.axes)
    7
    """
    embedding = fit.embedding()
    if embedding.empty:
        raise PyroviceError("This fit kept no dimension, so there is nothing to draw.")
    importance = fit.importance()
    top = fit.top_objects(k)
    draws = np.quantile(fit.draws(200, seed=0), [0.05, 0.95], axis=0)
    row_of = {name: row for row, name in enumerate(fit.names)}
    columns = min(3, embedding.shape[1])
    rows = math.ceil(embedding.shape[1] / columns)
    with plt.rc_context(STYLE):
        figure = PaperFigure(figsize=(PAGE_WIDTH, 0.35 + rows * (0.45 + 0.16 * len(top))))
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for panel, dim in zip(panels, embedding.columns, strict=False):
            names = top[dim].tolist()
            values = embedding.loc[names, dim].to_numpy()
            low, high = draws[:, [row_of[name] for name in names], dim]
            bars = np.arange(len(names))
            panel.barh(bars, values, color=BLUE, height=0.7)
            panel.hlines(bars, low, high, color="black", linewidth=0.8)
            panel.set_yticks(bars, names)
            panel.invert_yaxis()
            panel.tick_params(axis="y", length=0)
            panel.set_title(f"dimension {dim} ({importance[dim]} objects)", color=GREY, loc="left")
        for panel in panels[embedding.shape[1] :]:
            panel.remove()
        for panel in panels[max(0, embedding.shape[1] - columns) : embedding.shape[1]]:
            panel.tick_params(axis="x", labelbottom=True)
        figure.supxlabel("weight [μ]₊ with 90 % posterior interval", fontsize=8)
    return figure
