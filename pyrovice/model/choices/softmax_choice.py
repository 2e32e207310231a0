"""What all choices of pyrovice have in common: a softmax over how alike the three pairs are.

Similarities are divided by a temperature, an answer may be favoured for its place on the screen,
and a share of the answers may be given at random.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import pyro
import torch
from torch import Tensor

from pyrovice.data.places import places_of
from pyrovice.data.triplets import Triplets
from pyrovice.errors import ChoiceError, DataError
from pyrovice.model.choices.kept_pairs import pairs_kept
from pyrovice.model.choices.pairs import rule_out_anchors
from pyrovice.model.distributions import LEAST_LAPSE, LapsingOddOneOut, OddOneOut
from pyrovice.model.fixed_or_learned import Parameter, as_typed, is_learned, is_number, is_within
from pyrovice.model.judgments import Judgments


@dataclass(frozen=True, eq=False, repr=False)
class SoftmaxChoice:
    """A choice by how alike the three pairs are; subclasses say how alike.

    Parameters
    ----------
    temperature : float or distribution
        Similarities are divided by it.
    lapse : float or distribution
        The share of answers given at random among those that were allowed.
    position : three floats or distribution, optional
        What is added to the log-odds of an answer at the first, second and third place on the
        screen. Learned ones are relative to their mean.
    """

    temperature: Parameter = 1.0
    lapse: Parameter = 0.0
    position: Any = None

    asks_who_answered: ClassVar[bool] = False
    # The power of a factor of all weights by which similarities grow.
    degree: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self._check("temperature", 0.0, float("inf"), "a positive number", "dist.LogNormal(0, 0.3)")
        self._check("lapse", 0.0, 1.0, "a share from 0 to below 1", "dist.Beta(1, 20)")
        self._check_position()

    def _check(self, name: str, low: float, high: float, what: str, example: str) -> None:
        """Refuse a number outside the bounds, or a distribution that is not within them."""
        given = getattr(self, name)
        open_below = name == "temperature"
        if is_number(given) and (low < given if open_below else low <= given) and given < high:
            object.__setattr__(self, name, float(given))
        elif not is_within(given, low, high):
            text = as_typed(given) if is_learned(given) and not given.shape() else repr(given)
            raise ChoiceError(
                f"{type(self).__name__}({name}={text}); expected {what} to fix it, or a "
                f"distribution of such numbers to learn it, {name}={example}."
            )

    def _check_position(self) -> None:
        given = self.position
        if given is None or is_within(given, -float("inf"), float("inf")):
            return
        three = isinstance(given, tuple | list | np.ndarray) and len(given) == 3
        if three and all(map(is_number, given)):
            object.__setattr__(self, "position", tuple(map(float, given)))
            return
        raise ChoiceError(
            f"{type(self).__name__}(position={given!r}); expected None, three numbers for the "
            "three places, or a distribution to learn them, position=dist.Normal(0, 0.3)."
        )

    # ------------------------------------------------------------------ what is learned

    def learned(self) -> dict[str, Any]:
        """The distributions under which something is learned, by the name of its site."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if is_learned(value)}

    @property
    def samples_nothing(self) -> bool:
        """Whether everything is fixed."""
        return not self.learned()

    @property
    def asks_where(self) -> bool:
        """Whether answers depend on the places of the objects on the screen."""
        return self.position is not None

    def check_data(self, data: Triplets) -> None:
        """Refuse judgments that lack what this choice needs."""
        if self.asks_where and places_of(data) is None:
            raise DataError(
                "position= needs to know where each object stood on the screen, and these "
                "judgments do not say. Triplets.from_dataframe(table, objects=['left', 'middle', "
                "'right'], position='answer') keeps it, and so do formats with a place for each "
                "object; or give Triplets(trials=...) with place_1, place_2 and place_3. On the "
                "command line pyrovice convert table.csv -o judgments.csv "
                "--objects left,middle,right --position answer"
            )

    def drawn(self, X: Tensor) -> Self:
        """The same with a value for whatever is learned: samples its sites."""
        values = {}
        for name, prior in self.learned().items():
            if name == "position":
                three = prior.expand([3]).to_event(1)
                values[name] = pyro.sample(name, three, infer={"event_axes": ("place",)})
            else:
                values[name] = pyro.sample(name, prior)
        return self.given(values, X)

    def given(self, sites: Mapping[str, Tensor], X: Tensor) -> Self:
        """The same with these values for whatever is learned."""
        if self.samples_nothing:
            return self
        other, lead = copy(self), X.shape[:-2]
        values = self.relative({name: sites[name] for name in self.learned()})
        for name, value in values.items():
            shape = (*lead, 3) if name == "position" else (*lead, 1, 1)
            object.__setattr__(other, name, value.to(X).reshape(shape))
        return other

    def relative(self, sites: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Draws as they are reported: favours for places relative to their mean."""
        found = dict(sites)
        if is_learned(self.position) and "position" in found:
            found["position"] = found["position"] - found["position"].mean(-1, keepdim=True)
        return found

    # ------------------------------------------------------------------ how alike

    def similarity(self, X: Tensor, judgments: Judgments) -> Tensor:
        """How alike the pairs are that leave out each of the three objects, (..., 3, n)."""
        raise TypeError(f"{type(self).__name__} does not say how alike pairs are.")

    def all_similarities(self, X: Tensor) -> Tensor:
        """How alike all pairs of objects are, (..., objects, objects)."""
        raise TypeError(f"{type(self).__name__} does not say how alike pairs are.")

    def row_similarity(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        """As :meth:`similarity`, where each judgment has rows of X, (..., n, dimensions)."""
        raise TypeError(f"{type(self).__name__} does not say how alike pairs are.")

    # ------------------------------------------------------------------ answers

    def __call__(self, X: Tensor, judgments: Judgments) -> Tensor:
        """Log-probability that each of the three objects is the odd one, (..., n, 3)."""
        choice = self.drawn(X)
        return choice.answer(choice.similarity(X, judgments), judgments)

    def odd(self, X: Tensor, judgments: Judgments) -> OddOneOut:
        """The distribution of the answers."""
        choice = self.drawn(X)
        if isinstance(choice.temperature, Tensor) and choice.degree == 2:
            # The same as dividing similarities, of which there are more than weights.
            X = X * choice.temperature.rsqrt()
            object.__setattr__(choice, "temperature", 1.0)
        return choice.odd_given(choice.similarity(X, judgments), judgments)

    def answer(self, similarity: Tensor, judgments: Judgments) -> Tensor:
        """Log-probabilities, given how alike the pairs are, (..., n, 3)."""
        return self.odd_given(similarity, judgments, validate_args=False).logits

    def odd_given(
        self, similarity: Tensor, judgments: Judgments, *, validate_args: bool | None = None
    ) -> OddOneOut:
        """The same as a distribution; whatever is learned has a value by now."""
        if not isinstance(self.lapse, Tensor) and not self.lapse:
            scores = self._allowed(similarity, judgments)
            where_unknown = self.asks_where and judgments.places is None
            log_p = self._in_any_order(scores) if where_unknown else scores.log_softmax(-2)
            return OddOneOut(log_p.mT, validate_args=validate_args)
        p = self.before_lapses(similarity, judgments)
        lapse = torch.as_tensor(self.lapse).to(p).clamp(min=LEAST_LAPSE)
        lapse = lapse.reshape((*lapse.shape[:-2], 1))
        return LapsingOddOneOut(
            p, lapse, judgments.chance, judgments.anchor, validate_args=validate_args
        )

    def before_lapses(self, similarity: Tensor, judgments: Judgments) -> Tensor:
        """The probability of each answer of somebody who does not lapse, (..., n, 3)."""
        scores = self._allowed(similarity, judgments)
        if self.asks_where and judgments.places is None:
            return self._in_any_order(scores).exp().mT
        return scores.softmax(-2).mT

    def _allowed(self, similarity: Tensor, judgments: Judgments) -> Tensor:
        """Log-odds of the answers, -inf for those that are ruled out."""
        # Three long rows are normalised much faster than many short ones.
        return rule_out_anchors(self._scores(similarity, judgments), judgments, dim=-2)

    def _scores(self, similarity: Tensor, judgments: Judgments) -> Tensor:
        """Log-odds of the answers, as far as it is known where they stood, (..., 3, n)."""
        as_they_are = not isinstance(self.temperature, Tensor) and self.temperature == 1.0
        # The gradient of many products costs half as much as that of many quotients.
        sharpness = None if as_they_are else 1 / torch.as_tensor(self.temperature).to(similarity)
        if not self.asks_where or judgments.places is None:
            return similarity if sharpness is None else similarity * sharpness
        favour = torch.as_tensor(self.position).to(similarity)
        if judgments.by_place:
            added = favour.unsqueeze(-1)
        else:
            # Only differences count, and a product by two rows reads less than one by three.
            favour = favour[..., :2] - favour[..., 2:]
            at = judgments.place_indicators.to(similarity).flatten(1)
            added = (favour.unsqueeze(-2) @ at).squeeze(-2).unflatten(-1, (3, -1))
        if sharpness is None:
            return similarity + added
        return torch.addcmul(added, similarity, sharpness)

    def _in_any_order(self, scores: Tensor) -> Tensor:
        """Log-probabilities where nobody knows how objects stood: the mean over all six orders."""
        favour = torch.as_tensor(self.position).to(scores)
        each = [
            (scores + favour[..., list(order), None]).log_softmax(-2)
            for order in itertools.permutations(range(3))
        ]
        return torch.stack(each).logsumexp(0) - math.log(6)

    def kept_probability(self, X: Tensor, thirds: Tensor, temperature: float = 1.0) -> Tensor:
        """Mean over third objects, and places, of the probability that each pair is kept, (m, m).

        Similarities are divided by a further `temperature`, that of a person.
        """
        S = self.all_similarities(X) / (temperature * torch.as_tensor(self.temperature).squeeze())
        favours: Any = (0.0, 0.0, 0.0) if self.position is None else self.position
        orders = set(itertools.permutations(torch.as_tensor(favours).squeeze().tolist()))
        kept = sum(pairs_kept(S, thirds, order) for order in orders) / len(orders)
        return kept + torch.as_tensor(self.lapse).squeeze() * (1 / 3 - kept)

    # ------------------------------------------------------------------ as a value

    def _content(self) -> tuple[Any, ...]:
        # Pyro's distributions are equal only to themselves.
        given = (getattr(self, field.name) for field in fields(self))
        return (type(self).__name__, *map(as_typed, given))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SoftmaxChoice):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        usual = {field.name: as_typed(field.default) for field in fields(self)}
        given = {name: as_typed(getattr(self, name)) for name in usual}
        said = ", ".join(f"{name}={text}" for name, text in given.items() if text != usual[name])
        return f"{type(self).__name__}({said})"
