"""The generative story (paper, "Formal setting" and "VICE")::

X       ~ prior                                     a weight per object and dimension
w, t, λ ~ people                                    what each has of their own, if people differ
p       = choice([X]₊, judgments; w, t, λ)          by default a softmax of similarities [X]₊ [X]₊ᵀ
odd | p ~ Categorical(p)                            which of the three objects is the odd one
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy, deepcopy
from functools import cached_property
from typing import Any

import pyro
import torch
from pyro import poutine
from torch import Tensor
from torch.nn import Module

from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError
from pyrovice.model.choices import Choice, DotProduct, log_probability, resolve_choice
from pyrovice.model.choices.kept_pairs import asked_kept
from pyrovice.model.judgments import Judgments
from pyrovice.model.parameters import OwnParameters
from pyrovice.model.people import Crowd, People, check_people, with_newcomers, without_strangers
from pyrovice.model.priors.entrywise import Entrywise
from pyrovice.model.priors.resolve import Prior, prior_of, resolve_prior
from pyrovice.model.structure import Structure, structure_of, surplus_dims
from pyrovice.storage.identity import name_of
from pyrovice.storage.registry import is_registered


class Model:
    """A plain Pyro model of odd-one-out judgments.

    Call it, or hand it to ``pyro.infer``: sites ``"X"`` (latent) and ``"odd"``
    (observed), plates ``"object"``, ``"dimension"`` and ``"triplet"``, and whatever sites
    the prior and the choice sample. To draw answers instead of observing them, wrap it in
    ``pyro.poutine.uncondition``; to see it, ``pyro.render_model(model)``.

    Parameters
    ----------
    prior : Prior
        Any of the kinds of prior that :func:`pyrovice.fit` takes.
    n_objects, dimensions : int
        Shape of the embedding.
    data : Triplets or Judgments, optional
        The judgments that the model observes unless it is called with others.
    choice : Choice
        Any of the kinds of choice that :func:`pyrovice.fit` takes.
    people : People, optional
        How people differ; by default all are of one mind.
    known_people : sequence, optional
        Labels that persons are numbered by, for `people` or a choice that asks who answered; by
        default the participants of `data`.

    Examples
    --------
    >>> import pyro, pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> model = pv.Model(pv.SpikeSlab(), data.n_objects, 7, data)
    >>> model
    Model(prior=SpikeSlab(spike=0.25, slab=1.0, pi=0.5, family='normal'), choice=DotProduct(),
          80 objects, 7 dimensions, 20,000 judgments)
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
        *,
        choice: Choice = DotProduct(),  # noqa: B008 (frozen)
        people: People | None = None,
        known_people: Sequence[Any] | None = None,
    ) -> None:
        # A module holds its parameters itself, and another fit must not go on from them.
        self.prior = resolve_prior(deepcopy(prior) if isinstance(prior, Module) else prior)
        if isinstance(data, Triplets):
            self.prior = prior_of(self.prior, data.names)
        self.choice = resolve_choice(choice)
        self.people = check_people(people)
        self.n_objects = n_objects
        self.dimensions = dimensions
        self.known_people: tuple[Any, ...] | None = None
        if self.people is not None or self.choice.asks_who_answered:
            if known_people is None and isinstance(data, Triplets):
                known_people = data.people()
                if self.people is not None:
                    self.people = without_strangers(self.people, known_people)
            self.known_people = tuple(known_people or ())
        self.asks_where = self.choice.asks_where
        self.answers = self.choice
        if self.people is not None:
            self.answers = Crowd(
                self.people, self.choice, self.known_people or (), n_objects, dimensions
            )
        self.is_code = not (_is_value(self.prior) and _is_value(self.choice))
        self.parameters = OwnParameters()
        # Values of pyrovice have no parameters to look after.
        self.parameters_in_use = self.parameters.in_use if self.is_code else nullcontext
        self.data = None if data is None else self.rows(data)

    def __call__(
        self, data: Triplets | Judgments | None = None, batch: Tensor | None = None
    ) -> Tensor:
        """Run the model on `data`, or on the rows `batch` of it."""
        X = self.embedding()
        if self.is_code and not self.structure.entrywise:
            self._declare_plates(X)
        judgments = self.judgments(data, X.device)
        shown = judgments if batch is None else judgments[batch]
        with self.parameters_in_use():
            odd = self.answers.odd(X.relu(), shown)
        if len(odd.batch_shape) > 1:
            # Dimensions left of "object" (particles, chains) stay left of it.
            odd = odd.left_of_answers()
        # A row that stands for several equal judgments counts as often.
        times = 1.0 if shown.weight is None else shown.weight
        with (
            pyro.plate("triplet", shown.total, subsample=shown.rows, dim=-1),
            poutine.scale(scale=times),
        ):
            return pyro.sample("odd", odd, obs=shown.odd)

    def embedding(self) -> Tensor:
        """Sample the prior: X, of shape (..., objects, dimensions)."""
        with self.parameters_in_use():
            X = self.prior(self.n_objects, self.dimensions)
        # What is not a tensor at all is refused when the structure is looked at.
        if not self.is_code or not isinstance(X, Tensor) or X.dim() <= 3 or not self._surplus:
            return X
        return X.reshape(*X.shape[: -2 - self._surplus], *X.shape[-2:])

    def _declare_plates(self, X: Tensor) -> None:
        """Have a site in the plates of objects and dimensions, if the prior has none.

        Pyro puts particles left of all plates that it sees, and everything here relies on their
        being left of these two.
        """
        with (
            poutine.block(hide=["object", "dimension"]),
            pyro.plate("object", self.n_objects, dim=-2),
            pyro.plate("dimension", self.dimensions, dim=-1),
        ):
            pyro.deterministic("X_rectified", X.relu())

    def choice_log_probability(
        self, sites: Mapping[str, Tensor], judgments: Triplets | Judgments
    ) -> Tensor:
        """Log-probability of each position being the odd one, given values of all sites.

        Whatever predicts, scores, simulates or checks asks here.

        Parameters
        ----------
        sites : mapping of str to Tensor
            ``"X"``, rectified or not, and every site that the choice samples.
        judgments : Triplets or Judgments
            What is asked; the answers make no difference. Where nobody is known to have been
            asked, it is the newcomer in `sites` (see :meth:`with_newcomers`), or else the typical
            person.

        Returns
        -------
        Tensor of shape (..., n, 3)

        Examples
        --------
        >>> import pyrovice as pv, torch
        >>> model = pv.Model(pv.SpikeSlab(), 3, 2)
        >>> X = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> model.choice_log_probability({"X": X}, pv.Triplets([[0, 1, 2]], [0])).exp()
        tensor([[0.1065, 0.1065, 0.7870]])
        """
        asked = self.rows(judgments, sites["X"].device)
        answers = self.answers
        if isinstance(answers, Crowd):
            answers = answers.meeting(sites)
        with self.parameters_in_use():
            return log_probability(answers, sites, asked)

    def choice_probability_in_stretches(
        self, sites: Mapping[str, Tensor], judgments: Judgments
    ) -> Iterator[tuple[slice, Tensor]]:
        """The probabilities themselves by rows, each (3, rows): all at once if need be."""
        # Millions of judgments take half of the time where the choice has a short cut.
        if self.people is None and hasattr(self.choice, "odd_in_stretches"):
            found = self.choice.odd_in_stretches(sites["X"].relu(), judgments)
            if found is not None:
                return found
        return iter([(slice(None), self.choice_log_probability(sites, judgments).mT.exp_())])

    def kept_probability(self, sites: Mapping[str, Tensor], thirds: Tensor) -> Tensor:
        """Mean over third objects of the probability that each pair is kept, (m, m).

        If people differ, by the typical person.
        """
        if hasattr(self.choice, "kept_probability"):
            X = sites["X"].relu()
            kept = self.choice.given(sites, X).kept_probability(X, thirds)
            # A function of the user's may have a site of that name too.
            lapse = sites.get("typical_lapse") if isinstance(self.answers, Crowd) else None
            return kept if lapse is None else kept * (1 - lapse) + lapse / 3
        return asked_kept(
            lambda asked: self.choice_log_probability(sites, asked), self.n_objects, thirds
        )

    def with_newcomers(
        self, drawn: Iterable[Mapping[str, Tensor]], n: int, seed: int
    ) -> Iterable[Mapping[str, Tensor]]:
        """`n` draws of all sites, each with somebody new from the population, if people differ."""
        if not isinstance(self.answers, Crowd):
            return drawn
        return with_newcomers(self.answers, drawn, n, seed)

    @property
    def sees_alike(self) -> bool:
        """Whether everybody sees the same embedding, however they answer."""
        return not isinstance(self.answers, Crowd) or self.answers.sees_alike

    @cached_property
    def _surplus(self) -> int:
        """Dims of size one that a prior leaves between particles and objects.

        They stand where the plates of the objects and dimensions would be, of a site that has
        these as event dims.
        """
        return surplus_dims(self)

    @cached_property
    def structure(self) -> Structure:
        """The latent sites, and how they hang together."""
        return structure_of(self)

    def with_dimensions(self, dimensions: int) -> Model:
        """The same model with another number of dimensions."""
        return self._with(dimensions, self.data)

    def with_data(self, data: Triplets | Judgments | None) -> Model:
        """The same model of other judgments, or of none."""
        return self._with(self.dimensions, data)

    def of_one_mind(self) -> Model:
        """The same model where everybody answers alike."""
        other = copy(self)
        other.people, other.answers = None, self.choice
        for computed in ("structure", "_surplus"):
            other.__dict__.pop(computed, None)
        return other

    def with_objects(self, prior: Prior, n_objects: int) -> Model:
        """The same model of other objects, with a prior of theirs and no judgments."""
        return self._with(self.dimensions, None, prior, n_objects)

    def relative(self, sites: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Draws of sites as they are reported.

        Weights of people are relative to everybody's, favours for places to their mean.
        """
        if hasattr(self.choice, "relative"):
            sites = self.choice.relative(sites)
        return self.answers.relative(sites) if isinstance(self.answers, Crowd) else sites

    def _with(
        self,
        dimensions: int,
        data: Triplets | Judgments | None,
        prior: Prior | None = None,
        n_objects: int | None = None,
    ) -> Model:
        other = Model(
            prior or self.prior,
            n_objects or self.n_objects,
            dimensions,
            None,
            choice=self.choice,
            people=self.people,
            known_people=self.known_people,
        )
        other.parameters = self.parameters
        if prior is None:
            # A module is copied where it is new, and here it is the same.
            other.prior = self.prior
        if other.is_code:
            other.parameters_in_use = self.parameters.in_use
        other.data = None if data is None else self.rows(data)
        return other

    def rows(self, data: Triplets | Judgments, device: torch.device | str = "cpu") -> Judgments:
        """Judgments with all that this model asks about them, a row each."""
        return Judgments.of(data, device, self.known_people, self.asks_where)

    def aggregated(self, data: Triplets, device: torch.device | str = "cpu") -> Judgments:
        """The same with one weighted row for equal ones, where that pays."""
        return Judgments.aggregated(data, device, self.known_people, self.asks_where)

    def judgments(
        self, data: Triplets | Judgments | None = None, device: torch.device | str = "cpu"
    ) -> Judgments:
        """The judgments that the model sees when it is called with `data`."""
        judgments = self.data if data is None else self.rows(data, device)
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

    def __repr__(self) -> str:
        prior = name_of(self.prior)
        people = "" if self.people is None else f"{self.people!r}, "
        data = "no judgments" if self.data is None else f"{self.data.total:,} judgments"
        return (
            f"Model(prior={prior}, choice={self.choice!r}, {people}{self.n_objects:,} objects, "
            f"{self.dimensions} dimension{'s' * (self.dimensions != 1)}, {data})"
        )


def _is_value(part: Any) -> bool:
    """Whether this is a value of pyrovice, whose structure is known."""
    return is_registered(part) or isinstance(part, Entrywise)
