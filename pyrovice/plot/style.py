"""Colours and sizes that all figures share (Okabe and Ito's colour-blind safe palette)."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure, FigureBase

from pyrovice.errors import PyroviceError
from pyrovice.storage.atomic import write_whole

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
GREY = "#6E6E6E"
# Distinct even where they touch; the first three are those above.
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9")
PALE = "#C8C8C8"
# Heat maps begin at white, so that zeros are not seen.
HEAT = "Blues"
# Inches.
COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0
TALLEST = 11.7
# A row of a heat map, so that its name can be read.
HEAT_ROW = 0.108
# Points.
TEXT = 8
SMALL = 7
TINY = 5.5
STYLE: Any = {
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}

# Letters stay letters in vector formats, as journals ask: they can be searched and changed.
EDITABLE: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


class PaperFigure(Figure):
    """A figure that notebooks show without being told to, and whose file is never half written."""

    def savefig(self, fname: Any, **settings: Any) -> None:
        """Write the figure to a file, in the place of one that is there.

        Arguments are those of matplotlib.
        """
        if not isinstance(fname, str | os.PathLike):
            super().savefig(fname, **settings)
            return
        kind = settings.pop("format", None) or Path(fname).suffix[1:] or rcParams["savefig.format"]
        path = Path(fname) if Path(fname).suffix else Path(f"{os.fspath(fname)}.{kind}")
        # Drawn first: an unknown format, or anything else that is wrong, touches no file.
        content = BytesIO()
        with rc_context(EDITABLE):
            super().savefig(content, format=kind, **settings)
        write_whole(path.resolve(), content.getvalue(), replace=True)

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes that were given, or those of a new figure of this size in inches."""
    return PaperFigure(figsize=(width, height)).subplots() if ax is None else ax


def part_for(ax: Axes | None, width: float, height: float) -> FigureBase:
    """Room for several panels: the place of the axes that were given, or a new figure."""
    if ax is None:
        return PaperFigure(figsize=(width, height))
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        raise PyroviceError(
            "These axes have no place in a grid, which a figure of several panels needs; make them "
            "with plt.subplots(), or leave out ax=..."
        )
    ax.remove()
    return figure.add_subfigure(place)


def figure_of(part: Axes | FigureBase) -> Figure:
    """The whole figure that axes, or a part of a figure, stand in."""
    figure = part.get_figure(root=True)
    assert figure is not None
    return figure


def colour_bar(axes: Axes, image: ScalarMappable, text: str) -> None:
    """A thin bar above a heat map that says what its colours mean."""
    height = axes.get_window_extent().height / axes.figure.dpi
    bar = figure_of(axes).colorbar(
        image, ax=axes, location="top", fraction=0.1 / height, aspect=25, pad=0.05 / height
    )
    # Where the heat map is narrow, text in the middle would leave the page; names are on the left.
    bar.set_label(text, loc="right")
    bar.outline.set_visible(False)
