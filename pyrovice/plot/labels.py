"""Names of objects in figures: as they are, not too long, and none over another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from pyrovice.plot.style import SMALL, TINY
from pyrovice.results.dimension_names import own_objects
from pyrovice.results.fit import Fit
from pyrovice.results.short_names import short_names, shorten

LONGEST = 28
# Letters of a dimension's name below its column.
LONGEST_UPRIGHT = 20
# As few letters fit below any column.
LONGEST_LYING = 3
# A dimension without a name is called by so many of its objects, if there is room.
NAMING_OBJECTS = 3
POINTS_PER_INCH = 72
# As many numbers fit below the narrowest heat map.
MOST_NUMBERS = 12
# A line of text is this much higher than its font.
LINE_HEIGHT = 1.15


def label(name: str, longest: int = LONGEST) -> str:
    """A name as text: no part of it is set as a formula, and a very long one is shortened.

    Examples
    --------
    >>> print(label("10 $ or 20 $"), label("incomprehensibilities", longest=9))
    10 \\$ or 20 \\$ inco…ties
    """
    return shorten(name, longest).replace("$", r"\$")


def labels(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """All names as text, shortened so that no two become the same."""
    short = short_names(names, longest)
    return {name: text.replace("$", r"\$") for name, text in short.items()}


def labels_of_dimensions(fit: Fit, longest: int = LONGEST) -> dict[Any, str]:
    """Each dimension by its name, or by its number and as many of its own objects as fit in."""
    result, short = {}, labels(fit.names, longest)
    for dim, names in own_objects(fit, NAMING_OBJECTS).items():
        if isinstance(dim, str):
            result[dim] = label(dim, longest)
            continue
        text = ""
        for name in names:
            if text and len(text) + 2 + len(short[name]) > longest:
                break
            text += f", {short[name]}" if text else short[name]
        result[dim] = f"{dim}: {text}"
    return result


def title_of_dimension(dim: Any, longest: int = LONGEST) -> str:
    """A dimension above its panel."""
    return label(dim, longest) if isinstance(dim, str) else f"dimension {dim}"


def height_of_names(dims: Sequence[Any]) -> float:
    """How many inches the names of columns take more than their numbers would."""
    longest = max(
        (len(label(dim, LONGEST_UPRIGHT)) for dim in dims if isinstance(dim, str)), default=0
    )
    return 0.06 * longest


def name_columns(axes: Axes, dims: Sequence[Any], first: int = 0) -> None:
    """Name the columns of a heat map, or bars, which stand at `first`, `first` + 1, ...

    Names stand upright, if they are more than a few letters. Numbers are all there if there is
    room, else the first and round ones.
    """
    if any(isinstance(dim, str) for dim in dims):
        texts = [label(str(dim), LONGEST_UPRIGHT) for dim in dims]
        lying = len(dims) <= MOST_NUMBERS and max(map(len, texts)) <= LONGEST_LYING
        places = range(first, first + len(dims))
        axes.set_xticks(places, texts, rotation=0 if lying else 90)
        return
    step = next(
        step for step in (1, 2, 5, 10, 20, 50, 100, len(dims)) if len(dims) <= MOST_NUMBERS * step
    )
    shown = [i for i in range(len(dims)) if i == 0 or (i + 1) % step == 0]
    axes.set_xticks([first + i for i in shown], [str(dims[i]) for i in shown])


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
    short = labels(names)
    axes.set_yticks(rows, [short[str(names[row])] for row in rows.tolist()], fontsize=size)
    axes.tick_params(axis="y", length=0 if len(rows) == len(names) else 2)


def _far_enough_apart(places: NDArray[np.intp], least: float) -> NDArray[np.intp]:
    """Those of ascending places that are at least this far from the one before."""
    chosen: list[int] = []
    for place in places.tolist():
        if not chosen or place - chosen[-1] >= least:
            chosen.append(place)
    return np.array(chosen, dtype=int)
