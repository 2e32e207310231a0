"""What more judgments would give: a learning curve of those at hand, carried on.

Parts of the judgments, of several sizes, are fitted and scored on judgments that no part has. The
error falls as a power of their number, a + b n^−c. Where it leads to, a, is told by how well the
fits predict the judgments that they were made of: with more and more of them the two scores meet.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.roles import chosen, fair_sample
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import DataError, PyroviceError, PyroviceWarning
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, fit_or_error
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.priors import learned_rows
from pyrovice.results.fit import Fit
from pyrovice.results.scores import evaluate

# Sizes of the parts, as shares of the judgments that are fitted. Smaller ones are on another part
# of the curve: with few judgments most dimensions are not found yet.
SHARES = (0.6, 0.8, 1.0)
# Judgments are held out by turns, in at least so many folds, and at most so many are scored.
FOLDS, MOST_SCORED = 6, 20_000
FEWEST = 200
# Exponents of a learning curve, and what is expected of them: 1 is the limit for many judgments.
EXPONENTS = np.linspace(0.4, 2.0, 33)
USUAL, SPREAD = 1.0, 0.3
# The limit of the curve, and how sure it is, in units of the gap between the scores on other
# judgments and on those fitted. Chosen on simulated and people's judgments: benchmarks/TRIED.md.
BEYOND, UNSURE = -0.1, 0.1
# Curves that intervals are taken from.
CURVES = 1000
MEASURES = ("nats", "accuracy", "dimensions")
# Below this, more judgments are not worth asking for, in nats per judgment.
NOTHING = 0.001
INTERVAL = (0.1, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """What more judgments would give; made by :func:`forecast`, printed in words.

    Attributes
    ----------
    table : DataFrame
        A row per number of judgments, those at hand first: `judgments`, `times` (of those at
        hand), and for `nats` (held-out cross-entropy), `accuracy` and `dimensions` (kept) the
        expected value with the ends of its 80 % interval, `nats_low` and `nats_high`. `worth` is
        by how many nats more judgments are expected to lower the cross-entropy.
    runs : DataFrame
        The fits it rests on: `resample`, `judgments`, `nats`, `accuracy`, `dimensions`, and
        `own_nats` and `own_accuracy`, the scores on judgments that were fitted.
    n_judgments : int
        How many judgments there are.
    floor : float
        The held-out nats that no number of judgments would fall below, by this curve.
    """

    table: pd.DataFrame
    runs: pd.DataFrame
    n_judgments: int
    floor: float

    def __repr__(self) -> str:
        now, *later = self.table.itertuples()
        said = [
            f"With all {now.judgments:,} judgments, held-out cross-entropy is {now.nats:.4f} nats "
            f"and accuracy {now.accuracy:.3f}, with {now.dimensions:.0f} dimensions."
        ]
        for row in later:
            said.append(
                f"{row.judgments - now.judgments:,} more are worth {row.worth:.4f} nats "
                f"({row.worth_low:.4f} to {row.worth_high:.4f}): "
                f"{row.nats:.4f}, accuracy {row.accuracy:.3f}, {row.dimensions:.0f} dimensions."
            )
        last = self.table.iloc[-1]
        left = last.nats - self.floor
        if now.nats - self.floor < NOTHING:
            said.append("More judgments are not expected to improve predictions.")
        elif left < NOTHING:
            said.append(f"After {last.judgments:,.0f} nothing much is gained ({left:.4f} nats).")
        else:
            said.append(f"Even {last.judgments:,.0f} would leave {left:.4f} nats to be gained.")
        return "\n".join(textwrap.fill(line, 100) for line in said)


def forecast(
    fit: Fit,
    data: Triplets,
    *,
    times: Sequence[float] = (1.5, 2.0, 4.0),
    resamples: int = 6,
    seed: int = 0,
) -> Forecast:
    """Say what more judgments would give, from the learning curve of those at hand.

    Before there are any, :func:`pyrovice.bounds.design` answers the same question by simulation.

    Parameters
    ----------
    fit : Fit
        How to fit: its prior, choice, people, guide, training and number of dimensions are used.
    data : Triplets
        The judgments that were fitted. Those of chosen questions are fitted but not scored on.
    times : sequence of float
        Numbers of judgments to look at, as multiples of those at hand.
    resamples : int
        How many times to hold out other judgments, a sixth or less of all, and to order the rest
        anew. Small data take seconds, because all fits are made together.
    seed : int
        The same seed gives the same forecast.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets.subset(2000, seed=0)
    >>> fit = pv.fit(data, dimensions=8, training=pv.Training(schedule=pv.Anneal(steps=200)))
    >>> found = pv.forecast(fit, data, resamples=2)
    >>> found.table.judgments.tolist()
    [2000, 3000, 4000, 8000]
    >>> bool(found.table.nats.is_monotonic_decreasing)
    True
    """
    resamples, seed = whole(resamples, "resamples", least=2), whole_seed(seed)
    _check(fit, data, times)
    runs = _learning_curves(fit, data, resamples, seed)
    sizes = np.array([len(data), *(round(factor * len(data)) for factor in sorted(times))])
    table = pd.DataFrame({"judgments": sizes, "times": sizes / len(data)})
    parts = runs.groupby(runs.groupby("resample").cumcount()).judgments.mean().to_numpy(float)
    rng, floor = np.random.default_rng(seed), 0.0
    for measure in MEASURES:
        scores = np.stack([one[measure].to_numpy(float) for _, one in runs.groupby("resample")])
        own = f"own_{measure}"
        limit = None if own not in runs else _limit(scores, runs[own], len(parts))
        curves, limits = _carried_on(parts, scores, sizes, rng, limit)
        _add(table, measure, curves)
        if measure == "nats":
            floor = float(np.median(limits))
            # Within each curve: which judgments were held out then makes no difference.
            _add(table, "worth", curves[:, :1] - curves)
    return Forecast(table, runs, len(data), floor)


def _add(table: pd.DataFrame, name: str, curves: NDArray[np.float64]) -> None:
    """The median over curves and the ends of the interval, as columns."""
    low, middle, high = np.quantile(curves, (INTERVAL[0], 0.5, INTERVAL[1]), axis=0)
    table[name], table[f"{name}_low"], table[f"{name}_high"] = middle, low, high


def _check(fit: object, data: object, times: Sequence[float]) -> None:
    if not isinstance(fit, Fit):
        raise TypeError(f"forecast got a {type(fit).__name__}; expected a Fit, pv.fit(data).")
    if not isinstance(data, Triplets):
        raise TypeError(f"data is a {type(data).__name__}; expected Triplets.")
    if data.names != fit.names:
        raise DataError("data are of other objects than the fit; read them with names=fit.names.")
    if len(data) < FEWEST:
        raise DataError(
            f"{len(data)} judgments make no learning curve; expected at least {FEWEST}. For an "
            "experiment that has not begun see pv.bounds.design(n_objects, dimensions)."
        )
    if not len(times) or not all(np.isfinite(factor) and factor > 1 for factor in times):
        raise PyroviceError(f"times={times!r}; expected multiples above 1, such as (1.5, 2, 4).")
    missing = fit.missing_code()
    if missing is not None:
        raise missing.missing()


def _learning_curves(fit: Fit, data: Triplets, resamples: int, seed: int) -> pd.DataFrame:
    """Fits of growing parts of the judgments, scored on some that none of them has."""
    plans: list[Plan] = []
    tests: list[Triplets] = []
    rows: list[dict[str, float]] = []
    number = max(resamples, FOLDS)
    folds = data.split(*[1 / number] * number, seed=seed)
    for resample in range(resamples):
        held_out = folds[resample]
        rest = Triplets.concat([fold for fold in folds if fold is not held_out])
        if chosen(held_out).any():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PyroviceWarning)
                held_out = fair_sample(held_out, "forecast")
        held_out = _some(held_out, seed)
        # Parts without replacement: answers twice over would pass for evidence.
        order = np.random.default_rng([seed, resample]).permutation(len(rest))
        for part in SHARES:
            some = rest[np.sort(order[: round(part * len(rest))])]
            tests.append(held_out)
            rows.append({"resample": resample, "judgments": len(some)})
            plans.append(_plan(fit, data, some, seed + resample))
    with warnings.catch_warnings():
        # Too few judgments are what is being tried out.
        warnings.simplefilter("ignore", PyroviceWarning)
        for place, made in fit_many(plans):
            found = fit_or_error(made)
            scores = evaluate(found.predict(tests[place]), tests[place])
            fitted = _some(plans[place].data, seed)
            own = evaluate(found.predict(fitted), fitted)
            rows[place] |= {
                "nats": scores.cross_entropy,
                "accuracy": scores.accuracy,
                "dimensions": found.n_dimensions,
                "own_nats": own.cross_entropy,
                "own_accuracy": own.accuracy,
            }
    return pd.DataFrame(rows)


def _some(data: Triplets, seed: int) -> Triplets:
    return data if len(data) <= MOST_SCORED else data.subset(MOST_SCORED, seed=seed)


def _plan(fit: Fit, data: Triplets, part: Triplets, seed: int) -> Plan:
    # A number that followed from the number of judgments follows from that of a part, too.
    automatic = first_dimensions("auto", data, learned_rows(fit.prior))
    return Plan.of(
        part,
        prior=fit.prior,
        choice=fit.choice,
        people=fit.model.people,
        guide=fit.guide_family,
        dimensions="auto" if fit.first_dimensions == automatic else fit.first_dimensions,
        training=fit.training,
        seed=seed,
    )


def _limit(scores: NDArray[np.float64], own: pd.Series, parts: int) -> tuple[float, float]:
    """Where a curve is expected to lead to, and how sure that is (a standard deviation)."""
    fitted = float(own.to_numpy(float).reshape(-1, parts)[:, -1].mean())
    gap = float(scores[:, -1].mean()) - fitted
    return fitted + BEYOND * gap, UNSURE * abs(gap) + 1e-6


def _carried_on(
    n: NDArray[np.float64],
    scores: NDArray[np.float64],
    ahead: NDArray[np.integer],
    rng: np.random.Generator,
    limit: tuple[float, float] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Power laws through learning curves: their values at `ahead`, and where they lead to.

    y = a ± b n^−c with b >= 0, rising or falling as the points do. The laws are draws from the
    posterior of a, b and c given the mean over resamples of `scores` (resamples x parts), where a
    is expected to be `limit`: mean and standard deviation. Every resample is scored on other
    judgments, so that their levels differ, and the level of the mean is uncertain as well.
    """
    mean = scores.mean(axis=0)
    design = np.ones((len(EXPONENTS), len(n), 2))
    design[..., 1] = (n / n[-1]) ** -EXPONENTS[:, None]
    weight = np.full(len(n), 1 / _noise(scores))
    if limit is not None:
        # A score at infinity, where n^−c is zero.
        at_limit = np.broadcast_to([1.0, 0.0], (len(EXPONENTS), 1, 2))
        design = np.concatenate([design, at_limit], axis=1)
        mean, weight = np.append(mean, limit[0]), np.append(weight, limit[1] ** -2)
    weighted = design * weight[:, None]
    precision = weighted.transpose(0, 2, 1) @ design
    # About the last point, because squares of large numbers lose what is small.
    level = mean[len(n) - 1]
    middle = np.linalg.solve(precision, (weighted.transpose(0, 2, 1) @ (mean - level))[..., None])
    misfit = (((mean - level) - (design @ middle)[..., 0]) ** 2) @ weight
    log_p = -(misfit + np.linalg.slogdet(precision)[1] + ((EXPONENTS - USUAL) / SPREAD) ** 2) / 2
    at = np.argmax(log_p + rng.gumbel(size=(CURVES, len(EXPONENTS))), axis=1)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    a, b = (middle + root @ rng.normal(size=(CURVES, len(EXPONENTS), 2, 1)))[
        np.arange(CURVES), at, :, 0
    ].T
    sign = 1.0 if scores.mean(axis=0)[-1] <= scores.mean(axis=0)[0] else -1.0
    wrong = sign * b < 0
    a, b = np.where(wrong, a + b, a), np.where(wrong, 0.0, b)
    a = a + level + rng.normal(0, scores.mean(axis=1).std(ddof=1) / len(scores) ** 0.5, CURVES)
    return a[:, None] + b[:, None] * (ahead / n[-1]) ** -EXPONENTS[at, None], a


def _noise(scores: NDArray[np.float64]) -> float:
    """The variance of a mean over resamples, apart from what each has in all its parts."""
    apart = scores - scores.mean(axis=1, keepdims=True)
    apart -= apart.mean(axis=0)
    resamples, parts = scores.shape
    freedom = (resamples - 1) * (parts - 1)
    return float((apart**2).sum() / freedom / resamples) + 1e-12
