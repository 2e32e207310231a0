"""Many guides trained together: one vectorised step for all of them.

On small data nearly all of a step is Python around tiny tensors. Here that is paid once for a whole
stack of fits: the step of a single fit is mapped (``torch.func.vmap``) over parameters, random
numbers, numbers of the prior and weights of the judgments. Adam works entry by entry, and each
member has random numbers of its own, so that it becomes what it would have been alone, up to the
rounding of sums that are taken in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray
from pyro import poutine
from torch import Tensor
from torch.distributions import biject_to, constraints
from torch.func import grad_and_value, vmap

from pyrovice.guides import PointGuide, SiteGuide
from pyrovice.inference.recorded_step import Repeated
from pyrovice.inference.svi import Trainer
from pyrovice.model.judgments import Judgments
from pyrovice.model.priors.stacked import with_numbers
from pyrovice.model.structure import Site

# What a dropped dimension is worth while others of the stack still have theirs: nothing under the
# rectifier, and as good as nothing where weights are positive.
BELOW_ZERO, NEXT_TO_ZERO = -1.0, 1e-6


class Stack:
    """Training runs that take their steps together.

    Parameters
    ----------
    trainers : sequence of Trainer
        One per member, not yet begun, of models of one family.
    random : sequence of Tensor
        The state of each member's random numbers.
    rows : Judgments
        The judgments that any of them learns from.
    weights : Tensor of shape (members, rows), optional
        How often each row counts for each member, if that differs.
    numbers : dict of str to Tensor of shape (members,)
        Numbers of the prior that differ between members.
    """

    def __init__(
        self,
        trainers: Sequence[Trainer],
        random: Sequence[Tensor],
        rows: Judgments,
        weights: Tensor | None = None,
        numbers: dict[str, Tensor] | None = None,
    ) -> None:
        self.trainers = list(trainers)
        self.places = list(range(len(trainers)))
        self.random = [torch.Generator() for _ in trainers]
        for generator, state in zip(self.random, random, strict=True):
            generator.set_state(state)
        self.rows, self.weights, self.numbers = rows, weights, numbers or {}
        guide = guide_of(trainers[0])
        self.sites: list[Site] = guide.sites
        self.columns: dict[str, int | None] = guide.column_dims()
        self.is_point = isinstance(guide, PointGuide)
        self.value = {
            name: torch.stack([_parameter(t, name) for t in trainers]) for name in self.columns
        }
        self.memory = [{n: torch.zeros_like(v) for n, v in self.value.items()} for _ in range(2)]
        self.step = 0
        self._set_up()

    def run_to_the_end(self) -> Iterator[tuple[int, Trainer, Exception | None]]:
        """Train all members; each is given back, by its place, as soon as it is over.

        A member that fails comes with its error and does not touch the others.
        """
        epoch = 0
        while self.trainers:
            terms = self._take_a_step()
            over: dict[int, Exception | None] = {}
            kept: dict[int, NDArray[Any]] = {}
            for i, trainer in enumerate(self.trainers):
                try:
                    trainer.record(epoch, *terms[i])
                    if not trainer.is_time_to_look(epoch):
                        continue
                    self._give_back(i)
                    with self.random_of(i):
                        trainer.look(epoch)
                    last = epoch + 1 >= trainer.task.training.max_epochs
                    if trainer.has_ended() or last:
                        over[i] = None
                        continue
                    with self.random_of(i):
                        left = trainer.drop_dimensions()
                    if left is not None:
                        kept[i] = left
                except Exception as error:
                    over[i] = error
            for i, failure in over.items():
                with self.random_of(i):
                    yield self.places[i], self.trainers[i], failure
            if over or kept:
                self._repack([i for i in range(len(self.trainers)) if i not in over], kept)
            epoch += 1

    # ------------------------------------------------------------------ one step

    def _take_a_step(self) -> list[list[float]]:
        """Move all members, and say their log-likelihood and complexity per judgment."""
        with torch.no_grad():
            noise = self._noise()
        found = self._repeated(*self.value.values(), *noise.values())
        *gradients, log_likelihood, complexity = (each for each in found if each is not None)
        self.step += 1
        rates = torch.tensor([trainer.rate_now() for trainer in self.trainers])
        self._adam(dict(zip(self.value, gradients, strict=True)), rates)
        for trainer in self.trainers:
            trainer.step = self.step
        return torch.stack([log_likelihood, complexity], -1).tolist()

    def _gradients(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Gradients of all members, and their log-likelihoods and complexities."""
        values = dict(zip(self.value, inputs, strict=False))
        drawn = [] if self.is_point else [site.name for site in self.sites]
        noise = dict(zip(drawn, inputs[len(values) :], strict=True))
        gradients, (_, terms) = self._mapped(values, self.numbers, noise, *self._of_members)
        return *gradients.values(), *terms

    @torch.no_grad()
    def _adam(self, gradients: dict[str, Tensor], rates: Tensor) -> None:
        first, second = self.trainers[0].task.training.betas
        for name, value in self.value.items():
            gradient = gradients[name]
            mean, square = self.memory[0][name], self.memory[1][name]
            mean.lerp_(gradient, 1 - first)
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
            scale = (square / (1 - second**self.step)).sqrt_().add_(1e-8)
            rate = (rates / (1 - first**self.step)).reshape(-1, *[1] * (value.dim() - 1))
            value.sub_(rate * mean / scale)

    def _noise(self) -> dict[str, Tensor]:
        """Standard Normals for all sites, of each member as it would draw them alone."""
        if self.is_point:
            return {}
        noise = {}
        for site in self.sites:
            like = self.value[f"loc.{site.name}"]
            noise[site.name] = torch.zeros_like(like)
        for i, generator in enumerate(self.random):
            # A single fit shuffles its batches first, and has one.
            torch.randperm(1, generator=generator)
            for site in self.sites:
                mine = self._of_member(noise[site.name][i], site.column_dim(), i)
                mine.copy_(torch.empty(mine.shape).normal_(generator=generator))
        return noise

    def _terms(
        self,
        parameters: dict[str, Tensor],
        numbers: dict[str, Tensor],
        noise: dict[str, Tensor],
        n: Tensor,
        alive: Tensor,
        weight: Tensor | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The loss of one member, and log-likelihood and complexity, all per judgment."""
        values, log_guide = {}, torch.zeros(())
        for site in self.sites:
            if self.is_point:
                value = biject_to(site.support)(parameters[f"point.{site.name}"])
            else:
                loc = parameters[f"loc.{site.name}"]
                scale = parameters[f"log_scale.{site.name}"].exp()
                value = biject_to(site.support)(loc + scale * noise[site.name])
                density = site.distribution(loc, scale).log_prob(value)
                log_guide = log_guide + _sum_of_alive(density, site, alive)
            if site.name == "X":
                idle = BELOW_ZERO if site.support is constraints.real else NEXT_TO_ZERO
                value = torch.where(alive, value, idle)
            values[site.name] = value
        model = copy(self.model)
        model.prior = with_numbers(self.model.prior, numbers)
        rows = self.rows if weight is None else replace(self.rows, weight=weight)
        trace = poutine.trace(poutine.condition(model, data=values)).get_trace(rows)
        trace.compute_log_prob()
        log_likelihood = trace.nodes["odd"]["log_prob"].sum()
        log_prior = torch.zeros(())
        for site in self.sites:
            log_prior = log_prior + _sum_of_alive(trace.nodes[site.name]["log_prob"], site, alive)
        complexity = (log_guide - log_prior) / n
        log_likelihood = log_likelihood / n
        return complexity - log_likelihood, (log_likelihood.detach(), complexity.detach())

    # ------------------------------------------------------------------ members

    def _set_up(self) -> None:
        """Prepare the step of the members that are left, with room for the largest."""
        if not self.trainers:
            return
        self.sizes = [trainer.run.model.dimensions for trainer in self.trainers]
        largest = max(self.sizes)
        self.model = self.trainers[0].run.model.with_dimensions(largest)
        alive = torch.arange(largest) < torch.tensor(self.sizes)[:, None]
        n = torch.tensor([float(trainer.task.n) for trainer in self.trainers])
        self._of_members = (n, alive, self.weights)
        dims = (0, 0, 0, 0, 0, None if self.weights is None else 0)
        self._mapped: Callable[..., Any] = vmap(
            grad_and_value(self._terms, has_aux=True), in_dims=dims
        )
        self._repeated = Repeated(self._gradients)

    def _repack(self, left: list[int], kept: dict[int, NDArray[Any]]) -> None:
        """Leave out members that are over, and columns that no member needs any more."""
        sizes = {i: self.trainers[i].run.model.dimensions for i in left}
        largest = max(sizes.values(), default=0)

        def packed(name: str, stacked: Tensor) -> Tensor:
            column = self.columns[name]
            if column is None:
                return stacked[left]
            rows = []
            for i in left:
                mine = self._of_member(stacked[i], column, i)
                if i in kept:
                    mine = mine.index_select(column, torch.as_tensor(kept[i]))
                shape = list(mine.shape)
                shape[column] = largest
                rows.append(mine.new_zeros(shape))
                rows[-1].narrow(column, 0, sizes[i]).copy_(mine)
            return torch.stack(rows)

        if left:
            for tensors in (self.value, *self.memory):
                for name in tensors:
                    tensors[name] = packed(name, tensors[name])
            self.numbers = {name: number[left] for name, number in self.numbers.items()}
            self.weights = None if self.weights is None else self.weights[left]
        for name in ("trainers", "places", "random"):
            setattr(self, name, [getattr(self, name)[i] for i in left])
        self._set_up()

    def _of_member(self, stacked: Tensor, column: int | None, i: int) -> Tensor:
        """What is a member's own of a tensor that has room for the largest."""
        return stacked if column is None else stacked.narrow(column, 0, self.sizes[i])

    @torch.no_grad()
    def _give_back(self, i: int) -> None:
        """Put a member's parameters into its own guide."""
        for name, column in self.columns.items():
            mine = self._of_member(self.value[name][i], column, i)
            _parameter(self.trainers[i], name).copy_(mine)

    @contextmanager
    def random_of(self, i: int) -> Iterator[None]:
        """Draw from a member's own random numbers."""
        generator = self.random[i]
        torch.set_rng_state(generator.get_state())
        try:
            yield
        finally:
            generator.set_state(torch.get_rng_state())


def guide_of(trainer: Trainer) -> SiteGuide:
    """The guide of a member, whose parameters have names."""
    assert isinstance(trainer.run.guide, SiteGuide)
    return trainer.run.guide


def _parameter(trainer: Trainer, name: str) -> Tensor:
    return guide_of(trainer).get_parameter(name).detach()


def _sum_of_alive(log_prob: Tensor, site: Site, alive: Tensor) -> Tensor:
    """The sum over all entries but those of dropped dimensions."""
    column = site.column_dim()
    if column is None:
        return log_prob.sum()
    # Densities have no event dims any more.
    shape = [1] * log_prob.dim()
    shape[column + site.event_dim] = -1
    return torch.where(alive.reshape(shape), log_prob, 0.0).sum()
