"""Clouds of words: the larger the weight, the larger the word, the strongest in the middle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, Bbox

from pyrovice.plot.labels import labels
from pyrovice.plot.style import BLUE, GREY

# The smallest word, relative to the largest: it can still be read.
SMALLEST = 0.38
GAP = 0.22
LONGEST_WORD = 18
# Few long words fill the width, so that the smallest would be too small to read.
LONG_WORD = 9
SMALLEST_LONG = 0.6
# The spiral: radians from place to place, and how fast it widens.
TURN = 0.3
GROWTH = 0.015


def word_cloud(
    axes: Axes, names: Sequence[str], weights: Sequence[float], aspect: float = 1.5
) -> None:
    """Draw words around the middle, each as near to it as there is room, none over another.

    Parameters
    ----------
    axes : Axes
        Where to draw. The words are shapes, so they keep apart at any size.
    names : sequence of str
        The words, the largest first.
    weights : sequence of float
        Their sizes. Words of weight zero are left out, but never the first.
    aspect : float
        Width of the cloud over its height.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> word_cloud(axes, ["cat", "dog", "bus"], [2.0, 1.5, 0.0])
    >>> len(axes.patches)
    2
    """
    largest = max(weights[0], np.finfo(float).tiny)
    placed: list[Bbox] = []
    short = labels(names, LONGEST_WORD)
    letters = float(np.median([len(text) for text in short.values()]))
    smallest = SMALLEST_LONG if letters > LONG_WORD else SMALLEST
    for i, (name, weight) in enumerate(zip(names, weights, strict=True)):
        if i and weight <= 0:
            break
        size = smallest + (1 - smallest) * min(1.0, weight / largest)
        path = TextPath((0, 0), short[str(name)], size=size)
        box = path.get_extents()
        x, y = _free_place(box.width + GAP, box.height + GAP, placed, aspect)
        placed.append(Bbox.from_bounds(x, y, box.width + GAP, box.height + GAP))
        move = Affine2D().translate(x + GAP / 2 - box.x0, y + GAP / 2 - box.y0)
        axes.add_patch(PathPatch(move.transform_path(path), color=GREY if i % 2 else BLUE, lw=0))
    around = Bbox.union(placed)
    axes.set(xlim=around.intervalx, ylim=around.intervaly, aspect="equal", anchor="NW")
    axes.set_axis_off()


def _free_place(
    width: float, height: float, placed: Sequence[Bbox], aspect: float
) -> tuple[float, float]:
    """The lower left corner of a box of this size that overlaps no other, along a spiral."""
    taken = np.array([box.extents for box in placed]).reshape(-1, 1, 4)
    turns = 500
    while True:
        angle = np.arange(0, turns, TURN)
        x = GROWTH * angle * np.cos(angle) * aspect - width / 2
        y = GROWTH * angle * np.sin(angle) - height / 2
        beside = (x >= taken[..., 2]) | (x + width <= taken[..., 0])
        free = (beside | (y >= taken[..., 3]) | (y + height <= taken[..., 1])).all(axis=0)
        if free.any():
            return x[free.argmax()], y[free.argmax()]
        turns *= 2
