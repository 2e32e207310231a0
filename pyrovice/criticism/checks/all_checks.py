"""All checks at once, as a table and in words."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyrovice.criticism.checks.one_check import Check, run_checks
from pyrovice.criticism.checks.statistics import statistics_for
from pyrovice.data.html_tables import Verdict, html_table
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError
from pyrovice.results.site_tables import INTERVAL

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport:
    """What all checks found; made by :func:`pyrovice.checks.report`.

    Attributes
    ----------
    checks : dict of str to Check
        By name.
    not_checked : dict of str to str
        What the judgments cannot tell, and why.
    alpha : float
        Probability of flagging anything if the model is right, shared by the checks.
    n, total : int
        How many judgments were looked at, and how many there are.
    in_sample : bool
        Whether they are those that were fitted.
    """

    checks: dict[str, Check]
    not_checked: dict[str, str]
    alpha: float
    n: int
    total: int
    in_sample: bool

    @property
    def level(self) -> float:
        """The tail area below which a check is flagged: alpha, shared equally."""
        return self.alpha / len(self.checks)

    @property
    def flagged(self) -> list[str]:
        """The checks that the data fail."""
        return [name for name, check in self.checks.items() if check.tail_area < self.level]

    @property
    def table(self) -> pd.DataFrame:
        """A row per check: the observed value, drawn ones, the tail area."""
        rows = {}
        for name, check in self.checks.items():
            low, high = np.quantile(check.replicated, INTERVAL)
            rows[name] = {
                "observed": check.observed.mean(),
                "drawn": check.replicated.mean(),
                "5 %": low,
                "95 %": high,
                "tail_area": check.tail_area,
                "flagged": name in self.flagged,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("check")

    def __repr__(self) -> str:
        lines = [
            self._looked_at(),
            self.table.to_string(float_format=lambda value: f"{value:.4g}"),
        ]
        if {"accuracy", "cross-entropy"} & set(self.checks):
            lines.append(
                "Accuracy and cross-entropy are those of single posterior draws, averaged. "
                "fit.evaluate averages the draws' predictions first, which usually scores better."
            )
        for name in self.flagged:
            lines.append(f"{name}: {self.checks[name].means}.")
        if not self.flagged:
            lines.append(f"Nothing is flagged at {self.alpha:.0%} over all checks.")
        for name, reason in self.not_checked.items():
            lines.append(f"Not checked: {name}, because {reason}.")
        return "\n".join(line if "\n" in line else textwrap.fill(line, 100) for line in lines)

    def _looked_at(self) -> str:
        some = f" of {self.total:,}" if self.n < self.total else ""
        lenient = " that were fitted, which makes every check lenient" if self.in_sample else ""
        return f"{self.n:,}{some} judgments{lenient}"

    def _repr_html_(self) -> str:
        rows = [
            [
                name,
                f"{row.observed:.4g}",
                f"{row.drawn:.4g} ({row['5 %']:.4g} to {row['95 %']:.4g})",
                f"{row.tail_area:.3f}",
                Verdict("bad" if row.flagged else "good"),
                self.checks[name].means if row.flagged else "",
            ]
            for name, row in self.table.iterrows()
        ]
        unknown = [f"Not checked: {name}, because {why}." for name, why in self.not_checked.items()]
        columns = ["check", "observed", "drawn from the fit", "tail area", "verdict", "meaning"]
        return html_table(self._looked_at(), columns, rows, unknown)


def report(
    fit: Fit, data: Triplets, *, draws: int = 500, seed: int = 0, alpha: float = 0.05
) -> CheckReport:
    """Everything that judgments can say against a fit.

    Parameters
    ----------
    fit : Fit
        The fit to check.
    data : Triplets
        The judgments: those that were fitted, or better others of the same people.
    draws : int
        How many posterior draws. A two-sided tail area is at least 2 / (draws + 1), so a
        stricter `alpha` needs more of them.
    seed : int
        The same seed gives the same report.
    alpha : float
        How often a right model may be flagged, over all checks together.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.split(0.8, 0.2, seed=0)
    >>> checked = pv.checks.report(pv.fit(train, dimensions=12), test)
    >>> checked.flagged
    []
    >>> list(checked.not_checked)
    ['participant accuracy', 'own weights']
    """
    if not 0 < alpha < 1:
        raise PyroviceError(f"alpha={alpha}; expected a number between 0 and 1.")
    statistics = statistics_for(fit)
    fewest = math.ceil(2 * len(statistics) / alpha)
    draws = whole(draws, "draws", least=fewest)
    checks, silent = run_checks(fit, data, statistics, draws, seed)
    return CheckReport(
        checks={check.name: check for check in checks},
        not_checked=silent,
        alpha=alpha,
        n=checks[0].n,
        total=len(data),
        in_sample=fit.was_fitted_to(data),
    )
