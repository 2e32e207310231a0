"""Many fits in one call: stacked where that is faster, one after the other where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyro
import torch

from pyrovice.data.triplets import Triplets
from pyrovice.guides import MAP, Guide, MeanField
from pyrovice.inference.fitting import train_plan, warn_about
from pyrovice.inference.plan import Plan
from pyrovice.inference.progress import Progress
from pyrovice.inference.settings import Training
from pyrovice.inference.stack import Stack, guide_of
from pyrovice.inference.svi import Trainer
from pyrovice.model.choices import Choice
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.judgments import pooled
from pyrovice.model.model import Model
from pyrovice.model.pair_pattern import are_few_pairs
from pyrovice.model.people import People
from pyrovice.model.priors import Horseshoe, Prior, resolve_prior
from pyrovice.model.priors.entrywise import Entrywise
from pyrovice.model.priors.stacked import differing_numbers, family
from pyrovice.model.structure import Site
from pyrovice.results.fit import Fit
from pyrovice.storage.identity import recognise
from pyrovice.storage.registry import is_registered

# With more judgments the arithmetic takes longer than all that is around it.
MOST_JUDGMENTS = 60_000
# Judgments of all members together: more of them leave the processor's cache.
MOST_AT_ONCE = 600_000
# The largest block that the C library keeps for the next one of its size when it is freed.
KEPT_MEMORY = 31 * 2**20


def largest_stack(judgments: int) -> int:
    """How many fits of so many judgments to make at once."""
    return max(1, MOST_AT_ONCE // max(judgments, 1))


def stacks(plans: Sequence[Plan]) -> list[list[int]]:
    """Which of the plans to fit together, by their places; alone where that is as fast.

    Members of a stack have objects, guide, choice and number of dimensions in common, and a
    prior of one family. They may differ in its numbers, in seed, judgments and learning rate.
    """
    together: dict[object, list[int]] = {}
    for i, plan in enumerate(plans):
        kind = kind_of(
            plan.prior,
            plan.data,
            choice=plan.choice,
            people=plan.people,
            guide=plan.guide,
            dimensions=plan.first_dimensions,
            training=plan.training,
            device=plan.device,
        )
        key = i if kind is None else (*kind, plan.data.names)
        together.setdefault(key, []).append(i)
    found = []
    for places in together.values():
        size = largest_stack(max(len(plans[i].data) for i in places))
        found += [places[first : first + size] for first in range(0, len(places), size)]
    return found


def fit_many(plans: Sequence[Plan]) -> Iterator[tuple[int, Fit | Exception]]:
    """Carry out plans; each fit, or its error, comes with its place as soon as it is there."""
    for places in stacks(plans):
        left = dict.fromkeys(places)
        if len(places) > 1:
            try:
                for i, found in fit_stack([plans[place] for place in places]):
                    del left[places[i]]
                    yield places[i], found
            except StackError:
                pass
        for place in left:
            yield place, _alone(plans[place])


def fit_or_error(found: Fit | Exception) -> Fit:
    """The fit, for whom one that failed is an error of all."""
    if isinstance(found, Exception):
        raise found
    return found


class StackError(Exception):
    """What was to be fitted together has to be fitted alone."""


def fit_stack(plans: Sequence[Plan]) -> Iterator[tuple[int, Fit | Exception]]:
    """Train plans of one kind together."""
    trainers, random, places = [], [], []
    for i, plan in enumerate(plans):
        try:
            with plan.isolated():
                run, task = plan.begin()
                trainers.append(Trainer(run, task, None, Progress(False, 0, "")))
                random.append(torch.get_rng_state())
            places.append(i)
        except Exception as error:
            yield i, error
    if not trainers:
        return
    if not all(_by_plates(site) for site in guide_of(trainers[0]).sites):
        raise StackError
    tasks = [trainer.task for trainer in trainers]
    rows, weights = tasks[0].judgments, None
    if len({plans[i].data_digest for i in places}) > 1:
        rows, weights = pooled([task.judgments for task in tasks])
    numbers = differing_numbers([trainer.run.model.prior for trainer in trainers])
    # Else the memory of every step is returned to the system and asked for again, which took a
    # third of the time of the first stack of a process. Freeing one large block prevents it.
    torch.empty(KEPT_MEMORY, dtype=torch.uint8)
    with plans[0].isolated(), pyro.validation_enabled(False):
        stack = Stack(trainers, random, rows, weights, numbers)
        for place, trainer, failure in stack.run_to_the_end():
            plan = plans[places[place]]
            found: Fit | Exception
            try:
                found = failure or plan.finish(trainer.run)
                if isinstance(found, Fit):
                    warn_about(found, trainer.run)
            except Exception as raised:
                found = raised
            yield places[place], found


def _alone(plan: Plan) -> Fit | Exception:
    try:
        return train_plan(plan)
    except Exception as error:
        return error


def _by_plates(site: Site) -> bool:
    """Whether a dropped dimension can be left out of the density of a site."""
    return site.column_dim() is None or "dimension" in {name for name, _, _ in site.plates}


def kind_of(
    prior: Prior,
    data: Triplets,
    *,
    choice: Choice,
    people: People | None,
    guide: Callable[[Model], Guide],
    dimensions: int | str,
    training: Training,
    device: str | torch.device,
) -> tuple[str, ...] | None:
    """What members of a stack have in common; None for what must be fitted alone."""
    prior = resolve_prior(prior)
    if not (
        type(guide) in (MeanField, MAP)
        and people is None
        and (is_registered(prior) or isinstance(prior, Entrywise))
        # Near its pole at zero rounding decides where training goes.
        and not isinstance(prior, Horseshoe)
        # What a choice samples, and where objects stood, differs between members.
        and isinstance(choice, SoftmaxChoice)
        and choice.samples_nothing
        and not choice.asks_where
        and training.batch_size == "auto"
        and training.particles == 1
        and len(data) <= MOST_JUDGMENTS
        # A fit alone computes few of the similarities of many objects, and a stack all of them.
        and not are_few_pairs(data.n_objects, 3 * len(data))
        and torch.device(device).type == "cpu"
    ):
        return None
    return (family(prior), recognise(choice), repr(guide), str(dimensions), str(training.betas))
