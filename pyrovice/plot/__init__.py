"""Figures of fits, as matplotlib figures and axes."""

from pyrovice.plot.checks import checks
from pyrovice.plot.convergence import convergence
from pyrovice.plot.dimensions import dimensions
from pyrovice.plot.prior_predictive import prior_predictive
from pyrovice.plot.sweep import dimensions_by_seed, prior_grid

__all__ = [
    "checks",
    "convergence",
    "dimensions",
    "dimensions_by_seed",
    "prior_grid",
    "prior_predictive",
]
