"""Names of objects in figures: as they are, not too long, and none over another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from pyrovice.plot.style import SMALL, TINY

LONGEST = 28
POINTS_PER_INCH = 72
# As many numbers fit below the narrowest heat map.
MOST_NUMBERS = 12
# A line of text is this much higher than its font.
LINE_HEIGHT = 1.15


def label(name: str, longest: int = LONGEST) -> str:
    """A name as text: no part of it is set as a formula, and a very long one is cut.

    Examples
    --------
    >>> print(label("10 $ or 20 $"), label("incomprehensibilities", longest=9))
    10 \\$ or 20 \\$ incompre…
    """
    one_line = " ".join(str(name).split())
    short = one_line if len(one_line) <= longest else one_line[: longest - 1].rstrip() + "…"
    return short.replace("$", r"\$")


def labels_of_dimensions(top: pd.DataFrame, longest: int = LONGEST) -> dict[int, str]:
    """Each dimension by its number and as many of its top objects as there is room for."""
    result = {}
    for dim, names in top.items():
        text, room = "", longest
        for name in map(str, names):
            if text and len(text) + 2 + len(name) > room:
                break
            text += f", {name}" if text else name
        result[dim] = f"{dim}: {label(text, longest)}"
    return result


def number_columns(axes: Axes, numbers: Sequence[int]) -> None:
    """Number the columns of a heat map: all if there is room, else the first and round ones."""
    step = next(
        step
        for step in (1, 2, 5, 10, 20, 50, 100, len(numbers))
        if len(numbers) <= MOST_NUMBERS * step
    )
    places = [i for i in range(len(numbers)) if i == 0 or (i + 1) % step == 0]
    axes.set_xticks(places, [str(numbers[place]) for place in places])


def name_rows(axes: Axes, names: Sequence[str], wanted: NDArray[np.intp] | None = None) -> None:
    """Name the rows of a heat map: all if there is room, else `wanted` ones or an even choice."""
    height = axes.get_window_extent().height / axes.figure.dpi * POINTS_PER_INCH
    fonts = [size for size in (SMALL, TINY) if len(names) * LINE_HEIGHT * size <= height]
    rows, size = np.arange(len(names)), fonts[0] if fonts else TINY
    if not fonts:
        room = max(1, int(height / (LINE_HEIGHT * size)))
        rows = (
            np.linspace(0, len(rows) - 1, room).astype(int)
            if wanted is None
            else _far_enough_apart(np.sort(wanted), least=len(names) / room)
        )
    axes.set_yticks(rows, [label(names[row]) for row in rows.tolist()], fontsize=size)
    axes.tick_params(axis="y", length=0 if len(rows) == len(names) else 2)


def _far_enough_apart(places: NDArray[np.intp], least: float) -> NDArray[np.intp]:
    """Those of ascending places that are at least this far from the one before."""
    chosen: list[int] = []
    for place in places.tolist():
        if not chosen or place - chosen[-1] >= least:
            chosen.append(place)
    return np.array(chosen, dtype=int)
