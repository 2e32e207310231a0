"""How training went."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pyrovice.fitted import Fit
from pyrovice.plot.style import BLUE, COLUMN_WIDTH, GREEN, GREY, ORANGE, STYLE, PaperFigure


def convergence(fit: Fit) -> Figure:
    """Loss with its two terms, and kept dimensions, over the steps of training.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.convergence(pv.fit(pv.load_example().triplets, dimensions=12))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['nats per judgment', 'dimensions kept']
    """
    history = fit.history
    with plt.rc_context(STYLE):
        figure = PaperFigure(figsize=(COLUMN_WIDTH, COLUMN_WIDTH))
        above, below = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        above.plot(history.step, history.loss, color=BLUE, label="−ELBO/n")
        above.plot(history.step, -history.log_likelihood, color=GREEN, label="−log-likelihood")
        above.plot(history.step, history.complexity, color=GREY, label="complexity")
        if "validation_cross_entropy" in history:
            above.plot(
                history.step, history.validation_cross_entropy, color=ORANGE, label="validation"
            )
        above.set_ylabel("nats per judgment")
        above.legend(loc="upper right", ncols=2)
        above.set_ylim(bottom=0, top=history.loss.max() * 1.25)
        below.plot(history.step, history.dimensions, color=BLUE, drawstyle="steps-post")
        below.set_ylabel("dimensions kept")
        below.set_xlabel("step")
        below.set_ylim(bottom=0)
        ending = f"{'settled' if fit.converged else 'stopped'} at {fit.n_dimensions}"
        below.annotate(
            ending,
            (history.step.iloc[-1], history.dimensions.iloc[-1]),
            xytext=(0, 8),
            textcoords="offset points",
            ha="right",
        )
    return figure
