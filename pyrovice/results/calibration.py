"""Whether answers predicted with some probability come about as often as that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.results.prediction import draw_answers, random_answers
from pyrovice.results.scores import check_probabilities

# Sets of answers that the noise is averaged over.
REPLICATES = 100


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """Predicted against observed frequencies; made by ``fit.calibration(triplets)``.

    Every answer that a judgment allows counts: three of them, or two with an anchor.

    Attributes
    ----------
    table : DataFrame
        A row per bin of predicted probability that is not empty: `bin`, the mean
        `predicted` probability, the `observed` share of answers given, their number `n`,
        and the 95 % Wilson interval `low` to `high` of the observed share.
    error : float
        Expected calibration error: the distance of the observed share from the predicted
        one, averaged over the answers.
    noise : float
        What `error` would be on average if the predictions were exactly right: so few
        judgments cannot show less. Drawn from the predictions themselves.
    n : int
        Number of judgments.
    """

    table: pd.DataFrame
    error: float
    noise: float
    n: int

    def __repr__(self) -> str:
        shown = self.table.to_string(index=False, float_format=lambda value: f"{value:.3f}")
        return (
            f"{self.n:,} judgments, expected calibration error {self.error:.4f} "
            f"({self.noise:.4f} if predictions were exactly right)\n{shown}"
        )


def calibrate(
    probabilities: NDArray[np.floating], triplets: Triplets, *, bins: int = 10, seed: int = 0
) -> Calibration:
    """Compare predicted probabilities with answers.

    Parameters
    ----------
    probabilities : array of shape (n, 3)
        As `Fit.predict` returns them.
    triplets : Triplets
        The n judgments.
    bins : int
        How many bins of equal width.
    seed : int
        Seed of the answers that `noise` is measured on.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> t = pv.Triplets([[0, 1, 2]] * 10, [0] * 6 + [1] * 3 + [2])
    >>> calibrate(np.tile([0.64, 0.34, 0.02], (10, 1)), t)
    10 judgments, expected calibration error 0.0533 (0.0799 if predictions were exactly right)
           bin  predicted  observed  n   low  high
    [0.0, 0.1)      0.020     0.100 10 0.018 0.404
    [0.3, 0.4)      0.340     0.300 10 0.108 0.603
    [0.6, 0.7)      0.640     0.600 10 0.313 0.832
    """
    p = check_probabilities(probabilities, triplets)
    bins = whole(bins, "bins", least=1)
    allowed = triplets.anchor[:, None] != np.arange(3)
    # A probability of exactly 1 belongs to the last bin; an answer that is ruled out to none.
    of = np.where(allowed, np.minimum((p * bins).astype(int), bins - 1), bins)
    n = np.bincount(of[allowed], minlength=bins)
    filled = n > 0
    expected = np.bincount(of[allowed], weights=p[allowed], minlength=bins)

    def given(odd: NDArray[np.integer]) -> NDArray[np.intp]:
        return np.bincount(of[np.arange(len(p)), odd], minlength=bins)

    def error(odd: NDArray[np.integer]) -> float:
        return float(np.abs(expected - given(odd)).sum() / n.sum())

    from scipy.stats import binomtest

    rng = random_answers(seed)
    observed = given(triplets.odd)
    edges = pd.IntervalIndex.from_breaks(np.linspace(0, 1, bins + 1).round(6), closed="left")
    intervals = [
        binomtest(int(k), int(of_all)).proportion_ci(method="wilson")
        for k, of_all in zip(observed[filled], n[filled], strict=True)
    ]
    table = pd.DataFrame(
        {
            "bin": edges[filled],
            "predicted": expected[filled] / n[filled],
            "observed": observed[filled] / n[filled],
            "n": n[filled],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
        }
    )
    noise = float(np.mean([error(draw_answers(p, rng)) for _ in range(REPLICATES)]))
    return Calibration(table, error(triplets.odd), noise, len(triplets))
