"""What rounding the weights costs, and what it guarantees."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.criticism.bounds import Bound
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREEN, GREY, ORANGE, STYLE, axes_for, figure_of


def quantization(bound: Bound, ax: Axes | None = None) -> Figure:
    """Training error, test error and the bound over the scale of quantisation Δ.

    The circle is the scale that gives the lowest bound.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> train, test = example.triplets.split(0.8, 0.2, seed=0)
    >>> bound = pv.bounds.generalization(example.embedding, train, test=test)
    >>> pv.plot.quantization(bound).axes[0].get_xlabel()
    'scale of quantisation Δ'
    """
    table = bound.table.sort_values("scale")
    with plt.rc_context(STYLE):
        axes = axes_for(ax, COLUMN_WIDTH, 2.9)
        axes.axhline(bound.guessing, color=GREY, linewidth=0.8, linestyle="--", label="guessing")
        axes.plot(table.scale, table.bound, color=ORANGE, marker=".", label="bound")
        if "test_error" in table:
            axes.plot(table.scale, table.test_error, color=BLUE, marker=".", label="test error")
        axes.plot(
            table.scale, table.training_error, color=GREEN, linestyle=":", label="training error"
        )
        axes.plot(bound.scale, bound.value, "o", color=ORANGE, markersize=6, fillstyle="none")
        axes.set_xlabel("scale of quantisation Δ")
        axes.set_ylabel("error")
        axes.set_xlim(left=0)
        axes.set_ylim(0, max(1.0, table.bound.max() * 1.05))
        # Beyond guessing it says nothing, and a number would look as if it did.
        said = (
            f"error on new judgments\nat most {bound.value:.3f}, at Δ = {bound.scale:g}"
            if bound.value < bound.guessing
            else "too few judgments\nfor a bound below guessing"
        )
        axes.set_title(said, loc="left", color=GREY)
        # Lines may be anywhere within the axes.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
    return figure_of(axes)
