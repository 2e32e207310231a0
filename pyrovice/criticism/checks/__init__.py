"""Posterior predictive checks: could these judgments have come from the fitted model?

Each check draws answers to the same questions from the posterior and compares a
statistic of the real answers with that of the drawn ones.

>>> import pyrovice as pv
>>> data = pv.load_example().triplets
>>> fit = pv.fit(data, dimensions=12)
>>> pv.checks.report(fit, data).flagged
[]
"""

from pyrovice.criticism.checks.all_checks import CheckReport, report
from pyrovice.criticism.checks.one_check import Check, check
from pyrovice.criticism.checks.statistics import (
    Accuracy,
    Agreement,
    CrossEntropy,
    Lapses,
    OddObjects,
    OwnWeights,
    ParticipantAccuracy,
    Positions,
    Statistic,
    Surprises,
)

__all__ = [
    "Accuracy",
    "Agreement",
    "Check",
    "CheckReport",
    "CrossEntropy",
    "Lapses",
    "OddObjects",
    "OwnWeights",
    "ParticipantAccuracy",
    "Positions",
    "Statistic",
    "Surprises",
    "check",
    "report",
]
