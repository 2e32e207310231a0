"""A fit before and after its training: what is asked for, checked, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import pyro
import torch
from pyro.infer.autoguide import AutoDelta

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import PyroviceError
from pyrovice.guides import MAP, Guide, finished, guide_family, resolve_guide
from pyrovice.guides.correlations import with_settled_correlations
from pyrovice.inference.choice_sites import draw_with_choice, tell_if_scale_is_free
from pyrovice.inference.run import Run
from pyrovice.inference.settings import STARTS, Training
from pyrovice.inference.starts import Start, from_clear_pair_counts, from_pair_counts
from pyrovice.inference.svi import Task
from pyrovice.inference.threads import limited_threads, threads_for
from pyrovice.inference.warm_starts import check_init, first_dimensions_with, onward, warm
from pyrovice.model.choices import Choice, DotProduct, check_choice_of
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.model import Model
from pyrovice.model.people import People, check_people_of, judgments_by_person
from pyrovice.model.priors import Features, Prior, learned_rows, prior_of
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients, tensors_on
from pyrovice.results.fit import Fit, in_order_of_importance
from pyrovice.results.posterior import posterior_of
from pyrovice.results.unjudged import unjudged_objects


@dataclass(frozen=True, eq=False)
class Plan:
    """All that decides a fit, checked; see :func:`pyrovice.fit` for what most fields mean.

    `begun` is a fit of the same by a plainer guide, from which this one goes on.
    """

    data: Triplets
    prior: Prior
    choice: Choice
    people: People | None
    guide: Callable[[Model], Guide]
    first_dimensions: int
    validation: Triplets | None
    training: Training
    seed: int
    device: str | torch.device
    threads: int | None
    init: Fit | None
    data_digest: str
    rate_factor: float = 1.0
    begun: Fit | None = None

    @classmethod
    def of(
        cls,
        data: Triplets,
        *,
        prior: Prior,
        guide: Callable[[Model], Guide],
        training: Training,
        seed: int,
        choice: Choice = DotProduct(),  # noqa: B008 (frozen)
        people: People | None = None,
        dimensions: int | str = "auto",
        validation: Triplets | None = None,
        device: str | torch.device = "cpu",
        threads: int | str = "auto",
        init: Fit | None = None,
        rate_factor: float = 1.0,
    ) -> Self:
        """The plan of what was asked for, or a sentence about what is wrong with it.

        `rate_factor` multiplies the learning rate, the automatic one too: what is found should
        not depend on it.
        """
        check_data(data, "data")
        if validation is not None:
            check_data(validation, "validation")
            check_same_objects(data, validation)
        check_training(training)
        prior = prior_of(prior, data.names)
        check_people_of(data, people)
        check_choice_of(data, choice)
        first = first_dimensions(dimensions, data, learned_rows(prior))
        if init is not None:
            init = check_init(init, data)
            first = first_dimensions_with(init, dimensions, first)
        if threads == "auto":
            given = threads_for(data.n_objects, first, len(data))
        else:
            given = whole(threads, "threads", least=1)
        return cls(
            data=data,
            prior=prior,
            choice=choice,
            people=people,
            guide=guide_family(guide),
            first_dimensions=first,
            validation=validation,
            training=training,
            seed=whole_seed(seed),
            device=device,
            threads=given,
            init=init,
            # Before training: what may fail afterwards would lose the fit.
            data_digest=data.digest(),
            rate_factor=rate_factor,
        )

    @property
    def start(self) -> Start:
        """Where training starts."""
        if self.begun is not None:
            return onward(self.begun)
        usual = STARTS[self.training.start]
        if usual is from_pair_counts and isinstance(self.prior, Features):
            usual = partial(from_pair_counts, known=self.prior.scores)
        elif usual is from_pair_counts and (isinstance(self.guide, MAP) or self.guide is AutoDelta):
            # A point would keep the noise that a posterior gives up.
            usual = from_clear_pair_counts
        return usual if self.init is None else warm(self.init, self.data.names, usual)

    @contextmanager
    def isolated(self) -> Iterator[None]:
        """Random numbers, new tensors and parameters of a fit, apart from the program's."""
        with (
            pyro_locked(),
            gradients(),
            torch.random.fork_rng(),
            tensors_on(self.device),
            limited_threads(self.threads),
            # Parameters stay in the guide instead of Pyro's global store, where fits would meet.
            pyro.settings.context(module_local_params=True),
        ):
            torch.manual_seed(self.seed)
            yield

    def begin(self) -> tuple[Run, Task]:
        """The run to train, and what to train it on."""
        data, first, start = self.data, self.first_dimensions, self.start
        bare = Model(
            self.prior, data.n_objects, first, data, choice=self.choice, people=self.people
        )
        tell_if_scale_is_free(bare)
        model = bare.with_data(bare.rows(data, self.device))
        # A batch size that was asked for counts judgments as they were made.
        rows = model.judgments()
        if self.training.batch_size == "auto":
            rows = model.aggregated(data, self.device)
        guide = resolve_guide(
            self.guide,
            model,
            lambda: start(rows, first)[0],
            must_start_there=self.init is not None,
        )
        task = Task(rows, len(data), self.training, start, self.validation, self.rate_factor)
        return Run(model, guide), task

    def finish(self, run: Run) -> Fit:
        """The fit that a trained run amounts to."""
        found = finished(with_settled_correlations(run.guide, run.model))
        drawn = {}
        if not run.interrupted:
            drawn = draw_with_choice(found, run.model, self.data, self.device)
        return in_order_of_importance(
            Fit(
                prior=self.prior,
                guide_family=self.guide,
                training=self.training,
                seed=self.seed,
                names=self.data.names,
                model=run.model,
                posterior=posterior_of(found, run.model, drawn),
                history=run.table(),
                converged=run.converged,
                n_judgments=len(self.data),
                data_digest=self.data_digest,
                fitted_guide=found,
                first_dimensions=self.first_dimensions,
                unjudged=unjudged_objects(self.data, self.prior),
                judgments_by_person=judgments_by_person(self.data, run.model.known_people),
            )
        )


def check_same_objects(data: Any, validation: Any) -> None:
    """Refuse validation judgments of other objects."""
    if validation.names != data.names:
        raise PyroviceError(
            "validation and data are of different objects; give both the same names."
        )


def check_data(data: object, what: str) -> None:
    """Refuse what is not a set of judgments."""
    if not isinstance(data, Triplets):
        raise TypeError(
            f"{what} is a {type(data).__name__}; expected Triplets, for example "
            "pv.Triplets.from_array(array) or pv.Triplets.read(path)."
        )


def check_training(training: object) -> None:
    """Refuse what is not a record of settings."""
    if not isinstance(training, Training):
        raise TypeError(f"training={training!r}; expected Training(...) or Training.paper().")
