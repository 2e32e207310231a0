"""The people of one data set: their traits as Pyro sites, and how each of them answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError
from pyrovice.model.choices.pairs import rule_out_anchors
from pyrovice.model.distributions import LEAST_LAPSE, LapsingOddOneOut, LogitNormal, OddOneOut
from pyrovice.model.judgments import Judgments, pair_ids, person_numbers
from pyrovice.model.people.groups import grouped
from pyrovice.model.people.people import People
from pyrovice.model.people.traits import Traits, of_each, seen, seen_by_all, seen_rows

# Deviations of their own, for so many people, objects and dimensions at most.
MOST_OWN = 2_000_000
# Matrices of all similarities for everybody pay up to about so many entries for each judgment: with
# 80 they were three times as fast, for 36 to 200 objects and 18 to 60 dimensions on one core.
ENTRIES_PER_JUDGMENT = 200
# They are never formed beyond this many entries (256 MB in float32).
MOST_SIMILARITIES = 2**26
# What a lapse rate is learned under: most people answer at random in less than a tenth.
TYPICAL_LAPSE = (1.0, 20.0)
# What is drawn for somebody new, by the site of the people who are known.
NEW = {
    "person_weight": "new_weight",
    "person_temperature": "new_temperature",
    "person_lapse": "new_lapse",
    "person_own": "new_own",
}
# The argument of People that a site belongs to, and the site of its spread.
TRAIT = {
    "person_weight": "weights",
    "person_temperature": "temperature",
    "person_lapse": "lapse",
    "person_own": "own",
}
SPREAD = {
    "person_weight": "weight_spread",
    "person_temperature": "temperature_spread",
    "person_lapse": "lapse_spread",
    "person_own": "own_spread",
}


class Crowd:
    """A choice in which everybody answers for themselves.

    Parameters
    ----------
    people : People
        What differs.
    choice : Choice
        How each of them chooses.
    known : sequence
        The labels that persons are numbered by.
    n_objects, dimensions : int
        Shape of the embedding.
    """

    asks_who_answered = True

    def __init__(
        self, people: People, choice: Any, known: Sequence[Any], n_objects: int, dimensions: int
    ) -> None:
        self.people, self.choice = people, choice
        self.size, self.n_objects, self.dimensions = len(known), n_objects, dimensions
        self.groups, self.group = grouped(people, known)
        self.newcomer: Mapping[str, Tensor] = {}
        self.is_relative = True
        self.remembered: tuple[Judgments, Tensor, Tensor, Tensor | None] | None = None
        self.held: dict[str, Tensor] | None = None
        if people.varies("lapse") and getattr(choice, "lapse", 0.0) != 0.0:
            raise PyroviceError(
                f"Both {people!r} and {choice!r} have lapses; leave one of them out."
            )
        entries = self.size * n_objects * dimensions
        if people.varies("own") and entries > MOST_OWN:
            raise PyroviceError(
                f"own={people.own!r} asks for deviations of {self.size:,} people from {n_objects:,}"
                f" objects in {dimensions} dimensions, {entries:,} numbers; up to {MOST_OWN:,} can "
                "be learned. Use weights=True alone, or fewer dimensions."
            )

    def __repr__(self) -> str:
        return f"{self.people!r} with {self.choice!r}"

    @property
    def sees_alike(self) -> bool:
        """Whether everybody sees the same embedding, and differs in how they answer only."""
        return not (self.people.varies("weights") or self.people.varies("own"))

    def meeting(self, newcomer: Mapping[str, Tensor]) -> Crowd:
        """The same, with somebody who answers where nobody is known: else the typical person."""
        other = copy(self)
        other.newcomer = newcomer
        return other

    def as_given(self) -> Crowd:
        """The same, with traits that are taken as they are and not relative to everybody's mean."""
        other = copy(self)
        other.is_relative = False
        return other

    def holding(self, sites: Mapping[str, Tensor]) -> Crowd:
        """The same with traits that are given, so that none are sampled."""
        other = copy(self)
        other.held = {site: sites[site] for site in (*NEW, "typical_lapse") if site in sites}
        return other

    def remembering(self, X: Tensor, judgments: Judgments) -> Crowd:
        """The same, with what does not depend on people computed once, for many questions."""
        other = copy(self)
        if self.sees_alike and getattr(self.choice, "samples_nothing", False):
            similarity = self.choice.similarity(X, judgments)
            answers = None
            if not self.people.varies("temperature"):
                answers = self._answers(self.choice, similarity, judgments)
            other.remembered = judgments, self._who(judgments), similarity, answers
        return other

    def relative(self, sites: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights and temperatures divided by their geometric mean over people, groups likewise.

        What all people have in common is X's: without this, everybody's temperature could rise
        with the scale of X, and neither would be known.
        """
        found = dict(sites)
        for site, axis in (("person_weight", -2), ("person_temperature", -1)):
            if self.is_relative and site in found and self.size:
                common = found[site].log().mean(axis, keepdim=True)
                found[site] = found[site] / common.exp()
                if site == "person_weight" and "group_log_weight" in found:
                    found["group_log_weight"] = found["group_log_weight"] - common
        return found

    def spread(self, site: str, sites: Mapping[str, Tensor]) -> Tensor:
        """How much people differ in a trait, as it is fixed or given."""
        learned = SPREAD[site]
        if learned in sites:
            return sites[learned]
        return torch.tensor(self.people.spread(TRAIT[site]))

    def __call__(self, X: Tensor, judgments: Judgments) -> Tensor:
        """Log-probability that each object is the odd one, (..., n, 3)."""
        return self.odd(X, judgments).logits

    def odd(self, X: Tensor, judgments: Judgments) -> OddOneOut:
        """The distribution of the answers."""
        if X.shape[-1] != self.dimensions:
            # Of a model that cannot be pruned, some dimensions only.
            pruned = copy(self)
            pruned.dimensions = X.shape[-1]
            return pruned.odd(X, judgments)
        # The prior has opened these plates before, and Pyro takes each of them once.
        with poutine.block(hide=["object", "dimension"]):
            sites = self._sample() if self.held is None else self.held
        traits = self._with_somebody(self.relative(sites), X)
        if judgments.person is None:
            judgments = judgments.by()
        who = self._who(judgments)
        answers = self._choose(X, judgments, who, traits)
        if not self.people.varies("lapse"):
            return OddOneOut(answers)
        assert traits.lapse is not None
        lapse = of_each(traits.lapse.clamp(min=LEAST_LAPSE), who)
        return LapsingOddOneOut(answers, lapse, judgments.chance, judgments.anchor)

    # ------------------------------------------------------------------ traits

    def _sample(self) -> dict[str, Tensor]:
        """Every trait of everybody who is known, and what is learned about all of them."""
        people, sites = self.people, {}
        columns = pyro.plate("dimension", self.dimensions, dim=-1)
        everybody = pyro.plate("person", self.size, dim=-1)
        if people.varies("weights"):
            with columns:
                spread = _row(_learned("weight_spread", people.spread("weights")), self.dimensions)
            centre = self._group_means(spread)
            with everybody:
                weight = dist.LogNormal(centre, spread).to_event(1)
                sites["person_weight"] = _sample("person_weight", weight, "dimension")
        if people.varies("temperature"):
            spread = _learned("temperature_spread", people.spread("temperature"))
            with everybody:
                sites["person_temperature"] = pyro.sample(
                    "person_temperature", dist.LogNormal(torch.zeros_like(spread), spread)
                )
        if people.varies("lapse"):
            typical = pyro.sample("typical_lapse", dist.Beta(*TYPICAL_LAPSE))
            sites["typical_lapse"] = typical
            spread = _learned("lapse_spread", people.spread("lapse"))
            with everybody:
                sites["person_lapse"] = pyro.sample("person_lapse", lapses(typical, spread))
        if people.varies("own"):
            with columns:
                spread = _row(_learned("own_spread", people.spread("own")), self.dimensions)
            scale = spread.unsqueeze(-2)
            scale = scale.expand(*scale.shape[:-2], self.n_objects, self.dimensions)
            with everybody:
                own = dist.Normal(torch.zeros_like(scale), scale).to_event(2)
                sites["person_own"] = _sample("person_own", own, "object", "dimension")
        return sites

    def _group_means(self, spread: Tensor) -> Tensor:
        """The mean log-weight that is expected of each person, (..., people or 1, dimensions)."""
        if self.group is None:
            return torch.zeros_like(spread)
        with pyro.plate("group", len(self.groups), dim=-1):
            means = dist.Normal(torch.zeros_like(spread), spread).to_event(1)
            mean = _sample("group_log_weight", means, "dimension")
        # Those in no group come last, and have the mean of all.
        nobody = torch.zeros_like(mean[..., :1, :])
        return torch.cat([mean, nobody], -2).index_select(-2, self.group.to(mean.device))

    def _with_somebody(self, sites: dict[str, Tensor], X: Tensor) -> Traits:
        """The traits, with a last person for judgments of nobody who is known."""
        lead = X.shape[:-2]
        typical = sites.get("typical_lapse")
        one = X.new_ones(())
        usual: dict[str, Tensor] = {
            "person_weight": one.expand(self.dimensions),
            "person_temperature": one,
            "person_own": one.new_zeros(()).expand(self.n_objects, self.dimensions),
        }
        if typical is not None:
            usual["person_lapse"] = _filling(typical, lead)
        found: dict[str, Tensor | None] = dict.fromkeys(NEW)
        for site, values in sites.items():
            if site not in NEW:
                continue
            last = self.newcomer.get(NEW[site], usual[site])
            shape = last.shape[-_event_dim(site) :] if _event_dim(site) else ()
            known = _filling(values, (*lead, self.size, *shape))
            last = last.to(known).expand((*lead, *shape)).unsqueeze(-1 - _event_dim(site))
            found[site] = torch.cat([known, last], -1 - _event_dim(site))
        weight, temperature, lapse, own = found.values()
        return Traits(weight, temperature, lapse, own)

    # ------------------------------------------------------------------ answers

    def _who(self, judgments: Judgments) -> Tensor:
        """The numbers of those who answered; the last one stands for whoever is not known."""
        if self.remembered is not None and self.remembered[0] is judgments:
            return self.remembered[1]
        assert judgments.person is not None
        return judgments.person.remainder(self.size + 1)

    def _choose(self, X: Tensor, judgments: Judgments, who: Tensor, traits: Traits) -> Tensor:
        """What the choice says of what each person sees: as :meth:`_answers` has it."""
        temperature = traits.temperature
        each = None if temperature is None else of_each(1 / temperature, who)
        if not hasattr(self.choice, "similarity"):
            log_p = self._ask_a_function(X, judgments, who, traits, each)
            return log_p.exp() if self.people.varies("lapse") else log_p
        choice = self.choice.drawn(X)
        if self.remembered is not None and self.remembered[0] is judgments:
            _, _, similarity, answers = self.remembered
            if answers is not None:
                return answers
        elif traits.weight is None and traits.own is None:
            similarity = choice.similarity(X, judgments)
        else:
            similarity = self._similarity(choice, X, judgments, who, traits)
        if each is not None:
            similarity = similarity * each.unsqueeze(-2)
        return self._answers(choice, similarity, judgments)

    def _answers(self, choice: Any, similarity: Tensor, judgments: Judgments) -> Tensor:
        """Log-probabilities of the answers; where people lapse, probabilities before they do."""
        if self.people.varies("lapse"):
            return choice.before_lapses(similarity, judgments)
        return choice.answer(similarity, judgments)

    def _similarity(
        self, choice: Any, X: Tensor, judgments: Judgments, who: Tensor, traits: Traits
    ) -> Tensor:
        """How alike the pairs are to whoever was asked, (..., 3, n)."""
        m = self.n_objects
        entries = (self.size + 1) * m * m
        if entries <= min(ENTRIES_PER_JUDGMENT * len(judgments), MOST_SIMILARITIES):
            # Everybody's similarities of all pairs at once: few objects, many judgments.
            of_all = choice.all_similarities(seen_by_all(X, traits)).flatten(-3)
            return of_all.index_select(-1, (who * m * m + judgments.pairs).flatten()).unflatten(
                -1, judgments.pairs.shape
            )
        # Those of known people row by row, and all others from one embedding.
        known, others, back = judgments.told
        parts = []
        if len(known):
            parts.append(self._of_known(choice, X, known, traits))
        if len(others):
            somebody = seen(X, self.size, traits)
            parts.append(choice.similarity(somebody, others))
        return parts[0] if len(parts) == 1 else torch.cat(parts, -1).index_select(-1, back)

    def _of_known(self, choice: Any, X: Tensor, known: Judgments, traits: Traits) -> Tensor:
        """How alike the pairs are to people who are known, each judgment with rows of its own."""
        weight = traits.weight
        is_plain = weight is not None and traits.own is None and X.dim() == 2
        if is_plain and hasattr(choice, "weighted_similarity"):
            return choice.weighted_similarity(X, weight, known)
        assert known.person is not None
        return choice.row_similarity(*seen_rows(X, known.objects, known.person, traits))

    def _ask_a_function(
        self, X: Tensor, judgments: Judgments, who: Tensor, traits: Traits, each: Tensor | None
    ) -> Tensor:
        """Log-probabilities by a user's function, which knows one embedding: every judgment has its
        own three objects, as its person sees them."""
        shown = judgments
        if traits.weight is not None or traits.own is not None:
            n = len(judgments)
            rows = seen_rows(X, judgments.objects, who, traits)
            X = torch.cat(rows, -2)
            first = torch.arange(n, device=X.device)
            own = torch.stack([first, first + n, first + 2 * n], -1)
            shown = judgments.about(pair_ids(own, 3 * n), 3 * n)
        log_p = self.choice(X, shown)
        if each is None:
            return log_p
        # A finite number in place of -inf: its derivative by the temperature is infinite.
        tempered = log_p.clamp(min=torch.finfo(log_p.dtype).min / 1e6) * each.unsqueeze(-1)
        return rule_out_anchors(tempered, judgments, dim=-1).log_softmax(-1)


def lapses(typical: Tensor, spread: Tensor) -> dist.TorchDistribution:
    """Lapse rates around a typical one, Normal in their logits."""
    return LogitNormal(typical.logit(), spread)


def _filling(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Values in this shape, the same for every particle if there is only one of them."""
    one_each = values.numel() == math.prod(shape)
    return values.reshape(shape) if one_each else values.expand(shape)


def _event_dim(site: str) -> int:
    return {"person_weight": 1, "person_own": 2}.get(site, 0)


def _learned(name: str, spread: Any) -> Tensor:
    """A spread that is sampled, or one that is fixed."""
    if isinstance(spread, dist.Distribution):
        return pyro.sample(name, spread)
    return torch.tensor(spread)


def _row(spread: Tensor, dimensions: int) -> Tensor:
    """One spread per dimension, as the event of a person, (..., 1, dimensions)."""
    if not spread.dim():
        return spread.expand(dimensions)
    return spread.unsqueeze(-2) if spread.dim() > 1 else spread


def _sample(name: str, fn: dist.TorchDistribution, *axes: str) -> Tensor:
    """Sample a site whose event runs over these axes."""
    return pyro.sample(name, fn, infer={"event_axes": axes})


def judgments_by_person(data: Triplets, known: Sequence[Any] | None) -> tuple[int, ...]:
    """How many judgments there are of each of the people who are known, if any are."""
    if known is None:
        return ()
    number = person_numbers(data, known)
    return tuple(np.bincount(number[number >= 0], minlength=len(known)).tolist())
