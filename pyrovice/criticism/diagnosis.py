"""How far a fit can be trusted, in a table and in plain words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from pyrovice.criticism.checks import CheckReport, report
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.criticism.findings import (
    Finding,
    calibrated,
    chains_agree,
    counted,
    importance_weights,
    nuts_agrees,
    predicts,
    recovers,
    seeds_agree,
    settled,
    stable_count,
)
from pyrovice.criticism.room_for_weights import room_for_weights
from pyrovice.data.html_tables import Verdict, html_table
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError
from pyrovice.inference.plan import check_data
from pyrovice.results.calibration import Calibration
from pyrovice.results.fit import Fit

# The advice where there is no other.
NO_OBJECTION = (
    "Nothing that was examined speaks against using this fit. Report the number of judgments, the "
    "seeds, and the spread of the number of dimensions over them."
)


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What :func:`pyrovice.diagnose` found.

    Attributes
    ----------
    findings : tuple of Finding
        In the order in which they were looked at. A verdict is ``"good"``, ``"look"``,
        ``"bad"`` or ``"for information"``.
    calibration : Calibration
        What the finding about probabilities is based on.
    checks : CheckReport
        What the finding about predictive checks is based on.
    """

    findings: tuple[Finding, ...]
    calibration: Calibration
    checks: CheckReport

    @property
    def table(self) -> pd.DataFrame:
        """A row per question."""
        rows = [(f.question, f.verdict, f.found, f.advice) for f in self.findings]
        columns = ["question", "verdict", "found", "advice"]
        return pd.DataFrame(rows, columns=columns).set_index("question")

    @property
    def advice(self) -> list[str]:
        """What to do, the worst first."""
        found = sorted(self.findings, key=lambda f: f.verdict != "bad")
        return [f.advice for f in found if f.verdict in ("bad", "look")]

    def __repr__(self) -> str:
        lines = []
        for f in self.findings:
            lines.append(f"{f.question} {f.verdict.upper()}")
            lines.append(textwrap.fill(f.found, 96, initial_indent="  ", subsequent_indent="  "))
        lines.append("What to do")
        todo = self.advice or [NO_OBJECTION]
        lines += [textwrap.fill(a, 96, initial_indent="- ", subsequent_indent="  ") for a in todo]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[f.question, Verdict(f.verdict), f.found] for f in self.findings]
        todo = [f"What to do: {advice}" for advice in self.advice or [NO_OBJECTION]]
        return html_table("How far to trust this fit", ["question", "verdict", "found"], rows, todo)


def diagnose(
    fit: Fit,
    data: Triplets,
    *,
    held_out: Triplets | None = None,
    others: Sequence[Fit] = (),
    dimensionality: Dimensionality | None = None,
    refits: int = 1,
    nuts_objects: int = 0,
    seed: int = 0,
) -> Diagnosis:
    """Say how far a fit can be trusted, and what to do.

    Parameters
    ----------
    fit : Fit
        The fit.
    data : Triplets
        The judgments that it was fitted to.
    held_out : Triplets, optional
        Judgments that it has not seen, for calibration and predictive checks.
    others : sequence of Fit
        Fits of the same data from other seeds: do they find the same dimensions?
    dimensionality : Dimensionality, optional
        What ``fit.dimensionality(data)`` found, to have it among the findings.
    refits : int
        How often to simulate answers from the fit and fit again; each refit takes as long
        as the fit. 0 for none. :func:`pyrovice.calibrate` does it, and says more.
    nuts_objects : int
        Compare the guide with NUTS on this many of the objects, which takes minutes for
        about ten. 0 for no comparison.
    seed : int
        Seed of everything that is drawn here.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.split(0.8, 0.2, seed=0)
    >>> fit = pv.fit(train, dimensions=12)
    >>> pv.diagnose(fit, train, held_out=test, refits=0).table.verdict.tolist()
    ['good', 'good', 'for information', 'good', 'good', 'good']
    """
    check_data(data, "data")
    if not fit.was_fitted_to(data):
        raise PyroviceError(
            "These are not the judgments that were fitted. Pass those, and judgments that the "
            "fit has not seen as held_out: pv.diagnose(fit, train, held_out=test)."
        )
    refits = whole(refits, "refits", least=0)
    sampled = fit.posterior.from_chains
    findings = [chains_agree(fit)] if sampled else [settled(fit), stable_count(fit)]
    if others:
        findings.append(seeds_agree([fit, *others]))
    if dimensionality is not None:
        findings.append(counted(dimensionality))
    if fit.fitted_guide is not None and not fit.posterior.is_point:
        findings.append(importance_weights(fit, data, seed))
    findings += room_for_weights(fit)
    unseen = data if held_out is None else held_out
    calibration = fit.calibration(unseen)
    checks = report(fit, unseen, seed=seed)
    findings += [calibrated(calibration, held_out is not None), predicts(checks)]
    if refits and not sampled:
        findings += recovers(fit, data, refits, seed)
    if nuts_objects and not sampled:
        objects = whole(nuts_objects, "nuts_objects", least=4)
        findings.append(nuts_agrees(fit, data, objects, seed))
    return Diagnosis(tuple(findings), calibration, checks)
