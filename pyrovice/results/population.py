"""How much people differ, and how sure that is: the population behind a fit of a simple shape.

A mean-field guide holds the spread of a trait for known when it looks at a person, and the persons
for known when it looks at the spread; and it holds every trait of a person for independent of the
others, though much of what a low weight explains a high temperature could explain too. Its means
are good and its intervals are too narrow. So the traits are drawn anew, given the embedding, from
their exact posterior: traits, spreads and means of groups in turn, each given the others (Gibbs
sampling, with centred and non-centred steps interwoven; Yu and Meng, 2011). What the answers of a
person say about all of their traits together is close to a Normal, whose precision is the Fisher
information of these answers. New traits are proposed as if it were one, and accepted or not by how
probable the answers are (Metropolis and Hastings), for each person apart. The embedding is held at
its mean, whose scale is not exact: what all weights or temperatures have in common is drawn too, so
that it does not pass for a difference between people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

import pyro
import pyro.distributions as dist
import torch
from torch import Tensor

from pyrovice.data.validation import whole_seed
from pyrovice.guides import Guide, PointGuide, SiteGuide
from pyrovice.guides.drawing import draw_sites
from pyrovice.model.model import Model
from pyrovice.model.people.crowd import SPREAD, TRAIT, TYPICAL_LAPSE, Crowd
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.trait_evidence import (
    Answers,
    Evidence,
    evidence_of_answers,
    off_the_line,
    on_the_line,
)
from pyrovice.results.weights import closed_form

# Traits that are drawn anew; of deviations of their own there are too many.
REDRAWN = ("person_weight", "person_temperature", "person_lapse")
# How far the scale of the mean embedding may be off, in its logarithm.
OFF_BY = 1.0
# Places where the density of a spread is computed, evenly spaced in its logarithm.
SPREADS = torch.logspace(-3, 1, 201)
# The same for the logit of the typical lapse rate.
LOGITS = torch.linspace(-9.0, 2.0, 221)
# The traits that the first look at the answers gives are nearer the truth than the guide's, which
# are shrunk too much; there the answers are looked at again.
LOOKS, DRAWS_OF_A_LOOK = 2, 100
# Steps before the first draw, in which it is also found how far to go in one step.
FORGOTTEN = 100
# The share of proposals that should be accepted, and how fast steps are shortened until they are.
ACCEPTED, ACCEPTED_STRETCHES, LEARN = 0.6, 0.4, 0.3
# Answers that are looked at in one step to draw spreads: of one trait after the other.
STRETCHED_ANSWERS = 30_000
# Draws that the mean embedding is computed by, where it has no closed form.
MEAN_BY = 100


@torch.no_grad()
def redraw_people(guide: Guide, model: Model, n: int, seed: int = 0) -> dict[str, Tensor]:
    """`n` draws of the sites of people, (n, ...), given the judgments that the model observes.

    None if the guide has draws of its own that know how sites go together, or is a point, and none
    if people differ in nothing that is drawn anew.
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
    if not traits:
        return {}
    with (
        pyro_locked(),
        torch.random.fork_rng(devices=[]),
        # Looking whether answers are answers would take a fifth of the time.
        pyro.validation_enabled(False),
    ):
        torch.manual_seed(whole_seed(seed))
        for _ in range(LOOKS):
            evidence = evidence_of_answers(model, sites, traits)
            population = Population(crowd, sites, traits, evidence)
            for name, values in _stacked(population, DRAWS_OF_A_LOOK).items():
                sites[name] = values.median(0).values
        population.answers = Answers(model, sites, traits)
        return crowd.relative(_stacked(population, n))


