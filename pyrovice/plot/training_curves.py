"""How training went."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.errors import PyroviceError
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREEN, GREY, ORANGE, STYLE, figure_of, part_for
from pyrovice.results.fit import Fit


def convergence(fit: Fit, ax: Axes | None = None) -> Figure:
    """Loss with its two terms, and kept dimensions, over the epochs of training.

    A line marks where training stopped. Validation cross-entropy is shown if there were
    validation data.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.convergence(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['nats per judgment', 'dimensions kept']
    """
    if fit.posterior.from_chains or fit.history.empty:
        raise PyroviceError(
            "This fit was sampled, not trained, so there is no convergence to draw; "
            "fit.mixing() says whether its chains agree."
        )
    history = fit.history
    epochs, last = history.index, history.index[-1]
    lines = {
        "−ELBO/n": (history.loss, BLUE, "-"),
        "−log-likelihood": (-history.log_likelihood, GREEN, "--"),
        "complexity": (history.complexity, GREY, "-."),
    }
    if "validation_cross_entropy" in history:
        lines["validation"] = (history.validation_cross_entropy, ORANGE, ":")
    with plt.rc_context(STYLE):
        part = part_for(ax, COLUMN_WIDTH, 1.05 * COLUMN_WIDTH)
        above, below = part.subplots(2, sharex=True, height_ratios=(3, 2))
        for name, (values, colour, style) in lines.items():
            # A line of one epoch would not be seen.
            mark = "o" if len(history) == 1 else None
            above.plot(
                epochs, values, color=colour, linestyle=style, linewidth=1.3, marker=mark,
                markersize=3, label=name,
            )  # fmt: skip
        above.set_ylabel("nats per judgment")
        above.set_ylim(bottom=0, top=history.loss.max() * 1.05)
        above.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
        below.plot(epochs, history.dimensions, color=BLUE, drawstyle="steps-post")
        below.set_ylabel("dimensions kept")
        below.set_xlabel("epoch")
        below.locator_params(axis="both", integer=True)
        below.set_ylim(0, max(1, history.dimensions.max()) * 1.35)
        below.set_xlim(epochs[0], last + max(1, 0.02 * (last - epochs[0])))
        for panel in (above, below):
            panel.axvline(last, color="black", linewidth=0.8, linestyle="--")
        below.annotate(
            f"{'settled' if fit.converged else 'stopped'} at {fit.n_dimensions} "
            f"after {len(history):,} epochs",
            (last, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-4, -2),
            textcoords="offset points",
            ha="right",
            va="top",
        )
        part.align_ylabels()
    return figure_of(part)
