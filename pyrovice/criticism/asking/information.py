"""What the answer to a triplet tells: about weights (Fisher information), and in all (in nats)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.model.choices import log_probability
from pyrovice.model.judgments import Judgments, pair_ids
from pyrovice.model.people.traits import Traits, seen

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

Rows = NDArray[np.int64]
Sites = dict[str, Tensor]

# Triplets whose derivatives are held at once.
BLOCK = 1024
# Weights at zero may be larger, and rectifying them would hide what answers tell of that.
SMALLEST = 1e-6
# Draws that a gain in nats is averaged over.
GAIN_DRAWS = 100


class Answering:
    """How answers depend on the weights of the three objects, under some posterior draws.

    Parameters
    ----------
    fit : Fit
        Whose posterior and choice.
    draws, seed : int
        How many draws to average over, and their seed.
    person : int, optional
        Number of the person who answers; the typical one if people differ and nobody is named.
    """

    def __init__(self, fit: Fit, draws: int, seed: int, person: int | None = None) -> None:
        self.model, self.person = fit.model, person
        self.sites = [dict(sites) for sites in fit.posterior.each(draws, seed)]

    def few(self, draws: int) -> Answering:
        """The same with the first draws only."""
        other = object.__new__(Answering)
        other.model, other.person, other.sites = self.model, self.person, self.sites[:draws]
        return other

    def about_objects(self, objects: Rows) -> Tensor:
        """Information about the weights of each of the three objects, (n, 3, d, d)."""
        return torch.cat([_squares(part) for part in self.factors(objects)])

    def about_person(self, objects: Rows) -> Tensor:
        """Information about the logarithms of a person's weights, (n, 1, d, d)."""
        return torch.cat([_squares(part) for part in self.factors_of_person(objects)])

    def factors(self, objects: Rows) -> Iterator[Tensor]:
        """Roots of the information: A with AᵀA the information, (rows, answers, 3, d) by block."""
        for part in _blocks(objects):
            yield self._mean([self._derivatives(sites, part)[0] for sites in self.sites])

    def factors_of_person(self, objects: Rows) -> Iterator[Tensor]:
        """The same for a person's log-weights, (rows, answers, 1, d) by block."""
        for part in _blocks(objects):
            found = []
            for sites in self.sites:
                by_weight, rows = self._derivatives(sites, part)
                # A person sees x √w, so that log w moves all three objects by half as much.
                found.append((by_weight * rows[:, None]).sum(2, keepdim=True) / 2)
            yield self._mean(found)

    def _mean(self, factors: list[Tensor]) -> Tensor:
        return torch.cat(factors, 1) / len(self.sites) ** 0.5

    def _derivatives(self, sites: Sites, objects: Tensor) -> tuple[Tensor, Tensor]:
        """√p ∂log p of each answer by the weights, (n, 3, 3, d), and these weights, (n, 3, d)."""
        n = len(objects)
        # Every triplet has rows of its own, so that one derivative serves all triplets.
        rows = self._view(sites)[objects.T.flatten()].clamp(min=SMALLEST).requires_grad_()
        own = torch.arange(3 * n).reshape(3, n).T
        asked = Judgments(pair_ids(own, 3 * n), torch.zeros(n).long(), None, None, 3 * n, n)
        others = {name: value for name, value in sites.items() if not name.startswith("person_")}
        with torch.enable_grad(), self.model.parameters_in_use():
            log_p = log_probability(self.model.choice, others | {"X": rows}, asked)
            if self.person is not None and "person_temperature" in sites:
                log_p = (log_p / sites["person_temperature"][self.person]).log_softmax(-1)
            by_answer = [
                torch.autograd.grad(log_p[:, answer].sum(), rows, retain_graph=answer < 2)[0]
                for answer in range(3)
            ]
        derivative = torch.stack([each.unflatten(0, (3, n)).transpose(0, 1) for each in by_answer])
        root = log_p.detach().exp().sqrt()
        shown = rows.detach().unflatten(0, (3, n)).transpose(0, 1)
        return derivative.transpose(0, 1) * root[:, :, None, None], shown

    def _view(self, sites: Sites) -> Tensor:
        if self.person is None:
            return sites["X"].relu()
        traits = Traits(sites.get("person_weight"), None, None, sites.get("person_own"))
        return seen(sites["X"].relu(), self.person, traits)


def expected_gain(fit: Fit, objects: Rows, seed: int, person: int | None = None) -> Rows:
    """Mutual information between each answer and the posterior, in nats.

    The entropy of the mean prediction less the mean entropy of the predictions: how much the
    draws disagree about an answer, beyond what is chance in every one of them.
    """
    m = len(fit.names)
    asked = Judgments(
        pair_ids(torch.as_tensor(objects), m),
        torch.zeros(len(objects)).long(),
        None,
        None,
        m,
        len(objects),
    )
    if fit.model.known_people is not None:
        asked = asked.by() if person is None else asked.by(person)
    mean, entropy = torch.zeros(len(objects), 3), torch.zeros(len(objects))
    for sites in fit.posterior.each(GAIN_DRAWS, seed):
        p = fit.model.choice_log_probability(sites, asked).exp()
        mean += p / GAIN_DRAWS
        entropy += torch.special.entr(p).sum(-1) / GAIN_DRAWS
    gain = torch.special.entr(mean).sum(-1) - entropy
    return gain.clamp(min=0).numpy().astype(float)


def _blocks(objects: Rows) -> tuple[Tensor, ...]:
    return torch.as_tensor(objects).split(BLOCK)


def _squares(factors: Tensor) -> Tensor:
    return torch.einsum("nabd,nabe->nbde", factors, factors)
