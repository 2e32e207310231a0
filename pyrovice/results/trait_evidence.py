"""What the answers of people say about their traits: exactly, and to second order.

The traits of a person stand on the line where they are Normal: weights and temperatures as
logarithms, lapse rates as logits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pyrovice.model.choices import log_probability
from pyrovice.model.distributions import OddOneOut
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.model.people.crowd import Crowd

# How far a trait is moved, on the line, to see what the answers say of it.
SMALL = 0.02
# Entries held at once of the derivatives of all answers.
MOST_AT_ONCE = 2**24


@dataclass(frozen=True)
class Evidence:
    """What the answers say of all traits u of a person, on the line: exp(h·u − uᵀJu/2).

    Attributes
    ----------
    precision : Tensor of shape (people, traits, traits)
        J, the Fisher information.
    shift : Tensor of shape (people, traits)
        h.
    """

    precision: Tensor
    shift: Tensor

    def log_density(self, u: Tensor) -> Tensor:
        """Of everybody's traits, but for a constant, (people,)."""
        squares = ((self.precision @ u.unsqueeze(-1)).squeeze(-1) * u).sum(-1)
        return (self.shift * u).sum(-1) - squares / 2


class Answers:
    """How probable the answers of everybody are, given their traits on the line.

    Parameters
    ----------
    model : Model
        With the judgments that it observes.
    sites : dict of str to Tensor
        Everything else that decides the answers.
    traits : list of str
        The sites of the traits, whose columns follow each other.
    """

    def __init__(self, model: Model, sites: dict[str, Tensor], traits: list[str]) -> None:
        assert isinstance(model.answers, Crowd)
        self.sites, self.traits = sites, traits
        # Those of nobody who is known say nothing about anybody.
        self.known = model.judgments().told[0]
        self.X = sites["X"].relu()
        self.crowd = model.answers.as_given().remembering(self.X, self.known)
        self.samples_nothing = getattr(self.crowd.choice, "samples_nothing", False)
        self.times = torch.ones(len(self.known))
        if self.known.weight is not None:
            self.times = self.known.weight.cpu()

    def __len__(self) -> int:
        return len(self.known)

    def odd(self, u: Tensor, asked: Judgments) -> OddOneOut:
        """The distribution of the answers."""
        given = self.sites | off_the_line(u, self.sites, self.traits)
        if self.samples_nothing:
            # Without Pyro, which takes as long as the arithmetic where answers are few.
            return self.crowd.holding(given).odd(self.X, asked)
        return OddOneOut(log_probability(self.crowd, given, asked))

    def __call__(self, u: Tensor) -> Tensor:
        """The log-probability of everybody's answers, (people,)."""
        log_p = self.odd(u, self.known).log_prob(self.known.odd)
        assert self.known.person is not None
        return torch.zeros(len(u)).index_add_(0, self.known.person, log_p * self.times)


def evidence_of_answers(model: Model, sites: dict[str, Tensor], traits: list[str]) -> Evidence:
    """What the answers say of everybody's traits, to second order around `sites`."""
    answers = Answers(model, sites, traits)
    known = answers.known
    start = on_the_line(sites, traits)
    size = start.shape[-1]
    precision, score = start.new_zeros(len(start), size, size), torch.zeros_like(start)
    for rows in torch.arange(len(known)).split(max(1, MOST_AT_ONCE // (3 * size))):
        part, times = known[rows], answers.times[rows, None]
        slope, p = _derivatives(answers, start, part)
        assert part.person is not None
        score.index_add_(0, part.person, slope[torch.arange(len(part)), part.odd] * times)
        information = torch.einsum("nok,no,nol->nkl", slope, p * times, slope)
        precision.index_add_(0, part.person, information)
    return Evidence(precision, torch.einsum("pkl,pl->pk", precision, start) + score)


def _derivatives(answers: Answers, u: Tensor, asked: Judgments) -> tuple[Tensor, Tensor]:
    """Of the log-probabilities of all answers by all traits, (n, 3, traits), and the former."""
    found = []
    for column in range(u.shape[-1]):
        step = torch.zeros_like(u)
        step[:, column] = SMALL
        up, down = (answers.odd(moved, asked).logits for moved in (u + step, u - step))
        # An anchor is as improbable as ever.
        found.append(((up - down) / (2 * SMALL)).nan_to_num(0.0))
    return torch.stack(found, -1), answers.odd(u, asked).logits.exp()


def on_the_line(sites: Mapping[str, Tensor], traits: Sequence[str]) -> Tensor:
    """Everybody's traits where they are Normal, (people, columns)."""
    lines = [sites[t].logit() if t == "person_lapse" else sites[t].log() for t in traits]
    return torch.cat([line if line.dim() > 1 else line[:, None] for line in lines], -1)


def off_the_line(
    u: Tensor, sites: Mapping[str, Tensor], traits: Sequence[str]
) -> dict[str, Tensor]:
    """The sites of traits on the line, each with the shape that it has in `sites`."""
    widths = [sites[trait].shape[1] if sites[trait].dim() > 1 else 1 for trait in traits]
    found = {}
    for trait, line in zip(traits, u.split(widths, -1), strict=True):
        value = line.sigmoid() if trait == "person_lapse" else line.exp()
        found[trait] = value.reshape(sites[trait].shape)
    return found
