"""Fit again with the settings of a fit: to other judgments, or to its own simulated ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError, PyroviceWarning
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, fit_or_error
from pyrovice.model.choices.pairs import pair_similarity
from pyrovice.model.simulation import random_triplets
from pyrovice.results.prediction import draw_answers, random_answers

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

LEVELS = (0.5, 0.8, 0.95)
# Draws that intervals are taken from, and new questions and pairs that are compared.
INTERVAL_DRAWS = 400
QUESTIONS = 2000


def refit(fit: Fit, data: Triplets, seed: int, dimensions: int | None = None) -> Fit:
    """The same prior, guide and training on other judgments; see :func:`refits`."""
    return refits(fit, [(data, seed)], dimensions)[0]


def refits(
    fit: Fit, sets: Sequence[tuple[Triplets, int]], dimensions: int | None = None
) -> list[Fit]:
    """The same prior, guide and training on other judgments and seeds, stacked if that is faster.

    They start from as many dimensions as `fit` did, unless told otherwise.
    """
    if fit.posterior.from_chains:
        raise PyroviceError(
            f"This fit was sampled ({fit.guide_family}) and not trained; sample again."
        )
    with warnings.catch_warnings():
        # The first fit has already given these warnings.
        warnings.simplefilter("ignore", PyroviceWarning)
        made = dict(
            fit_many(
                [
                    Plan.of(
                        data,
                        prior=fit.prior,
                        choice=fit.choice,
                        people=fit.model.people,
                        guide=fit.guide_family,
                        training=fit.training,
                        dimensions=fit.first_dimensions if dimensions is None else dimensions,
                        seed=seed,
                    )
                    for data, seed in sets
                ]
            )
        )
    return [fit_or_error(made[i]) for i in range(len(sets))]


@dataclass(frozen=True, eq=False)
class Recovery:
    """Whether a fit finds an embedding that is known.

    Attributes
    ----------
    coverage : DataFrame
        By quantity (`choice probability` of new triplets, `similarity` of pairs) and
        level: the share of true values within the central interval.
    n_dimensions, n_true : int
        Dimensions kept by the refit, and by the fit that was simulated from.
    rms : Series
        By quantity: root mean square error of the posterior means.
    spread : Series
        By quantity: root mean posterior variance, which equals `rms` if the posterior is
        honest.
    """

    coverage: pd.DataFrame
    n_dimensions: int
    n_true: int
    rms: pd.Series
    spread: pd.Series


def simulate_and_refit(fit: Fit, data: Triplets, *, seed: int = 0) -> Recovery:
    """Take one posterior draw as the truth, answer the same questions, and fit again.

    Parameters
    ----------
    fit : Fit
        The fit to test.
    data : Triplets
        Whose questions are asked; their answers are not used.
    seed : int
        Seed of the truth, the answers and the refit.

    Examples
    --------
    >>> import pyrovice as pv
    >>> from pyrovice.criticism.refitting import simulate_and_refit
    >>> data = pv.load_example().triplets
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> found = simulate_and_refit(pv.fit(data, dimensions=12, training=short), data)
    >>> bool(found.coverage.loc["choice probability", 0.95] > 0.7)
    True
    """
    return simulate_and_refit_often(fit, data, [seed])[0]


def simulate_and_refit_often(fit: Fit, data: Triplets, seeds: Sequence[int]) -> list[Recovery]:
    """The same for several truths, fitted together where that is faster."""
    kept = with_dimensions(fit)
    truths, random, sets = [], [], []
    for seed in seeds:
        truth = next(kept.posterior.each(1, seed))
        rng = random_answers(seed)
        truths.append(truth)
        random.append(rng)
        sets.append((answered(kept, truth, data, rng), seed))
    return [
        _recovery(kept, data, truth, again, rng, seed)
        for truth, again, rng, seed in zip(truths, refits(fit, sets), random, seeds, strict=True)
    ]


def with_dimensions(fit: Fit) -> Fit:
    """The kept dimensions of a fit, which must have some to be simulated from."""
    kept = fit.prune()
    if not kept.n_dimensions:
        raise PyroviceError("This fit has no dimensions, so there is no truth to recover.")
    return kept


def answered(
    kept: Fit, truth: dict[str, Tensor], data: Triplets, rng: np.random.Generator
) -> Triplets:
    """The same questions to the same people, answered as if `truth` were true."""
    return Triplets(
        data.objects,
        draw_answers(choices(kept, truth, data), rng),
        names=data.names,
        anchor=data.anchor,
        participants=data.participants,
        # Where objects stood is still true; where the answer stood is not.
        trials=None if data.trials is None else data.trials.filter(PLACE_COLUMNS),
    )


def _recovery(
    kept: Fit,
    data: Triplets,
    truth: dict[str, Tensor],
    again: Fit,
    rng: np.random.Generator,
    seed: int,
) -> Recovery:
    m = len(kept.names)
    new = Triplets(random_triplets(m, QUESTIONS, rng), np.zeros(QUESTIONS, int), names=data.names)
    first, second, _ = new.objects.T.astype(np.int64)
    pairs = torch.as_tensor(first * m + second)
    coverage, rms, spread = {}, {}, {}
    for name, of in {
        "choice probability": lambda fit, sites: choices(fit, sites, new).ravel(),
        "similarity": lambda fit, sites: pair_similarity(sites["X"].relu(), pairs).numpy(),
    }.items():
        values = np.stack(
            [of(again, sites) for sites in again.posterior.each(INTERVAL_DRAWS, seed)]
        )
        true = of(kept, truth)
        coverage[name] = [_covered(values, true, level) for level in LEVELS]
        rms[name] = float(np.sqrt(((values.mean(axis=0) - true) ** 2).mean()))
        spread[name] = float(np.sqrt(values.var(axis=0).mean()))
    return Recovery(
        coverage=pd.DataFrame.from_dict(coverage, orient="index", columns=list(LEVELS)),
        n_dimensions=again.n_dimensions,
        n_true=kept.n_dimensions,
        rms=pd.Series(rms),
        spread=pd.Series(spread),
    )


def choices(fit: Fit, sites: dict[str, Tensor], asked: Triplets) -> NDArray[np.float32]:
    """How probable each answer is, if these values of all sites are true."""
    return fit.model.choice_log_probability(sites, asked).exp().numpy()


def _covered(draws: NDArray[np.float32], true: NDArray[np.float32], level: float) -> float:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    # Two objects without a common dimension have similarity zero, in the draws as in truth.
    return float(((low <= true) & (true <= high)).mean())
