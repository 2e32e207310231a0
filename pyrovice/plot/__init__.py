"""Figures of fits, as matplotlib figures.

All of them draw where they are told to with ``ax=``: on these axes or, where a figure has
several panels, in their place. They return the figure, which notebooks show and
``figure.savefig("figure.pdf")`` writes.
"""

from pyrovice.plot.calibration import calibration
from pyrovice.plot.checks import checks
from pyrovice.plot.convergence import convergence
from pyrovice.plot.coverage import coverage
from pyrovice.plot.data_efficiency import data_efficiency
from pyrovice.plot.dimensions import dimensions
from pyrovice.plot.embedding import embedding
from pyrovice.plot.histograms import histograms
from pyrovice.plot.importance import importance
from pyrovice.plot.object_profile import object_profile
from pyrovice.plot.prior_predictive import prior_predictive
from pyrovice.plot.quantization import quantization
from pyrovice.plot.reproducibility import reproducibility
from pyrovice.plot.similarity import similarity
from pyrovice.plot.sweep import dimensions_by_seed, prior_grid
from pyrovice.plot.triplet import triplet

__all__ = [
    "calibration",
    "checks",
    "convergence",
    "coverage",
    "data_efficiency",
    "dimensions",
    "dimensions_by_seed",
    "embedding",
    "histograms",
    "importance",
    "object_profile",
    "prior_grid",
    "prior_predictive",
    "quantization",
    "reproducibility",
    "similarity",
    "triplet",
]
