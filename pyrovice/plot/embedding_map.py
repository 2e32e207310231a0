"""The whole embedding at a glance."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pyrovice.plot.labels import height_of_names, name_columns, name_rows
from pyrovice.plot.selection import kept_embedding
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

MANY_DIMENSIONS = 25


def embedding(fit: Fit, ax: Axes | None = None) -> Figure:
    """Heat map of the weights [μ]₊, objects by dimensions.

    Objects stand together with those that share their strongest dimension, the strongest first.
    Where there is no room for all names, the first of each group is named.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.embedding(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> len(figure.axes[0].get_yticklabels())
    80
    """
    weights = kept_embedding(fit)
    ordered = in_groups(weights)
    strongest = ordered.to_numpy().argmax(axis=1)
    first_of_group = np.flatnonzero(np.diff(strongest, prepend=-1))
    with plt.rc_context(STYLE):
        width = COLUMN_WIDTH if weights.shape[1] <= MANY_DIMENSIONS else PAGE_WIDTH
        around = 1.1 + height_of_names(list(weights))
        height = float(np.clip(around + HEAT_ROW * len(weights), 2, TALLEST))
        axes = axes_for(ax, width, height)
        image = axes.imshow(ordered, aspect="auto", cmap=HEAT, vmin=0, interpolation_stage="data")
        axes.set_xlabel("dimension")
        name_columns(axes, list(ordered))
        axes.set_ylabel(f"{len(weights):,} objects")
        colour_bar(axes, image, "weight [μ]₊")
        # How much room there is for names is known once all else has its place.
        figure_of(axes).draw_without_rendering()
        name_rows(axes, list(ordered.index), first_of_group)
    return figure_of(axes)


def in_groups(weights: pd.DataFrame) -> pd.DataFrame:
    """Rows with the same strongest column together, by that column and its weight."""
    values: NDArray[np.floating] = weights.to_numpy()
    return weights.iloc[np.lexsort([-values.max(axis=1), values.argmax(axis=1)])]
