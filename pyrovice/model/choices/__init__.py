"""How people choose the odd one, given what they see: the likelihood, as a value.

Two kinds serve as the ``choice`` of :func:`pyrovice.fit`:

1. the values defined here: :class:`DotProduct`, the paper's; :class:`Cosine`,
   :class:`Euclidean` and :class:`Contrast`, which see other similarities. All of them take a
   `temperature`, a `lapse` rate and a favour for a `position` on the screen: a number fixes it, a
   distribution learns it;
2. any function ``choice(X, judgments)`` of the rectified embedding, of shape (..., objects,
   dimensions), and the judgments, with ``.pairs``, ``.anchor``, ``.person`` and ``.places``, the
   places of the three objects on the screen if the data have them. It returns the
   log-probability of each position being the odd one, (..., n, 3), and may ``pyro.sample`` sites
   of its own, outside the plate ``"triplet"``. Anchors are ruled out by the model.

:func:`similarities` gives the dot products of the three pairs of every judgment, the fast way.

Examples
--------
People who answer at random in a share of the judgments, and how large it is:

>>> import pyro, pyro.distributions as dist, torch
>>> import pyrovice as pv
>>> data = pv.load_example().triplets.subset(4000, seed=0)
>>> fit = pv.fit(data, choice=pv.choices.DotProduct(lapse=dist.Beta(1.0, 20.0)), dimensions=12)
>>> bool(fit.hyperparameters().loc[("lapse", "all"), "5 %"] < 0.05)
True

The same by hand:

>>> def lapses(X, judgments):
...     lapse = pyro.sample("lapse", dist.Beta(1.0, 20.0))
...     log_p = pv.choices.similarities(X, judgments).log_softmax(-1)
...     return torch.logaddexp(log_p + torch.log1p(-lapse), torch.log(lapse / 3))
>>> short = pv.Training(schedule=pv.Anneal(steps=200), stop=pv.MaxEpochs(200))
>>> pv.fit(data, choice=lapses, dimensions=12, training=short).site("lapse").dims
('chain', 'draw')
"""

from pyrovice.model.choices.contrast import Contrast, Euclidean
from pyrovice.model.choices.cosine import Cosine
from pyrovice.model.choices.dot_product import DotProduct
from pyrovice.model.choices.pairs import similarities
from pyrovice.model.choices.resolve import (
    Choice,
    check_choice_of,
    log_probability,
    resolve_choice,
)

__all__ = [
    "Choice",
    "Contrast",
    "Cosine",
    "DotProduct",
    "Euclidean",
    "check_choice_of",
    "log_probability",
    "resolve_choice",
    "similarities",
]
