"""One check: a statistic of the real answers among those of drawn ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.criticism.checks.statistics import Answers, CannotTellError, Probabilities, Statistic
from pyrovice.data.roles import fair_sample
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PyroviceError
from pyrovice.results.prediction import draw_answers, random_answers
from pyrovice.results.site_tables import INTERVAL

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

Function = Callable[[Answers, Probabilities], float]

# More judgments than this tell no more; whole triplets are chosen, so repeats stay together.
MOST_JUDGMENTS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """A statistic of the real answers and of answers drawn from the fit.

    Attributes
    ----------
    name : str
        The statistic.
    means : str
        What it would mean if the two disagree.
    observed : array of shape (draws,)
        The statistic of the real answers, given each posterior draw. It is the same
        number every time, unless it depends on the probabilities too.
    replicated : array of shape (draws,)
        The statistic of the answers drawn from each posterior draw.
    one_sided : bool
        Whether only a large value is a misfit.
    details : DataFrame or None
        By object, position or participant: `observed`, `expected` and `sd` in numbers of
        answers, and `z`, their difference in standard deviations. For own weights, `z` of each
        participant and dimension: above zero who weighs it more than the model says.
    n : int
        How many judgments were looked at.
    remedy : str
        What to fit again with if the two disagree, as it is typed; empty where nothing is known.
    """

    name: str
    means: str
    observed: NDArray[np.float64]
    replicated: NDArray[np.float64]
    one_sided: bool
    details: pd.DataFrame | None
    n: int
    remedy: str = ""

    @property
    def tail_area(self) -> float:
        """How often drawn answers are at least as extreme as the real ones.

        It is like a p-value, but for data that were fitted it is conservative, the more so
        the more the fit adapted to them: a value well above 0.05 proves nothing.
        """
        draws = len(self.observed)
        above = (1 + np.sum(self.replicated >= self.observed)) / (1 + draws)
        below = (1 + np.sum(self.replicated <= self.observed)) / (1 + draws)
        return float(above if self.one_sided else min(1.0, 2 * min(above, below)))

    def __repr__(self) -> str:
        low, high = np.quantile(self.replicated, INTERVAL)
        return (
            f"Check({self.name}: {self.observed.mean():.4g}, drawn {low:.4g} to {high:.4g}, "
            f"tail area {self.tail_area:.3f})"
        )


class Custom(Statistic):
    """A function that the user wrote."""

    means = "the answers differ from drawn ones in your statistic"

    def __init__(self, function: Function) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "custom")  # type: ignore[misc]

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return float(self.function(odd, p))


def check(
    fit: Fit,
    data: Triplets,
    statistic: type[Statistic] | Function,
    *,
    draws: int = 500,
    seed: int = 0,
) -> Check:
    """Compare a statistic of the real answers with that of answers drawn from a fit.

    Parameters
    ----------
    fit : Fit
        The fit to check.
    data : Triplets
        The judgments: those that were fitted, or better others.
    statistic : Statistic class or function
        One of :mod:`pyrovice.checks`, or a function ``statistic(odd, probabilities)``
        of the answers (n,) and the probabilities (n, 3) that a posterior draw gives
        them, which returns a number.
    draws : int
        How many posterior draws.
    seed : int
        The same seed gives the same check.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> fit = pv.fit(data, dimensions=12)
    >>> def first_chosen(odd, probabilities):
    ...     return (odd == 0).mean()
    >>> pv.checks.check(fit, data, first_chosen).tail_area > 0.05
    True
    """
    if isinstance(statistic, type) and issubclass(statistic, Statistic):
        made, silent = run_checks(fit, data, [statistic], draws, seed)
        if silent:
            raise DataError(f"{statistic.name} cannot be checked: {silent[statistic.name]}.")
        return made[0]
    if not callable(statistic):
        raise TypeError(
            f"statistic={statistic!r}; expected one of pv.checks, for example "
            "pv.checks.Agreement, or a function of (odd, probabilities)."
        )
    return run_checks(fit, data, [Custom(cast(Function, statistic))], draws, seed)[0][0]


def run_checks(
    fit: Fit,
    data: Triplets,
    statistics: Sequence[type[Statistic] | Statistic],
    draws: int,
    seed: int,
) -> tuple[list[Check], dict[str, str]]:
    """All checks that the judgments allow, and why others are not possible."""
    draws = whole(draws, "draws", least=20)
    data = fair_sample(_of_these_objects(fit, data), "a check")
    data = _a_large_enough_part(data, seed)
    ready: list[Statistic] = []
    silent = {}
    for statistic in statistics:
        try:
            ready.append(statistic.of(fit, data) if isinstance(statistic, type) else statistic)
        except CannotTellError as reason:
            silent[statistic.name] = str(reason)
    observed, replicated = np.empty((2, len(ready), draws))
    rng = random_answers(seed)
    asked = fit.model.judgments(data)
    mean = np.zeros((len(data), 3))
    for i, sites in enumerate(fit.posterior.each(draws, seed)):
        p = fit.model.choice_log_probability(sites, asked).exp().numpy()
        drawn = draw_answers(p, rng)
        for j, value in enumerate(ready):
            observed[j, i], replicated[j, i] = value.of_both(data.odd, drawn, p)
        mean += p
    checks = [
        Check(
            name=value.name,
            means=value.means,
            observed=observed[j],
            replicated=replicated[j],
            one_sided=value.one_sided,
            details=value.details(data.odd, mean / draws),
            n=len(data),
            remedy=value.remedy,
        )
        for j, value in enumerate(ready)
    ]
    return checks, silent


def _of_these_objects(fit: Fit, data: Triplets) -> Triplets:
    if not isinstance(data, Triplets):
        raise TypeError(f"data is a {type(data).__name__}; expected Triplets.")
    if data.n_objects != len(fit.names) or (data.is_named and data.names != fit.names):
        raise DataError(
            "These judgments are of other objects than the fit, or of the same in another "
            "order; read them with names=fit.names."
        )
    if not fit.posterior.shape[1]:
        raise PyroviceError("This fit has no dimensions, so it predicts nothing to check.")
    return data


def _a_large_enough_part(data: Triplets, seed: int) -> Triplets:
    if len(data) <= MOST_JUDGMENTS:
        return data
    return data.split(MOST_JUDGMENTS / len(data), seed=seed)[0]
