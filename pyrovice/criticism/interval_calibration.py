"""Do intervals hold on this design? Simulate from a fit, fit again, and look for the truth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.criticism.calibration_words import advice_of, found_of
from pyrovice.criticism.refitting import LEVELS, answered, choices, with_dimensions
from pyrovice.criticism.resamples import Recipe
from pyrovice.data.html_tables import html_table
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import DataError, InterruptedWarning
from pyrovice.inference.many_fits import results_of
from pyrovice.inference.plan import Plan, check_data
from pyrovice.inference.refining import refine
from pyrovice.model.choices.pairs import pair_similarity
from pyrovice.model.simulation import random_triplets
from pyrovice.results.fit import Fit
from pyrovice.results.matching import same_dimensions
from pyrovice.results.prediction import random_answers

# Draws that intervals are taken from; new questions, and pairs and weights that are compared.
DRAWS, QUESTIONS, MOST_WEIGHTS = 400, 1000, 2000
# Draws of each of two chains, where refits are refined.
REFINED_DRAWS = 200
BINS = 20
CHOICE, SIMILARITY, WEIGHT = "choice probability", "similarity", "weight"


@dataclass(frozen=True, eq=False, repr=False)
class IntervalCalibration:
    """How often intervals hold the truth; made by :func:`pyrovice.calibrate`.

    Attributes
    ----------
    coverage : DataFrame
        By quantity and level (0.5, 0.8, 0.95): the share of true values inside central intervals,
        the mean over simulations.
    error : DataFrame
        Standard errors of these.
    ranks : DataFrame
        By bin and quantity: the share of true values whose rank among the draws is in that
        twentieth. All are about .05 if intervals are right; much at the ends means that they are
        too narrow, a slope that values are off to one side.
    ratio : Series
        By quantity: root mean square error of the posterior means over the root mean posterior
        variance, 1 if uncertainty is stated as it is.
    n_dimensions : tuple of int
        Dimensions that each refit kept.
    n_true : int
        Dimensions that were simulated from.
    matched : float
        The mean share of true dimensions that a refit found (r > .8); weights are compared in
        these.
    refined : bool
        Whether refits were refined.
    """

    coverage: pd.DataFrame
    error: pd.DataFrame
    ranks: pd.DataFrame
    ratio: pd.Series
    n_dimensions: tuple[int, ...]
    n_true: int
    matched: float
    refined: bool

    @property
    def simulations(self) -> int:
        """How many data sets were simulated."""
        return len(self.n_dimensions)

    @property
    def found(self) -> str:
        """What was found, in words."""
        return found_of(self.coverage, self.simulations, self.refined)

    @property
    def advice(self) -> str:
        """What it means for what can be reported."""
        return advice_of(self.coverage, self.error, self.refined)

    def __repr__(self) -> str:
        table = self.coverage.rename(columns="{:.0%}".format).assign(
            **{"error over spread": self.ratio}
        )
        return f"{self.found}\n{self.advice}\n\n{table.round(3).to_string()}"

    def _repr_html_(self) -> str:
        rows = [
            [name, *(f"{self.coverage.loc[name, level]:.1%}" for level in LEVELS)]
            for name in self.coverage.index
        ]
        columns = ["quantity", *(f"{level:.0%} intervals" for level in LEVELS)]
        return html_table(self.found, columns, rows, [self.advice])


def calibrate(
    fit: Fit,
    data: Triplets,
    *,
    simulations: int = 20,
    refined: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | Path | None = None,
    progress: bool = True,
) -> IntervalCalibration:
    """Do intervals hold the truth, with the questions and people of these judgments?

    For each simulation a draw from the posterior of the fit is the truth, the questions of `data`
    are answered by it, and the same model is fitted to the answers. Then the truth is looked for
    in the posterior of that refit: choice probabilities of new questions, similarities of pairs,
    weights of the dimensions that were found again, and parameters of prior and choice. Of a value
    that equals many draws, such as a weight of zero, the rank is drawn among these.

    Parameters
    ----------
    fit : Fit
        The fit whose intervals are in question.
    data : Triplets
        The judgments that it was fitted to; their answers are not used.
    simulations : int
        How many data sets to simulate. Each takes a fit; small ones are fitted many at a time.
    refined : bool
        Whether to refine each refit (:func:`pyrovice.refine`), which takes about as long again:
        so that it is the intervals of refined fits that are examined.
    seed, n_jobs, store, progress
        As for :func:`pyrovice.dimensionality`.

    Returns
    -------
    IntervalCalibration

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> three_kinds = 1.5 * np.repeat(np.eye(3), 10, axis=0)
    >>> data = pv.simulate(three_kinds, 2000, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=150), stop=pv.MaxEpochs(150))
    >>> found = pv.calibrate(pv.fit(data, dimensions=4, training=quick), data, simulations=3)
    >>> list(found.coverage.index)
    ['choice probability', 'similarity', 'weight']
    >>> bool(found.coverage.loc["choice probability", 0.95] > 0.7)
    True
    """
    check_data(data, "data")
    if not fit.was_fitted_to(data):
        raise DataError(
            "These are not the judgments that were fitted: pv.calibrate(fit, data) asks the "
            "questions of those again."
        )
    kept = with_dimensions(fit)
    # Neither guide nor judgments are needed to answer questions, and they need not travel.
    bare = replace(kept, fitted_guide=None, model=kept.model.with_data(None))
    recipe = Recipe.of(fit)
    words = recipe.identity(data) | {
        "truth": f"{fit.seed} {fit.posterior.shape} {float(kept.posterior.loc().sum()):.6g}",
        "refined": str(refined),
    }
    seeds = np.random.SeedSequence(whole_seed(seed)).generate_state(
        whole(simulations, "simulations", least=1)
    )
    wanted = [Simulation(recipe, bare, data, refined, each, words) for each in seeds.tolist()]
    results = results_of(wanted, store=store, n_jobs=n_jobs, progress=progress)
    return _summary(results, kept.n_dimensions, refined)


@dataclass(frozen=True, eq=False)
class Simulation:
    """One truth, its answers, and a refit to them."""

    recipe: Recipe
    kept: Fit
    data: Triplets
    refined: bool
    seed: int
    words: Mapping[str, str]

    @property
    def identity(self) -> dict[str, str]:
        return {**self.words, "simulation": str(self.seed)}

    def _simulated(self) -> tuple[dict[str, Tensor], Triplets, np.random.Generator]:
        truth = next(self.kept.posterior.each(1, self.seed))
        rng = random_answers(self.seed)
        return truth, answered(self.kept, truth, self.data, rng), rng

    def plan(self) -> Plan:
        return self.recipe.plan(self._simulated()[1], self.seed)

    def keep(self, fit: Fit) -> dict[str, NDArray[Any]]:
        truth, simulated, rng = self._simulated()
        found = {"n_dimensions": np.array(fit.n_dimensions)}
        if self.refined and fit.n_dimensions:
            fit = _refined(fit.prune(), simulated, self.seed)
        same = same_dimensions(truth["X"].numpy(), fit.posterior.mean())
        found["matched"] = np.array((same >= 0).mean())
        asked = _new_questions(self.data, rng)
        for name, (draws, true) in _quantities(self.kept, fit, truth, asked, same, rng).items():
            if true.size:
                found |= _compared(name, draws, true, rng)
        return found


def _refined(fit: Fit, data: Triplets, seed: int) -> Fit:
    with warnings.catch_warnings():
        # Whoever stops one of many wants to stop them all.
        warnings.simplefilter("error", InterruptedWarning)
        try:
            return refine(fit, data, draws=REFINED_DRAWS, seed=seed, progress=False)
        except InterruptedWarning as stop:
            raise KeyboardInterrupt from stop


def _new_questions(data: Triplets, rng: np.random.Generator) -> Triplets:
    """Questions of the same kind to the same people, of other objects."""
    like = rng.integers(len(data), size=QUESTIONS)
    return Triplets(
        random_triplets(data.n_objects, QUESTIONS, rng),
        np.zeros(QUESTIONS, int) if not data.anchored.any() else _not(data.anchor[like]),
        names=data.names,
        anchor=data.anchor[like],
        participants=None if data.participants is None else data.participants[like],
    )


def _not(anchor: NDArray[np.integer]) -> NDArray[np.integer]:
    """An answer that is allowed: the anchor cannot be the odd one."""
    return np.where(anchor == 0, 1, 0)


def _quantities(
    kept: Fit,
    fit: Fit,
    truth: dict[str, Tensor],
    asked: Triplets,
    same: NDArray[np.intp],
    rng: np.random.Generator,
) -> dict[str, tuple[NDArray[np.floating], NDArray[np.floating]]]:
    """Draws of each quantity by the refit, and its true value."""
    m = len(kept.names)
    first, second, _ = asked.objects.T.astype(np.int64)
    pairs = torch.as_tensor(first * m + second)
    true = np.flatnonzero(same >= 0)
    rows = rng.choice(m, min(m, max(1, MOST_WEIGHTS // max(1, len(true)))), replace=False)
    scalars = [name for name, site in fit.posterior.others.items() if not site.axes]
    drawn: dict[str, list[NDArray[np.floating]]] = {}

    def values(of: Fit, sites: dict[str, Tensor], columns: NDArray[np.intp]) -> dict[str, Any]:
        X = sites["X"].relu()
        return {
            CHOICE: choices(of, sites, asked).ravel(),
            SIMILARITY: pair_similarity(X, pairs).numpy(),
            WEIGHT: X.numpy()[np.ix_(rows, columns)].ravel(),
            **{name: sites[name].numpy().reshape(1) for name in scalars if name in truth},
        }

    for sites in fit.posterior.each(DRAWS, seed=0):
        for name, each in values(fit, sites, same[true]).items():
            drawn.setdefault(name, []).append(each)
    exact = values(kept, truth, true)
    return {name: (np.stack(each), exact[name]) for name, each in drawn.items()}


def ranks_of(
    draws: NDArray[np.floating], true: NDArray[np.floating], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Where true values lie among draws, from 0 to 1; where they equal some, anywhere among these.

    Uniform if the truth and the draws come from the same distribution, whatever that is.

    Examples
    --------
    >>> draws = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> ranks = ranks_of(draws, np.array([0.0, 2.5]), np.random.default_rng(0))
    >>> bool(0 < ranks[0] < 1), bool(0.5 < ranks[1] < 0.75)
    (True, True)
    """
    below, equal = (draws < true).sum(axis=0), (draws == true).sum(axis=0)
    return (below + rng.random(true.shape) * (equal + 1)) / (len(draws) + 1)


