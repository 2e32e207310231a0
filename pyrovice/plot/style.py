"""Colours and sizes that all figures share (Okabe and Ito's colour-blind safe palette)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
GREY = "#6E6E6E"
COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0
SMALL = 7
STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


class PaperFigure(Figure):
    """A figure that notebooks show without being told to."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()
