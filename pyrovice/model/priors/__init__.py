"""What people see in objects, before any data: priors on the embedding.

Three kinds serve as the ``prior`` of :func:`pyrovice.fit`:

1. any univariate ``pyro.distributions`` object, entry by entry:
   ``dist.Laplace(0., 0.3)``;
2. the values defined here: :class:`SpikeSlab`, :class:`LearnedSpikeSlab`,
   :class:`Horseshoe`, :class:`ARD`, :class:`CumulativeShrinkage`, :class:`Features`;
3. any callable ``prior(n_objects, dimensions)`` that opens the plates
   ``"object"`` (dim -2) and ``"dimension"`` (dim -1) and samples the site ``"X"``.

The prior is on X, and the likelihood sees [X]₊. A prior on the real line puts
part of its mass (half, if it is symmetric) below zero, where the rectifier turns
it into exact zeros: a weight can be credibly zero, and dimensions are kept or
dropped by how many weights are credibly not. Under a prior on positive numbers
the rectifier is idle: weights can be small but never zero, so that dimensions
are kept by their largest weight. Priors with parameters of their own report what
they learned in ``fit.hyperparameters()``.

:func:`predictive` shows what a prior implies for choices, and :func:`paper_grid` gives
the combinations that the paper chose from.
"""

from pyrovice.model.priors.ard import ARD
from pyrovice.model.priors.cumulative_shrinkage import CumulativeShrinkage
from pyrovice.model.priors.features import Features, learned_rows, steady_rate
from pyrovice.model.priors.grid import paper_grid
from pyrovice.model.priors.horseshoe import Horseshoe
from pyrovice.model.priors.learned_spike_slab import LearnedSpikeSlab
from pyrovice.model.priors.prior_predictive import PriorPredictive, predictive
from pyrovice.model.priors.resolve import Prior, prior_of, resolve_prior
from pyrovice.model.priors.spike_slab import SpikeSlab

__all__ = [
    "ARD",
    "CumulativeShrinkage",
    "Features",
    "Horseshoe",
    "LearnedSpikeSlab",
    "Prior",
    "PriorPredictive",
    "SpikeSlab",
    "learned_rows",
    "paper_grid",
    "predictive",
    "prior_of",
    "resolve_prior",
    "steady_rate",
]
