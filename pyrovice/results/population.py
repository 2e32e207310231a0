"""How much people differ, and how sure that is: the population behind a fit of a simple shape.

A mean-field guide holds the spread of a trait for known when it looks at a person, and the persons
for known when it looks at the spread; and it holds every trait of a person for independent of the
others, though much of what a low weight explains a high temperature could explain too. Its means
are good and its intervals are too narrow. So the traits are drawn anew around these means, given
the embedding: what the answers of a person say about all of their traits together is close to a
Normal, whose precision is the Fisher information of these answers. Given that, traits, spreads and
means of groups are drawn in turn from their exact conditional distributions (Gibbs sampling, with
centred and non-centred steps interwoven; Yu and Meng, 2011).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyro.distributions as dist
import torch
from torch import Tensor

from pyrovice.data.validation import whole_seed
from pyrovice.guides import Guide, PointGuide, SiteGuide
from pyrovice.guides.drawing import draw_sites
from pyrovice.model.choices import log_probability
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.model.people.crowd import SPREAD, TRAIT, TYPICAL_LAPSE, Crowd
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.weights import closed_form

# Traits that are drawn anew; of deviations of their own there are too many.
REDRAWN = ("person_weight", "person_temperature", "person_lapse")
# Places where the density of a spread is computed, evenly spaced in its logarithm.
SPREADS = torch.logspace(-3, 1, 201)
# The same for the logit of the typical lapse rate.
LOGITS = torch.linspace(-9.0, 2.0, 221)
# The traits that the first look at the answers gives are nearer the truth than the guide's, which
# are shrunk too much; there the answers are looked at again.
LOOKS, DRAWS_OF_A_LOOK = 2, 100
# Steps before the first draw.
FORGOTTEN = 60
# How far a trait is moved, on the line, to see what the answers say of it.
SMALL = 0.02
# Draws that the mean embedding is computed by, where it has no closed form.
MEAN_BY = 100
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


@torch.no_grad()
def redraw_people(guide: Guide, model: Model, n: int, seed: int = 0) -> dict[str, Tensor]:
    """`n` draws of the sites of people, (n, ...), given the judgments that the model observes.

    None if the guide has draws of its own that know how sites go together, or is a point.
    """
    crowd = model.answers
    if not isinstance(crowd, Crowd) or model.data is None:
        return {}
    if not isinstance(guide, SiteGuide) or isinstance(guide, PointGuide):
        return {}
    sites = crowd.relative({name: value.cpu() for name, value in guide.median().items()})
    # Similarities of independent weights have the mean of similarities of mean weights.
    sites["X"] = _mean_embedding(guide, model)
    traits = [site for site in REDRAWN if site in sites]
    with pyro_locked(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(whole_seed(seed))
        for _ in range(LOOKS):
            evidence = evidence_of_answers(model, sites, traits)
            population = Population(crowd, sites, traits, evidence)
            for name, values in _stacked(population, DRAWS_OF_A_LOOK).items():
                sites[name] = values.median(0).values
        return crowd.relative(_stacked(population, n))


def _stacked(population: Population, n: int) -> dict[str, Tensor]:
    """`n` draws of every site, (n, ...)."""
    drawn = [population.values() for _ in population.steps(n)]
    return {name: torch.stack([draw[name] for draw in drawn]) for name in drawn[0]}


def evidence_of_answers(model: Model, sites: dict[str, Tensor], traits: list[str]) -> Evidence:
    """What the answers say of everybody's traits, to second order around `sites`."""
    judgments = model.judgments()
    # Those of nobody who is known say nothing about anybody.
    known = judgments.told[0]
    start = torch.cat([_columns(_line(site, sites[site])) for site in traits], -1)
    size = start.shape[-1]
    precision, score = start.new_zeros(len(start), size, size), torch.zeros_like(start)
    for rows in torch.arange(len(known)).split(max(1, MOST_AT_ONCE // (3 * size))):
        part = known[rows]
        slope, p = _derivatives(model, sites, traits, part)
        times = torch.ones(len(part)) if part.weight is None else part.weight
        assert part.person is not None
        answered = slope[torch.arange(len(part)), part.odd]
        score.index_add_(0, part.person, answered * times[:, None])
        information = torch.einsum("nok,no,nol->nkl", slope, p * times[:, None], slope)
        precision.index_add_(0, part.person, information)
    return Evidence(precision, torch.einsum("pkl,pl->pk", precision, start) + score)


def _derivatives(
    model: Model, sites: dict[str, Tensor], traits: list[str], asked: Judgments
) -> tuple[Tensor, Tensor]:
    """Of the log-probabilities of all answers by all traits, (n, 3, traits), and the former."""
    assert isinstance(model.answers, Crowd)
    as_given = model.answers.as_given()
    found = []
    for site in traits:
        line = _line(site, sites[site])
        for column in range(_columns(line).shape[-1]):
            moved: list[Tensor] = []
            for step in (SMALL, -SMALL):
                other = line.clone()
                _columns(other)[..., column] += step
                moved_sites = sites | {site: _support(site, other)}
                moved.append(log_probability(as_given, moved_sites, asked))
            # An anchor is as improbable as ever.
            found.append(((moved[0] - moved[1]) / (2 * SMALL)).nan_to_num(0.0))
    return torch.stack(found, -1), log_probability(as_given, sites, asked).exp()


class Population:
    """The traits of everybody and what is common to all, as they are drawn in turn.

    Parameters
    ----------
    crowd : Crowd
        Who differs in what.
    sites : dict of str to Tensor
        Where to start.
    traits : list of str
        The sites of the traits, whose columns follow each other in `evidence`.
    evidence : Evidence
        What the answers say.
    """

    def __init__(
        self, crowd: Crowd, sites: dict[str, Tensor], traits: list[str], evidence: Evidence
    ) -> None:
        self.crowd, self.traits, self.evidence = crowd, traits, evidence
        lines = [_columns(_line(site, sites[site])) for site in traits]
        self.u = torch.cat(lines, -1)
        self.columns, first = {}, 0
        for site, line in zip(traits, lines, strict=True):
            self.columns[site] = slice(first, first + line.shape[-1])
            first += line.shape[-1]
        self.spread = torch.cat(
            [crowd.spread(s, sites).expand(x.shape[-1]) for s, x in zip(traits, lines, strict=True)]
        ).clone()
        self.centre = torch.zeros_like(self.u)
        self.group_means: Tensor | None = None
        self.grids = {site: _grid(crowd, site) for site in traits}

    def steps(self, n: int) -> Iterator[int]:
        """Go on; stop at each of `n` draws."""
        for step in range(FORGOTTEN + n):
            self._draw_traits()
            self._draw_centres()
            self._draw_spreads()
            if step >= FORGOTTEN:
                yield step

    def values(self) -> dict[str, Tensor]:
        """The sites at this draw."""
        found: dict[str, Tensor] = {}
        for site in self.traits:
            columns, one = self.columns[site], site != "person_weight"
            value, spread = _support(site, self.u[:, columns]), self.spread[columns]
            found[site] = value[:, 0] if one else value
            if self.grids[site][1] is not None:
                found[SPREAD[site]] = (spread[0] if one else spread).clone()
        if self.group_means is not None:
            found["group_log_weight"] = self.group_means
        if "person_lapse" in self.traits:
            found["typical_lapse"] = self.centre[0, self.columns["person_lapse"]][0].sigmoid()
        return found

    def _draw_traits(self) -> None:
        expected = self.spread**-2
        precision = self.evidence.precision + torch.diag(expected)
        root = torch.linalg.cholesky(precision)
        shift = self.evidence.shift + self.centre * expected
        mean = torch.cholesky_solve(shift.unsqueeze(-1), root)
        noise = torch.linalg.solve_triangular(root.mT, torch.randn_like(mean), upper=True)
        self.u = (mean + noise).squeeze(-1)

    def _draw_centres(self) -> None:
        if "person_lapse" in self.traits:
            column = self.columns["person_lapse"].start
            rate = LOGITS.sigmoid()
            log_p = dist.Beta(*TYPICAL_LAPSE).log_prob(rate) + (rate * (1 - rate)).log()
            away = self.u[:, column, None] - LOGITS
            log_p = log_p - (away**2).sum(0) / (2 * self.spread[column] ** 2)
            self.centre[:, column] = _within(LOGITS, dist.Categorical(logits=log_p).sample())
        if self.crowd.group is not None and "person_weight" in self.traits:
            columns, groups = self.columns["person_weight"], len(self.crowd.groups)
            total = torch.zeros(groups + 1, self.crowd.dimensions)
            total.index_add_(0, self.crowd.group, self.u[:, columns])
            size = torch.bincount(self.crowd.group, minlength=groups + 1)[:groups, None]
            # The means of groups have the spread of people themselves.
            mean = total[:groups] / (size + 1)
            mean = mean + self.spread[columns] / (size + 1) ** 0.5 * torch.randn_like(mean)
            self.group_means = mean
            nobody = torch.zeros(1, self.crowd.dimensions)
            self.centre[:, columns] = torch.cat([mean, nobody])[self.crowd.group]

    def _draw_spreads(self) -> None:
        for site in self.traits:
            grid, log_prior = self.grids[site]
            if log_prior is None:
                continue
            columns = self.columns[site]
            # Given the traits.
            squares = ((self.u - self.centre)[:, columns] ** 2).sum(0)
            log_p = log_prior - len(self.u) * grid.log() - squares[:, None] / (2 * grid**2)
            if site == "person_weight" and self.group_means is not None:
                squares = (self.group_means**2).sum(0)
                groups = len(self.group_means)
                log_p = log_p - groups * grid.log() - squares[:, None] / (2 * grid**2)
            self.spread[columns] = _within(grid.log(), _choose(log_p)).exp()
            # Given how far, in spreads, everybody is from the centre.
            for column in range(columns.start, columns.stop):
                self._rescale(column, grid, log_prior)

    def _rescale(self, column: int, grid: Tensor, log_prior: Tensor) -> None:
        centre = self.centre[:, column]
        z = (self.u[:, column] - centre) / self.spread[column]
        own = self.evidence.precision[:, column, column]
        others = torch.einsum("pl,pl->p", self.evidence.precision[:, column], self.u)
        others = others - own * self.u[:, column]
        slope = (z * (self.evidence.shift[:, column] - others - own * centre)).sum()
        log_p = log_prior + slope * grid - (own * z**2).sum() * grid**2 / 2
        self.spread[column] = _within(grid.log(), _choose(log_p)).exp()
        self.u[:, column] = centre + self.spread[column] * z


def _choose(log_p: Tensor) -> Tensor:
    return dist.Categorical(logits=log_p).sample()


def _grid(crowd: Crowd, site: str) -> tuple[Tensor, Tensor | None]:
    """Possible spreads and the log-prior of their logarithms; None if the spread is fixed."""
    spread = crowd.people.spread(TRAIT[site])
    if not isinstance(spread, dist.Distribution):
        return torch.tensor([spread]), None
    grid = SPREADS[spread.support.check(SPREADS)]
    return grid, spread.log_prob(grid) + grid.log()


def _within(grid: Tensor, chosen: Tensor) -> Tensor:
    """A place in the cell of each chosen point of an even grid."""
    return grid[chosen] + (grid[1] - grid[0]) * (torch.rand(chosen.shape) - 0.5)


def _mean_embedding(guide: SiteGuide, model: Model) -> Tensor:
    """E[relu X], by draws where X is computed."""
    weights = closed_form(guide)
    if weights is not None:
        return torch.from_numpy(weights.mean())
    return draw_sites(guide, model, MEAN_BY)["X"].relu().mean(0).cpu()


def _line(site: str, values: Tensor) -> Tensor:
    return values.logit() if site == "person_lapse" else values.log()


def _support(site: str, line: Tensor) -> Tensor:
    return line.sigmoid() if site == "person_lapse" else line.exp()


def _columns(values: Tensor) -> Tensor:
    """People by column, one where there is no column."""
    return values if values.dim() > 1 else values[:, None]
