"""The generative story (paper, "Formal setting" and "VICE")::

X       ~ prior                                     a weight per object and dimension
S       = [X]₊ [X]₊ᵀ                                the similarity of every two objects
odd | S ~ Categorical(softmax of the similarities of the pairs that are left)
"""

from __future__ import annotations

import pyro
import torch
from pyro import poutine
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError
from pyrovice.model.distributions import OddOneOut
from pyrovice.model.judgments import Judgments, choice_log_probability
from pyrovice.model.priors import Prior, resolve_prior


class Model:
    """A plain Pyro model of odd-one-out judgments.

    Call it, or hand it to ``pyro.infer``: sites ``"X"`` (latent) and ``"odd"``
    (observed), plates ``"object"``, ``"dimension"`` and ``"triplet"``. To draw
    answers instead of observing them, wrap it in ``pyro.poutine.uncondition``.

    Parameters
    ----------
    prior : Prior
        Any of the kinds of prior that :func:`pyrovice.fit` takes.
    n_objects, dimensions : int
        Shape of the embedding.
    data : Triplets or Judgments, optional
        The judgments that the model observes unless it is called with others.

    Examples
    --------
    >>> import pyro, pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> model = pv.Model(pv.SpikeSlab(), data.n_objects, 7, data)
    >>> trace = pyro.poutine.trace(model).get_trace()
    >>> trace.nodes["X"]["value"].shape, trace.nodes["odd"]["value"].shape
    (torch.Size([80, 7]), torch.Size([20000]))
    """

    def __init__(
        self,
        prior: Prior,
        n_objects: int,
        dimensions: int,
        data: Triplets | Judgments | None = None,
    ) -> None:
        self.prior = resolve_prior(prior)
        self.n_objects = n_objects
        self.dimensions = dimensions
        self.data = None if data is None else Judgments.of(data)

    def __call__(
        self, data: Triplets | Judgments | None = None, batch: Tensor | None = None
    ) -> Tensor:
        """Run the model on `data`, or on the rows `batch` of it."""
        X = self.prior(self.n_objects, self.dimensions)
        judgments = self._judgments(data, X.device)
        shown = judgments if batch is None else judgments[batch]
        with pyro.plate("triplet", shown.total, subsample=shown.rows, dim=-1):
            log_p = choice_log_probability(X.relu(), shown.pairs, shown.anchor)
            if X.dim() > 2:
                # Dimensions left of "object" (particles, chains) stay left of it.
                log_p = log_p.unsqueeze(-3)
            # A row that stands for several equal judgments counts as often.
            with poutine.scale(scale=1.0 if shown.weight is None else shown.weight):
                return pyro.sample("odd", OddOneOut(log_p), obs=shown.odd)

    def with_dimensions(self, dimensions: int) -> Model:
        """The same model with another number of dimensions."""
        return Model(self.prior, self.n_objects, dimensions, self.data)

    def _judgments(self, data: Triplets | Judgments | None, device: torch.device) -> Judgments:
        judgments = self.data if data is None else Judgments.of(data, device)
        if judgments is None:
            raise DataError(
                "This model has no judgments of its own (a loaded fit holds none): call it "
                "with some, model(triplets)."
            )
        if judgments.n_objects != self.n_objects:
            raise DataError(
                f"The judgments are of {judgments.n_objects} objects and the model of "
                f"{self.n_objects}."
            )
        return judgments
