"""Figures of fits, as matplotlib figures.

All of them draw where they are told to with ``ax=``: on these axes or, where a figure has
several panels, in their place. They return the figure, which notebooks show and
``figure.savefig("figure.pdf")`` writes.
"""

from pyrovice.plot.check_histograms import checks
from pyrovice.plot.dimension_evidence import dimensionality
from pyrovice.plot.dimension_panels import dimensions
from pyrovice.plot.embedding_map import embedding
from pyrovice.plot.feature_shares import features
from pyrovice.plot.forecast_curves import forecast
from pyrovice.plot.group_differences import groups
from pyrovice.plot.importance_bars import importance
from pyrovice.plot.learning_curves import data_efficiency
from pyrovice.plot.matched_dimensions import side_by_side
from pyrovice.plot.object_bars import object_profile
from pyrovice.plot.people_map import people
from pyrovice.plot.person_profile import person
from pyrovice.plot.prior_choices import prior_predictive
from pyrovice.plot.quantization_curve import quantization
from pyrovice.plot.question_counts import coverage
from pyrovice.plot.rank_histograms import ranks
from pyrovice.plot.reliability_curve import calibration
from pyrovice.plot.seed_agreement import reproducibility
from pyrovice.plot.similarity_map import similarity
from pyrovice.plot.sweep_figures import dimensions_by_seed, prior_grid
from pyrovice.plot.training_curves import convergence
from pyrovice.plot.triplet_bars import triplet
from pyrovice.plot.weight_histograms import histograms

__all__ = [
    "calibration",
    "checks",
    "convergence",
    "coverage",
    "data_efficiency",
    "dimensionality",
    "dimensions",
    "dimensions_by_seed",
    "embedding",
    "features",
    "forecast",
    "groups",
    "histograms",
    "importance",
    "object_profile",
    "people",
    "person",
    "prior_grid",
    "prior_predictive",
    "quantization",
    "ranks",
    "reproducibility",
    "side_by_side",
    "similarity",
    "triplet",
]
