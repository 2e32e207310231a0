"""Stochastic variational inference (paper, Algorithm 1).

Each step draws X from the guide, compares it with a batch of judgments and
moves the guide along the gradient of the ELBO.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyro
import torch
from numpy.typing import NDArray
from pyro import poutine
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import GuideError, PyroviceError
from pyrovice.guides import FunctionGuide, Guide, SiteGuide, steadiest_rate, typical_weights
from pyrovice.inference.checkpoints import Keeper
from pyrovice.inference.elbo import TwoTermELBO
from pyrovice.inference.progress import Progress
from pyrovice.inference.run import Epoch, Run
from pyrovice.inference.settings import Training
from pyrovice.inference.starts import Start
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.results import pruning
from pyrovice.results.posterior import posterior_of
from pyrovice.results.prediction import predict
from pyrovice.results.scores import hits, log_score

# Dimensions may be dropped from this step on: earlier, none has had time to grow.
DROP_FROM_STEP = 500
# What is dropped for good must be next to nothing: dimensions of at most this share of the
# objects, and never one that the rule for kept dimensions keeps.
DROP_BELOW_SHARE = 1 / 50
# Counting dimensions costs as much as a step, so it is not done after each.
LOOK_EVERY = 25
# Draws to count dimensions by, where a guide has no closed form.
LOOK_DRAWS = 100
VALIDATION_DRAWS = 10
# Nats per judgment that no fit has, in either direction.
DIVERGED = 1e6


def train(
    model: Model,
    guide: Guide,
    judgments: Judgments,
    n: int,
    training: Training,
    start: Start,
    *,
    validation: Triplets | None = None,
    progress: bool = True,
    keeper: Keeper | None = None,
) -> Run:
    """Fit `guide` to the posterior of `model` given `judgments`.

    Parameters
    ----------
    model, guide : Model, Guide
        The guide is changed in place, or replaced by one of fewer dimensions.
    judgments : Judgments
        The data, possibly aggregated.
    n : int
        How many judgments they stand for.
    training : Training
        The settings.
    start : Start
        First values of X, for the guides of pyrovice.
    validation : Triplets, optional
        Judgments to score after each epoch; they do not touch the fit.
    progress : bool
        Whether to show progress if somebody watches.
    keeper : Keeper, optional
        Saves the state of the run, and knows where an earlier one stopped.

    Returns
    -------
    Run
        Usable also after Ctrl-C.
    """
    run = Run(model, guide)
    elbo = TwoTermELBO(
        num_particles=training.particles,
        vectorize_particles=training.particles > 1,
        max_plate_nesting=2,
    )
    title = f"{model.n_objects} objects in up to {model.dimensions} dimensions"
    with (
        pyro.validation_enabled(False),
        Progress(progress, training.max_epochs, title) as bar,
    ):
        try:
            _run_epochs(run, elbo, judgments, n, training, start, validation, bar, keeper)
            if keeper is not None and not run.over:
                run.over = True
                keeper.save(run)
        except KeyboardInterrupt:
            run.interrupted = True
    return run


def _run_epochs(
    run: Run,
    elbo: TwoTermELBO,
    judgments: Judgments,
    n: int,
    training: Training,
    start: Start,
    validation: Triplets | None,
    bar: Progress,
    keeper: Keeper | None,
) -> None:
    began = time.perf_counter()
    if isinstance(run.guide, SiteGuide):
        run.guide.start_at(*start(judgments, run.model.dimensions))
    rate = training.first_rate(typical_weights(run.model), n / judgments.n_objects)
    if training.learning_rate == "auto":
        rate = min(rate, steadiest_rate(run.guide))
    run.optimizer = torch.optim.Adam(
        _parameters(run, elbo, judgments), lr=rate, betas=training.betas, fused=True
    )
    batches = Batches(judgments, training)
    schedule, decay = training.schedule, 0
    if schedule is not None:
        # The rate is down when training must end, if that is sooner.
        epochs = min(training.max_epochs, training.stop.limit() or training.max_epochs)
        decay = min(schedule.steps, epochs * len(batches))
        schedule = replace(schedule, steps=decay)
    seen = Look.at(run.guide, validation)
    row = seen.row
    if keeper is not None:
        keeper.begin(run)
    step = 0
    if run.history:
        last = run.history[-1]
        step, row = last.step, {name: getattr(last, name) for name in row}
        began -= last.seconds
        bar.go_on_from(len(run.history))
    if run.over:
        return
    for epoch in range(len(run.history), training.max_epochs):
        # Summed in place: a small tensor kept from each step would fragment the memory.
        terms = torch.zeros(2)
        for batch in batches.epoch():
            if schedule is not None:
                run.optimizer.param_groups[0]["lr"] = schedule.rate(rate, step)
            run.optimizer.zero_grad()
            log_likelihood, complexity = elbo.terms(run.model, run.guide, batch)
            ((complexity - log_likelihood) / n).backward()
            run.optimizer.step()
            terms += torch.stack([log_likelihood.detach(), complexity.detach()])
            step += 1
        log_likelihood, complexity = (terms / len(batches) / n).tolist()
        if not abs(complexity - log_likelihood) < DIVERGED:
            raise PyroviceError(
                f"The loss became {complexity - log_likelihood:.3g} in epoch {epoch}; try "
                f"Training(learning_rate={rate / 5:g})."
            )
        run.history.append(
            Epoch(
                epoch=epoch,
                step=step,
                loss=complexity - log_likelihood,
                log_likelihood=log_likelihood,
                complexity=complexity,
                seconds=time.perf_counter() - began,
                **row,
            )
        )
        look = step - run.looked_at >= LOOK_EVERY or epoch in (0, training.max_epochs - 1)
        if look or (step >= decay and run.ended(training.stop)):
            seen, run.looked_at = Look.at(run.guide, validation), step
            row = seen.row
            run.history[-1] = replace(run.history[-1], **row)
        # Nobody knows when the rule will be content, but the decay is sure to go on.
        bar.update(run.history[-1], epochs_left=max(1, (decay - step) // len(batches)))
        if step >= decay and run.ended(training.stop):
            run.converged = training.stop.reached(run.history)
            return
        if run.looked_at == step and training.drop_collapsed and step >= DROP_FROM_STEP:
            run.keep(np.flatnonzero(seen.alive))
        if keeper is not None and keeper.due:
            keeper.save(run)


@dataclass(frozen=True)
class Look:
    """What is found on stopping to look at the guide.

    Attributes
    ----------
    row : dict
        What the history says of it: dimensions, and scores if there are judgments to score.
    alive : array
        Which dimensions are more than next to nothing.
    """

    row: dict[str, Any]
    alive: NDArray[np.bool_]

    @classmethod
    def at(cls, guide: Guide, validation: Triplets | None) -> Look:
        """Count the dimensions and score the validation judgments."""
        posterior = posterior_of(guide, LOOK_DRAWS)
        row: dict[str, Any] = {"dimensions": int(pruning.kept(posterior).sum())}
        if validation is not None:
            p = predict(posterior, validation, VALIDATION_DRAWS, seed=0)
            row |= {
                "validation_cross_entropy": float(-log_score(p, validation.odd).mean()),
                "validation_accuracy": float(hits(p, validation.odd).mean()),
            }
        few = min(pruning.MIN_OBJECTS, int(posterior.shape[0] * DROP_BELOW_SHARE))
        return cls(row, pruning.kept(posterior, min_objects=few, threshold=pruning.THRESHOLD / 10))


class Batches:
    """The judgments of each step.

    With a batch size of the user's, they are drawn anew in every epoch. Automatic
    batches are few and large: the data are cut up once and the parts take turns.
    """

    def __init__(self, judgments: Judgments, training: Training) -> None:
        self.judgments = judgments
        self.size = training.rows_per_batch(len(judgments))
        self.parts = None
        if self.size >= len(judgments):
            self.parts = [judgments]
        elif training.batch_size == "auto":
            self.parts = judgments.parts(self.size)

    def __len__(self) -> int:
        return -(-len(self.judgments) // self.size)

    def epoch(self) -> Iterator[Judgments]:
        """All judgments once, in random order."""
        if self.parts is not None:
            for part in torch.randperm(len(self.parts)).tolist():
                yield self.parts[part]
        else:
            rows = torch.randperm(len(self.judgments), device=self.judgments.odd.device)
            for batch in rows.split(self.size):
                yield self.judgments[batch]


def _parameters(run: Run, elbo: TwoTermELBO, judgments: Judgments) -> list[Tensor]:
    """Every parameter that model and guide use; the first call also sets up lazy guides."""
    one_row = torch.zeros(1, dtype=torch.long, device=judgments.odd.device)
    try:
        with torch.random.fork_rng(devices=[]), poutine.trace(param_only=True) as capture:
            elbo.terms(run.model, run.guide, judgments[one_row])
    except PyroviceError:
        raise
    except Exception as error:
        # Whatever a guide that is not ours stumbles over is about this model or this prior.
        function = isinstance(run.guide, FunctionGuide)
        raise GuideError(
            f"{'The function' if function else type(run.guide).__name__} given as guide cannot "
            f"follow the prior {run.model.prior}: {str(error).splitlines()[0]}. Use "
            "guide=MeanField(), or another autoguide."
        ) from error
    if not capture.trace.nodes:
        raise GuideError(
            f"The guide {type(run.guide).__name__} has no parameters, so there is nothing to "
            "train; an AutoGuideList must be given its parts first."
        )
    used = [site["value"] for site in capture.trace.nodes.values()]
    # A constrained parameter points to the free one that is trained; a plain one is it.
    free = [value.unconstrained() if hasattr(value, "unconstrained") else value for value in used]
    # Flows share parameters between their two directions.
    free = list({id(parameter): parameter for parameter in free}.values())
    for parameter in free:
        # Fused Adam writes past the end of an expanded tensor, which some guides start from.
        parameter.data = parameter.data.contiguous()
    return free
