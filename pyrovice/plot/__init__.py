"""Figures of a fit, as matplotlib figures and axes."""

from pyrovice.plot.convergence import convergence
from pyrovice.plot.dimensions import dimensions

__all__ = ["convergence", "dimensions"]
