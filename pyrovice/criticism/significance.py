"""The paper's tests: two models on the same triplets, and dimension counts over seeds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from pyrovice.data.roles import fair_sample
from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError
from pyrovice.results.fit import Fit
from pyrovice.results.scores import hits, log_score, repeats_kl

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceComparison:
    """Two models on the same judgments; made by :func:`pyrovice.compare_choices`.

    Attributes
    ----------
    table : DataFrame
        A row for `accuracy`, for `cross_entropy` and, with repeats, for `kl_divergence`:
        the means of `a` and `b`, their `difference` a − b with its 95 % interval `low` to
        `high`, the statistic `t` and `p_value` of the two-sided paired test, the
        `effect_size` (Cohen's d of paired values: mean over standard deviation of the
        differences), and the number `n` of triplets.
    """

    table: pd.DataFrame

    def __repr__(self) -> str:
        said = []
        for measure, row in self.table.iterrows():
            verdict = (
                "no significant difference"
                if not row.p_value < 0.05
                else (
                    f"{'a' if (row.difference > 0) == (measure == 'accuracy') else 'b'} is better"
                )
            )
            said.append(f"{str(measure).replace('_', ' ')}: {verdict}")
        shown = self.table.to_string(float_format=lambda value: f"{value:.4g}")
        return f"{shown}\n{'; '.join(said)} at 5 %."


def compare_choices(
    a: Fit, b: Fit, triplets: Triplets, *, draws: int = 50, seed: int = 0
) -> ChoiceComparison:
    """Test whether one model predicts choices better than another.

    Two-sided paired t-tests over triplets. People who judged the same triplet count
    together as one.

    Parameters
    ----------
    a, b : Fit
        The models. They predict with all their dimensions; pass ``a.prune()`` to compare the
        kept ones, as the paper does.
    triplets : Triplets
        Judgments that neither was fitted to. KL(people ‖ model) needs triplets that were
        judged more than once.
    draws, seed : int
        As for ``fit.predict``.

    Returns
    -------
    ChoiceComparison

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.split(0.8, 0.2, seed=0)
    >>> short = pv.Training(schedule=pv.Anneal(steps=300))
    >>> fit = pv.fit(train, dimensions=8, training=short)
    >>> found = pv.compare_choices(fit, fit.prune(min_objects=15), test)
    >>> bool(found.table.loc["accuracy", "low"] > 0)  # the smaller dimensions matter
    True
    """
    for model in (a, b):
        if not hasattr(model, "predict"):
            raise TypeError(f"Got a {type(model).__name__} to compare; expected two fits.")
    triplets = fair_sample(triplets, "compare_choices")
    p_a, p_b = (model.predict(triplets, draws, seed) for model in (a, b))
    _, question = np.unique(triplets._questions(), return_inverse=True)
    scores = {
        "accuracy": [_mean_by_question(question, hits(p, triplets.odd)) for p in (p_a, p_b)],
        "cross_entropy": [
            _mean_by_question(question, -log_score(p, triplets.odd)) for p in (p_a, p_b)
        ],
    }
    if len(triplets.repeated()[0]):
        scores["kl_divergence"] = [repeats_kl(p, triplets) for p in (p_a, p_b)]
    rows = {measure: _paired_t_test(*of_both) for measure, of_both in scores.items()}
    return ChoiceComparison(pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure"))


def compare_dimensions(a: Sequence[Fit | int], b: Sequence[Fit | int]) -> pd.DataFrame:
    """Test whether two methods differ in how many dimensions they find over seeds.

    Parameters
    ----------
    a, b : sequences of Fit, or of numbers of dimensions
        One per seed, at least two of each.

    Returns
    -------
    DataFrame
        With the columns `estimate`, `low` and `high` (95 % interval), `statistic` and
        `p_value` (two-sided). The row `t` is the unpaired t-test, its estimate the
        difference of means; `F` compares variances by their ratio; `sign`, where both have
        the same number of seeds, pairs them in the order given and estimates how often a has
        fewer, leaving out ties. Where all counts are equal there is no spread to compare with, and
        values that need it are missing.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.compare_dimensions([44, 43, 45, 44], [52, 50, 54, 52]).round(4)
          estimate      low    high  statistic  p_value
    test
    t        -8.00 -10.2337 -5.7663    -8.7636   0.0001
    F         0.25   0.0162  3.8598     0.2500   0.2848
    sign      1.00   0.3976  1.0000     4.0000   0.1250
    """
    x, y = _dimension_counts(a, "a"), _dimension_counts(b, "b")
    rows = {"t": unpaired(x, y), "F": _variance_ratio_test(x, y)}
    if len(x) == len(y):
        rows["sign"] = _sign_test(x, y)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")
    return table.reindex(columns=["estimate", "low", "high", "statistic", "p_value"])


def _mean_by_question(
    question: NDArray[np.intp], score: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean score of each triplet."""
    return np.bincount(question, weights=score) / np.bincount(question)


