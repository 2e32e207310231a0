"""Figures of a fit, as matplotlib figures and axes."""

from pyrovice.plot.convergence import convergence
from pyrovice.plot.dimensions import dimensions
from pyrovice.plot.prior_predictive import prior_predictive

__all__ = ["convergence", "dimensions", "prior_predictive"]
