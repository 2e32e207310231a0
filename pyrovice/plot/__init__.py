"""Figures of fits, as matplotlib figures and axes."""

from pyrovice.plot.calibration import calibration
from pyrovice.plot.checks import checks
from pyrovice.plot.convergence import convergence
from pyrovice.plot.coverage import coverage
from pyrovice.plot.data_efficiency import data_efficiency
from pyrovice.plot.dimensions import dimensions
from pyrovice.plot.prior_predictive import prior_predictive
from pyrovice.plot.quantization import quantization
from pyrovice.plot.reproducibility import reproducibility

__all__ = [
    "calibration",
    "checks",
    "convergence",
    "data_efficiency",
    "dimensions",
    "prior_predictive",
    "quantization",
    "reproducibility",
]
__all__ = ["checks", "convergence", "coverage", "dimensions", "prior_predictive"]
from pyrovice.plot.sweep import dimensions_by_seed, prior_grid

__all__ = [
    "checks",
    "convergence",
    "dimensions",
    "dimensions_by_seed",
    "prior_grid",
    "prior_predictive",
]
