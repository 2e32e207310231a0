"""Figures of a fit, as matplotlib figures and axes."""

from pyrovice.plot.checks import checks
from pyrovice.plot.convergence import convergence
from pyrovice.plot.coverage import coverage
from pyrovice.plot.dimensions import dimensions
from pyrovice.plot.prior_predictive import prior_predictive

__all__ = ["checks", "convergence", "coverage", "dimensions", "prior_predictive"]
