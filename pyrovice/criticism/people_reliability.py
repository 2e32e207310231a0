"""Whether differences between people come back in other answers of theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError
from pyrovice.model.choices import log_probability
from pyrovice.model.judgments import person_numbers
from pyrovice.model.people.crowd import NEW
from pyrovice.results.fit import Fit
from pyrovice.results.persons import crowd_of

# Steps of L-BFGS at most; it takes about 20.
STEPS = 100
# Fewer people have no correlation to speak of.
LEAST_PEOPLE = 3


def people_reliability(fit: Fit, data: Triplets, *, splits: int = 4, seed: int = 0) -> pd.DataFrame:
    """Split-half reliability of everybody's weights, temperature and lapse.

    The judgments of each person are dealt into halves at random. From each half everybody's traits
    are estimated anew, the most probable ones given the embedding and the spreads of the fit, and
    the two estimates are correlated over people. The embedding is that of all judgments: this asks
    how well people are told apart, not whether the dimensions come back (for that see
    :func:`reproducibility`). What is reliable need not be pure: a low temperature and high weights
    on all dimensions look alike, and answers that tell people apart by one do so by the other.

    Parameters
    ----------
    fit : Fit
        With ``people=pv.People(...)``.
    data : Triplets
        Judgments of these people, those that were fitted or others.
    splits : int
        Times that the judgments are dealt, to average over.
    seed : int
        Seed of the halves.

    Returns
    -------
    DataFrame
        By trait, named as in :meth:`Fit.people`: the `correlation` of the two halves over people
        (of logarithms, and of logits for lapses), the `reliability` of all judgments together by
        the formula of Spearman and Brown, 2r / (1 + r), zero if the halves do not agree, and the
        number of `people`, who need two judgments or more.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> fit = pv.fit(data, people=pv.People(), dimensions=12)
    >>> found = pv.people_reliability(fit, data, splits=1)
    >>> bool(found.reliability["weight 1"] > 0.8)
    True
    """
    task = _Task.of(fit, data)
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for _ in range(whole(splits, "splits", least=1)):
        first, second = (task.estimate(half) for half in task.halves(rng))
        for trait, values in first.items():
            both = values[task.split], second[trait][task.split]
            found.setdefault(trait, []).append(_correlation(*both))
    r = pd.Series({trait: np.mean(values) for trait, values in found.items()}, dtype=float)
    positive = r.clip(lower=0)
    table = pd.DataFrame({"correlation": r, "reliability": 2 * positive / (1 + positive)})
    return table.assign(people=int(task.split.sum())).rename_axis("trait")


@dataclass(frozen=True)
class _Task:
    """What all halves have in common.

    Attributes
    ----------
    number : array of shape (n,)
        Who made each judgment.
    split : array of shape (people,)
        Who made two judgments or more.
    sites : mapping of str to Tensor
        What is held fixed.
    """

    fit: Fit
    data: Triplets
    number: NDArray[np.int64]
    split: NDArray[np.bool_]
    sites: dict[str, Tensor]

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> _Task:
        crowd_of(fit)
        known = fit.model.known_people or ()
        number = person_numbers(data, known)
        split = np.bincount(number[number >= 0], minlength=len(known)) > 1
        if split.sum() < LEAST_PEOPLE:
            raise DataError(
                f"Of the people of this fit {int(split.sum())} made at least two of these "
                f"judgments; expected {LEAST_PEOPLE} or more. Pass the judgments that were fitted."
            )
        # Those of nobody who is known say nothing about anybody.
        data, number = data[number >= 0], number[number >= 0]
        sites = {
            name: torch.as_tensor(np.median(site.pooled, axis=0), dtype=torch.float64)
            for name, site in fit.posterior.others.items()
        }
        # Similarities of independent weights have the mean of similarities of mean weights.
        sites["X"] = torch.as_tensor(fit.posterior.mean(), dtype=torch.float64)
        return cls(fit, data, number, split, sites)

    def halves(self, rng: np.random.Generator) -> tuple[Triplets, Triplets]:
        """Every person's judgments in two, which differ by one at most."""
        order = np.lexsort([rng.random(len(self.number)), self.number])
        start = np.searchsorted(self.number[order], self.number[order])
        second = np.empty(len(order), bool)
        second[order] = (np.arange(len(order)) - start) % 2 == 1
        return self.data[~second], self.data[second]

    def estimate(self, half: Triplets) -> dict[str, NDArray[np.float64]]:
        """The most probable traits of everybody given these judgments, on the line, by name."""
        crowd = crowd_of(self.fit)
        asked = self.fit.model.judgments(half)
        odd = torch.as_tensor(half.odd.astype(np.int64))
        spread = {
            site: crowd.spread(site, self.sites).double() for site in NEW if site in self.sites
        }
        # In spreads from the typical person, so that all are of one size.
        away = {site: torch.zeros_like(self.sites[site]).requires_grad_() for site in spread}

        def loss() -> Tensor:
            sites = self.sites | {
                site: self._trait(site, spread[site] * z) for site, z in away.items()
            }
            with self.fit.model.parameters_in_use():
                log_p = log_probability(crowd.as_given(), sites, asked)
            answered = log_p.gather(-1, odd[:, None]).sum()
            return sum((z**2).sum() / 2 for z in away.values()) - answered

        search = torch.optim.LBFGS(
            list(away.values()), max_iter=STEPS, line_search_fn="strong_wolfe"
        )

        def closure() -> Tensor:
            search.zero_grad()
            value = loss()
            value.backward()
            return value

        search.step(closure)
        return self._named({site: (spread[site] * z).detach().numpy() for site, z in away.items()})

    def _trait(self, site: str, line: Tensor) -> Tensor:
        if site == "person_own":
            return line
        if site == "person_lapse":
            return (self.sites["typical_lapse"].logit() + line).sigmoid()
        return line.exp()

    def _named(self, line: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        found = {
            trait: line[f"person_{trait}"]
            for trait in ("temperature", "lapse")
            if f"person_{trait}" in line
        }
        if "person_weight" in line:
            kept = zip(self.fit.embedding(), self.fit.kept_positions(), strict=True)
            for dim, place in kept:
                found[f"weight {dim}"] = line["person_weight"][:, place]
        return found


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    if not (first.std() and second.std()):
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