def _paired_t_test(a: NDArray[np.float64], b: NDArray[np.float64]) -> dict[str, float]:
    difference = a - b
    row = {"a": a.mean(), "b": b.mean(), "difference": difference.mean()}
    if len(a) < 2 or not difference.any():
        # Nothing to test: one triplet has no spread, and two equal models have no difference.
        same = {"low": 0.0, "high": 0.0, "t": 0.0, "p_value": 1.0, "effect_size": 0.0}
        one = dict.fromkeys(same, np.nan)
        return row | (same if len(a) > 1 else one) | {"n": len(a)}
    with _constant_values_allowed():
        test = stats.ttest_rel(a, b)
        low, high = test.confidence_interval(CONFIDENCE)
        effect = difference.mean() / difference.std(ddof=1)
    return row | {
        "low": low,
        "high": high,
        "t": test.statistic,
        "p_value": test.pvalue,
        "effect_size": effect,
        "n": len(a),
    }


@contextmanager
def _constant_values_allowed() -> Iterator[None]:
    """Values that are all equal need no warning: they have no spread, and t is infinite."""
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        yield


def _dimension_counts(fits: Sequence[Fit | int], name: str) -> NDArray[np.float64]:
    given: list[Any] = [fits] if isinstance(fits, Fit) else list(fits)
    counts = [fit.n_dimensions if isinstance(fit, Fit) else fit for fit in given]
    if len(counts) < 2 or not all(isinstance(count, int | np.integer) for count in counts):
        raise PyroviceError(
            f"{name}={counts!r}; expected fits of at least two seeds, or their numbers of "
            "dimensions, for example [44, 43, 45]."
        )
    return np.array(counts, float)


def unpaired(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    """Difference of means by the t-test, with its interval; missing without any spread."""
    row = {"estimate": x.mean() - y.mean()}
    if np.ptp(x) + np.ptp(y) == 0:
        return row | dict.fromkeys(("low", "high", "statistic", "p_value"), np.nan)
    with _constant_values_allowed():
        test = stats.ttest_ind(x, y)
        low, high = test.confidence_interval(CONFIDENCE)
    return row | {"low": low, "high": high, "statistic": test.statistic, "p_value": test.pvalue}


def _variance_ratio_test(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    if not x.var() * y.var():
        return {"estimate": np.nan}
    ratio = x.var(ddof=1) / y.var(ddof=1)
    under_equality = stats.f(len(x) - 1, len(y) - 1)
    tails = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
    return {
        "estimate": ratio,
        "low": ratio / under_equality.ppf(tails[1]),
        "high": ratio / under_equality.ppf(tails[0]),
        "statistic": ratio,
        "p_value": 2 * min(under_equality.cdf(ratio), under_equality.sf(ratio)),
    }


def _sign_test(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    fewer, different = int((x < y).sum()), int((x != y).sum())
    if not different:
        return {"estimate": np.nan}
    test = stats.binomtest(fewer, different)
    low, high = test.proportion_ci(CONFIDENCE)
    return {
        "estimate": fewer / different,
        "low": low,
        "high": high,
        "statistic": fewer,
        "p_value": test.pvalue,
    }
