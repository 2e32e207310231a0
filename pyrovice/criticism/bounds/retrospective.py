"""The retrospective bound (paper, Algorithm 2): what a fit will do on new judgments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray

from pyrovice.criticism.bounds.prospective import check_share, hypotheses
from pyrovice.criticism.bounds.quantization import multiples, quantize
from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError, PyroviceError
from pyrovice.model.choices import Choice, DotProduct, log_probability
from pyrovice.model.judgments import Judgments
from pyrovice.model.simulation import check_embedding, numeric_matrix
from pyrovice.results.scores import hits

SCALES = tuple(i / 20 for i in range(1, 21))


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """An upper bound on the error on new judgments; made by :func:`generalization`.

    Attributes
    ----------
    value : float
        With probability 1 − alpha the quantised embedding errs no more often than this on
        new triplets, drawn like those that were fitted. It may exceed 1 and then says nothing.
    scale : float
        The scale Δ of quantisation that gives it.
    training_error : float
        How often the quantised embedding errs on the judgments fitted; a tie for first place
        among t answers is an error of 1 − 1/t.
    table : DataFrame
        A row per scale: `scale`, `levels` (⌈M/Δ⌉), `training_error`, `slack` (what the bound
        adds to it), `bound`, and `test_error` if there were judgments to test on.
    embedding : DataFrame or array
        The embedding, quantised at `scale`.
    alpha : float
        Probability that the bound fails.
    guessing : float
        The error of guessing, 2/3 where all three answers are allowed.
    """

    value: float
    scale: float
    training_error: float
    table: pd.DataFrame
    embedding: pd.DataFrame | NDArray[np.float64]
    alpha: float
    guessing: float

    def __repr__(self) -> str:
        empty = "" if self.value < self.guessing else "; guessing is no worse, so it says nothing"
        return (
            f"Bound(error on new judgments at most {self.value:.3f} with probability "
            f"{1 - self.alpha:g}, from {self.training_error:.3f} in training at scale "
            f"{self.scale:g}{empty})"
        )


def generalization(
    embedding: ArrayLike | pd.DataFrame,
    triplets: Triplets,
    *,
    scales: Sequence[float] = SCALES,
    alpha: float = 0.05,
    test: Triplets | None = None,
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
) -> Bound:
    """Bound the error of an embedding on new judgments.

    The embedding is quantised at each scale Δ, and its training error there is raised by
    sqrt((m d log(⌈M/Δ⌉ + 1) + log(1/δ)) / 2n) with δ = alpha / number of scales; the smallest
    sum is the bound.

    Parameters
    ----------
    embedding : DataFrame or array of shape (m, d)
        Non-negative weights, for example ``fit.embedding()``.
    triplets : Triplets
        The judgments that it was fitted to.
    scales : sequence of float
        Scales of quantisation, chosen without looking at the data.
    alpha : float
        Probability that the bound fails.
    test : Triplets, optional
        Other judgments, for the column `test_error`.
    choice : Choice
        How answers are chosen: ``fit.choice``, if it has no parameters of its own.

    Notes
    -----
    As in the paper, the largest weight M and the number of dimensions d are taken from the
    embedding. The guarantee treats them as known beforehand.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> pv.bounds.generalization(example.embedding, example.triplets)
    Bound(error on new judgments at most 0.589 with probability 0.95, from 0.464 in training at
    scale 0.9)
    """
    weights = check_embedding(embedding)
    chosen = np.atleast_1d(scales).tolist()
    if not chosen or not all(isinstance(scale, int | float) and scale > 0 for scale in chosen):
        raise PyroviceError(f"scales={scales!r}; expected positive numbers, such as (0.1, 0.5).")
    check_share(alpha, "alpha")
    for data in (triplets, test):
        _check_objects(embedding, data)
    m, d = weights.shape
    rows = []
    for scale in chosen:
        levels = math.ceil(weights.max(initial=0) / scale)
        slack = math.sqrt(hypotheses(m, d, levels, alpha / len(chosen)) / (2 * len(triplets)))
        error = quantized_error(weights, scale, triplets, choice)
        row = {"scale": scale, "levels": levels, "training_error": error}
        row |= {"slack": slack, "bound": error + slack}
        if test is not None:
            row["test_error"] = quantized_error(weights, scale, test, choice)
        rows.append(row)
    table = pd.DataFrame(rows)
    best = table.loc[table.bound.idxmin()]
    return Bound(
        value=float(best.bound),
        scale=float(best.scale),
        training_error=float(best.training_error),
        table=table,
        embedding=quantize(embedding, float(best.scale)),
        alpha=alpha,
        guessing=float(1 - (1 / triplets.options).mean()),
    )


def quantized_error(
    weights: NDArray[np.float64],
    scale: float,
    triplets: Triplets,
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
) -> float:
    """How often the quantised embedding predicts another answer, ties shared."""
    # Whole numbers give exact similarities, so that what is tied stays tied.
    X = torch.from_numpy(multiples(weights, scale))
    log_p = log_probability(choice, {"X": X}, Judgments.of(triplets)).numpy()
    return float(1 - hits(log_p, triplets.odd).mean())


def _check_objects(embedding: ArrayLike | pd.DataFrame, triplets: Triplets | None) -> None:
    if triplets is None:
        return
    m = len(numeric_matrix(embedding))
    names = tuple(embedding.index) if isinstance(embedding, pd.DataFrame) else triplets.names
    if triplets.n_objects != m or (triplets.is_named and names != triplets.names):
        raise DataError(
            f"The judgments are of {triplets.n_objects} objects and the embedding is of {m}, or of "
            "the same in another order; pass fit.embedding() and the judgments that were fitted."
        )