def _compared(
    name: str,
    draws: NDArray[np.floating],
    true: NDArray[np.floating],
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """What is kept of one quantity: coverage, ranks, error and spread."""
    ranks = ranks_of(draws, true, rng)
    off = draws.mean(axis=0, dtype=float) - true
    return {
        f"coverage/{name}": np.array([(np.abs(ranks - 0.5) <= p / 2).mean() for p in LEVELS]),
        f"ranks/{name}": np.histogram(ranks, BINS, (0, 1))[0] / ranks.size,
        f"squares/{name}": np.array([(off**2).mean(), draws.var(axis=0, dtype=float).mean()]),
    }


def _summary(
    results: list[dict[str, NDArray[Any]]], n_true: int, refined: bool
) -> IntervalCalibration:
    names = list(dict.fromkeys(key.split("/", 1)[1] for r in results for key in r if "/" in key))

    def stacked(what: str, name: str) -> NDArray[np.float64]:
        return np.stack([r[f"{what}/{name}"] for r in results if f"{what}/{name}" in r])

    shares = {name: stacked("coverage", name) for name in names}
    squares = {name: stacked("squares", name).mean(axis=0) for name in names}
    return IntervalCalibration(
        coverage=_by_level({name: each.mean(axis=0) for name, each in shares.items()}),
        error=_by_level(
            {name: each.std(axis=0) / max(len(each) - 1, 1) ** 0.5 for name, each in shares.items()}
        ),
        ranks=pd.DataFrame(
            {name: stacked("ranks", name).mean(axis=0) for name in names},
            index=pd.Index((np.arange(BINS) + 0.5) / BINS, name="rank"),
        ),
        ratio=pd.Series({name: float(np.sqrt(e / s)) for name, (e, s) in squares.items() if s > 0}),
        n_dimensions=tuple(int(r["n_dimensions"]) for r in results),
        n_true=n_true,
        matched=float(np.mean([r["matched"] for r in results])),
        refined=refined,
    )


def _by_level(rows: Mapping[str, NDArray[np.float64]]) -> pd.DataFrame:
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(LEVELS))
    return table.rename_axis(index="quantity", columns="level")