def _stacked(population: Population, n: int) -> dict[str, Tensor]:
    """`n` draws of every site, (n, ...)."""
    drawn = [population.values() for _ in population.steps(n)]
    return {name: torch.stack([draw[name] for draw in drawn]) for name in drawn[0]}


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
        What the answers say, to second order.
    answers : Answers, optional
        What they say exactly.
    """

    def __init__(
        self,
        crowd: Crowd,
        sites: dict[str, Tensor],
        traits: list[str],
        evidence: Evidence,
        answers: Answers | None = None,
    ) -> None:
        self.crowd, self.traits, self.evidence, self.answers = crowd, traits, evidence, answers
        self.sites, self.u = sites, on_the_line(sites, traits)
        widths = [crowd.dimensions if site == "person_weight" else 1 for site in traits]
        ends = list(accumulate(widths))
        self.columns = {
            site: slice(end - width, end)
            for site, end, width in zip(traits, ends, widths, strict=True)
        }
        spreads = [crowd.spread(s, sites).expand(w) for s, w in zip(traits, widths, strict=True)]
        self.spread = torch.cat(spreads).clone()
        self.centre = torch.zeros_like(self.u)
        # What weights and temperatures of all people have in common is the scale of the embedding,
        # which is held at its mean here and is not exact.
        self.scale = torch.zeros_like(self.spread)
        self.group_means: Tensor | None = None
        self.grids = {site: _grid(crowd, site) for site in traits}
        self.priors = {site: crowd.people.spread(TRAIT[site]) for site in traits}

    def steps(self, n: int) -> Iterator[int]:
        """Go on; stop at each of `n` draws."""
        people = len(self.u)
        self.log_p = self._log_p(self.u)
        # How far everybody's traits go in one step, and the logarithm of each spread: about as far
        # as it is uncertain, if all traits were known.
        self.length = torch.ones(people)
        self.stride = torch.full_like(self.spread, 2.4 / (2 * people) ** 0.5)
        for step in range(FORGOTTEN + n):
            taken = self._draw_traits()
            if step < FORGOTTEN:
                longer = LEARN * (taken - ACCEPTED)
                self.length = (self.length * longer.exp()).clamp(max=1.0)
            self._draw_centres()
            self._draw_spreads(learn=step < FORGOTTEN)
            if step >= FORGOTTEN:
                yield step

    def _log_p(self, u: Tensor) -> Tensor:
        """What the answers say, exactly if it is known, (people,)."""
        return self.evidence.log_density(u) if self.answers is None else self.answers(u)

    def values(self) -> dict[str, Tensor]:
        """The sites at this draw."""
        found = off_the_line(self.u, self.sites, self.traits)
        for site in self.traits:
            if self.grids[site][1] is not None:
                spread = self.spread[self.columns[site]].clone()
                found[SPREAD[site]] = spread if site == "person_weight" else spread[0]
        if self.group_means is not None:
            found["group_log_weight"] = self.group_means
        if "person_lapse" in self.traits:
            found["typical_lapse"] = self.centre[0, self.columns["person_lapse"]][0].sigmoid()
        return found

    def _draw_traits(self) -> Tensor:
        """New traits; one for everybody who took the proposal, and zero for the others."""
        expected = self.spread**-2
        precision = self.evidence.precision + torch.diag(expected)
        root = torch.linalg.cholesky(precision)
        shift = self.evidence.shift + self.centre * expected
        mean = torch.cholesky_solve(shift.unsqueeze(-1), root)
        noise = torch.linalg.solve_triangular(root.mT, torch.randn_like(mean), upper=True)
        mean, noise, length = mean.squeeze(-1), noise.squeeze(-1), self.length[:, None]
        # A step that leaves the Normal as it is, whatever its length; one has no memory.
        new = mean + (1 - length**2).sqrt() * (self.u - mean) + length * noise
        log_p = self._log_p(new)
        beyond = log_p - self.log_p
        beyond += self.evidence.log_density(self.u) - self.evidence.log_density(new)
        taken = torch.rand(len(new)).log() < beyond
        self.u = torch.where(taken[:, None], new, self.u)
        self.log_p = torch.where(taken, log_p, self.log_p)
        return taken.to(new)

    def _draw_centres(self) -> None:
        if "person_lapse" in self.traits:
            column = self.columns["person_lapse"].start
            rate = LOGITS.sigmoid()
            log_p = dist.Beta(*TYPICAL_LAPSE).log_prob(rate) + (rate * (1 - rate)).log()
            away = self.u[:, column, None] - LOGITS
            log_p = log_p - (away**2).sum(0) / (2 * self.spread[column] ** 2)
            self.centre[:, column] = _within(LOGITS, dist.Categorical(logits=log_p).sample())
        for site in self.traits:
            if site == "person_lapse":
                continue
            columns = self.columns[site]
            apart = (self.u - self.centre)[:, columns] + self.scale[columns]
            precision = len(self.u) / self.spread[columns] ** 2 + OFF_BY**-2
            mean = apart.sum(0) / self.spread[columns] ** 2 / precision
            scale = mean + precision**-0.5 * torch.randn_like(mean)
            self.centre[:, columns] += scale - self.scale[columns]
            self.scale[columns] = scale
        if self.crowd.group is not None and "person_weight" in self.traits:
            columns, groups = self.columns["person_weight"], len(self.crowd.groups)
            total = torch.zeros(groups + 1, self.crowd.dimensions)
            total.index_add_(0, self.crowd.group, self.u[:, columns] - self.scale[columns])
            size = torch.bincount(self.crowd.group, minlength=groups + 1)[:groups, None]
            # The means of groups have the spread of people themselves.
            mean = total[:groups] / (size + 1)
            mean = mean + self.spread[columns] / (size + 1) ** 0.5 * torch.randn_like(mean)
            self.group_means = mean
            nobody = torch.zeros(1, self.crowd.dimensions)
            of_groups = torch.cat([mean, nobody])[self.crowd.group]
            self.centre[:, columns] = self.scale[columns] + of_groups

    def _draw_spreads(self, learn: bool) -> None:
        for site, (grid, log_prior) in self.grids.items():
            if log_prior is None:
                continue
            columns = self.columns[site]
            # Given the traits.
            squares = ((self.u - self.centre)[:, columns] ** 2).sum(0)
            log_p = log_prior - len(self.u) * grid.log() - squares[:, None] / (2 * grid**2)
            log_p = log_p + self._log_p_of_groups(columns, grid)
            self.spread[columns] = _within(grid.log(), _choose(log_p)).exp()
        # Given how far, in spreads, everybody is from the centre.
        for column, site in self._some_columns():
            if self.answers is None:
                self._rescale(column, site)
                continue
            taken = self._stretch(column, site)
            if learn:
                self.stride[column] *= math.exp(LEARN * (taken - ACCEPTED_STRETCHES))
        if self.answers is None:
            self.log_p = self._log_p(self.u)

    def _some_columns(self) -> list[tuple[int, str]]:
        """Columns whose spread is learned: all if that is cheap, and others in every step."""
        learned = [
            (column, site)
            for site, columns in self.columns.items()
            for column in range(columns.start, columns.stop)
            if self.grids[site][1] is not None
        ]
        if self.answers is None:
            return learned
        some = max(1, STRETCHED_ANSWERS // max(1, len(self.answers)))
        return [learned[place] for place in torch.randperm(len(learned))[:some].tolist()]

    def _log_p_of_groups(self, columns: slice, spread: Tensor) -> Tensor | float:
        """Of the means of groups, in these columns, if people had these spreads."""
        if self.group_means is None or columns.stop > self.group_means.shape[-1]:
            return 0.0
        squares = (self.group_means[:, columns] ** 2).sum(0)
        return -len(self.group_means) * spread.log() - squares[:, None] / (2 * spread**2)

    def _rescale(self, column: int, site: str) -> None:
        """A new spread and everybody's trait with it, if the evidence is all there is."""
        grid, log_prior = self.grids[site]
        assert log_prior is not None
        centre = self.centre[:, column]
        z = (self.u[:, column] - centre) / self.spread[column]
        own = self.evidence.precision[:, column, column]
        others = torch.einsum("pl,pl->p", self.evidence.precision[:, column], self.u)
        others = others - own * self.u[:, column]
        slope = (z * (self.evidence.shift[:, column] - others - own * centre)).sum()
        log_p = log_prior + slope * grid - (own * z**2).sum() * grid**2 / 2
        log_p = log_p + self._log_p_of_groups(slice(column, column + 1), grid)
        self.spread[column] = _within(grid.log(), _choose(log_p)).exp().squeeze()
        self.u[:, column] = centre + self.spread[column] * z

    def _stretch(self, column: int, site: str) -> bool:
        """The same by a proposal, which is taken or not by what the answers say."""
        old = self.spread[column]
        new = old * (self.stride[column] * torch.randn(())).exp()
        prior = self.priors[site]
        assert isinstance(prior, dist.Distribution)
        if not SPREADS[0] < new < SPREADS[-1] or not prior.support.check(new):
            return False
        u = self.u.clone()
        u[:, column] = self.centre[:, column] * (1 - new / old) + u[:, column] * new / old
        log_p = self._log_p(u)
        gain = (log_p - self.log_p).sum() + prior.log_prob(new) - prior.log_prob(old)
        groups = self._log_p_of_groups(slice(column, column + 1), torch.stack([new, old]))
        if isinstance(groups, Tensor):
            gain = gain + groups[0, 0] - groups[0, 1]
        if torch.rand(()).log() > gain + new.log() - old.log():
            return False
        self.spread[column], self.u, self.log_p = new, u, log_p
        return True


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
