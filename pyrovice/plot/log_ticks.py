"""Ratios on an axis: one half, one, two."""

from __future__ import annotations

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# More ticks than this would touch each other on a narrow axis.
MOST_TICKS = 5
POWERS = 2.0 ** np.arange(-10, 11)


def mark_ratios(axis: Axis, low: float, high: float) -> None:
    """Ticks at powers of two between these ends of a logarithmic axis, one among them."""
    shown = POWERS[(low * 0.999 <= POWERS) & (high * 1.001 >= POWERS)]
    apart = -(-len(shown) // MOST_TICKS)
    axis.set_major_locator(FixedLocator([tick for tick in shown if np.log2(tick) % apart == 0]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
