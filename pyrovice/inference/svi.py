"""Stochastic variational inference (paper, Algorithm 1).

Each step draws X from the guide, compares it with a batch of judgments and
moves the guide along the gradient of the ELBO.
"""

from __future__ import annotations

import time
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
from pyrovice.guides import MeanFieldGuide, SiteGuide, steadiest_rate
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.guides.foreign import cannot_follow, mismatch
from pyrovice.inference.batches import Batches
from pyrovice.inference.checkpoints import Keeper
from pyrovice.inference.gradients import Gradients
from pyrovice.inference.progress import Progress
from pyrovice.inference.run import Epoch, Run
from pyrovice.inference.settings import LARGEST_RATE, MOST_STEPS, Anneal, Training
from pyrovice.inference.starts import Start
from pyrovice.inference.worth import is_time_to_weigh, pay_for_themselves
from pyrovice.model.judgments import Judgments
from pyrovice.model.priors import steady_rate
from pyrovice.model.structure import typical_weights
from pyrovice.results import pruning
from pyrovice.results.posterior import quick_posterior
from pyrovice.results.prediction import predict
from pyrovice.results.scores import hits, log_score

# Dimensions may be dropped after this share of the decay and this many steps: earlier, none has
# had time to grow.
DROP_FROM_SHARE, DROP_FROM_STEP = 1 / 4, 150
# Next to nothing are dimensions of at most this share of the objects, and never one that the rule
# for kept dimensions keeps.
DROP_BELOW_SHARE = 1 / 50
# Counting dimensions costs as much as a step, so it is not done after each.
LOOK_EVERY = 25
# Draws to count dimensions by, where a guide has no closed form.
LOOK_DRAWS = 100
VALIDATION_DRAWS = 10
# What is learned of people only once there is an embedding. Before, lapses would explain all that
# it does not explain yet, and who lapses can be ever so sure at no cost. Temperatures beside
# weights are learned from the first step, unless there are lapses.
LATER = (
    *("typical_lapse", "lapse_spread", "person_lapse"),
    *("temperature_spread", "person_temperature"),
)
# Nats per judgment that no fit has, in either direction.
DIVERGED = 1e6


@dataclass(frozen=True)
class Task:
    """What a guide is trained on.

    Attributes
    ----------
    judgments : Judgments
        The data, possibly aggregated.
    n : int
        How many judgments they stand for.
    training : Training
        The settings.
    start : Start
        First values of X, for the guides of pyrovice.
    validation : Triplets, optional
        Judgments to score now and then; they do not touch the fit.
    rate_factor : float
        What the learning rate is multiplied by.
    """

    judgments: Judgments
    n: int
    training: Training
    start: Start
    validation: Triplets | None = None
    rate_factor: float = 1.0


def train(run: Run, task: Task, *, progress: bool = True, keeper: Keeper | None = None) -> None:
    """Fit the guide of a run to the posterior of its model.

    Parameters
    ----------
    run : Run
        Its guide is changed in place, or replaced by one of fewer dimensions. The run is usable
        also after Ctrl-C.
    task : Task
        The judgments, and how to train.
    progress : bool
        Whether to show progress in notebooks and terminals.
    keeper : Keeper, optional
        Saves the state of the run, and knows where an earlier one stopped.
    """
    title = f"{run.model.n_objects} objects in up to {run.model.dimensions} dimensions"
    with (
        pyro.validation_enabled(False),
        Progress(progress, task.training.max_epochs, title) as bar,
    ):
        try:
            Trainer(run, task, keeper, bar).run_to_the_end()
        except KeyboardInterrupt:
            run.interrupted = True


class Trainer:
    """One training run, epoch by epoch."""

    def __init__(self, run: Run, task: Task, keeper: Keeper | None, bar: Progress) -> None:
        self.run, self.task, self.keeper, self.bar = run, task, keeper, bar
        training, judgments = task.training, task.judgments
        self.began = time.perf_counter()
        self.elbo = TwoTermELBO(
            num_particles=training.particles,
            vectorize_particles=training.particles > 1,
            max_plate_nesting=run.model.structure.max_plate_nesting,
        )
        _place(run, task)
        self.rate = training.first_rate(typical_weights(run.model), task.n / judgments.n_objects)
        if training.learning_rate == "auto":
            of_features = steady_rate(run.model.prior, task.n)
            self.rate = min(self.rate, steadiest_rate(run.guide), of_features)
        self.rate *= task.rate_factor
        run.optimizer = torch.optim.Adam(
            _parameters(run, self.elbo, judgments), lr=self.rate, betas=training.betas, fused=True
        )
        self.batches = Batches(judgments, training)
        self.schedule, self.decay = training.schedule, 0
        if self.schedule is not None:
            # The rate is down when training must end, if that is sooner.
            epochs = min(training.max_epochs, training.stop.limit() or training.max_epochs)
            self.decay = min(_steps(self.schedule, run, task), epochs * len(self.batches))
            self.schedule = replace(self.schedule, steps=self.decay)
        self.drop_from = max(self.decay * DROP_FROM_SHARE, DROP_FROM_STEP)
        latent = run.model.structure.latent
        self.later: tuple[str, ...] = ()
        waits = "person_lapse" in latent or run.model.sees_alike
        if run.model.people is not None and isinstance(run.guide, SiteGuide) and waits:
            self.later = tuple(site for site in LATER if site in latent)
        self.gradients: Gradients | None = None
        self.seen = Look.at(run, task.validation)
        self.row = self.seen.row
        self.step = 0

    def run_to_the_end(self) -> None:
        """Train until the rule is met or the epochs are over, saving the state on the way."""
        self._take_up()
        for epoch in range(len(self.run.history), self.task.training.max_epochs):
            if self.run.over:
                break
            self._pass_through_the_data(epoch)
            self.look(epoch)
            # Nobody knows when the rule will be met, but the decay is sure to go on.
            left = max(1, (self.decay - self.step) // len(self.batches))
            self.bar.update(self.run.history[-1], epochs_left=left)
            if self.has_ended():
                break
            self.drop_dimensions()
            if self.keeper is not None and self.keeper.due:
                self.keeper.save(self.run)
        if self.keeper is not None and not self.run.over:
            self.run.over = True
            self.keeper.save(self.run)

    def _take_up(self) -> None:
        """Go on from a checkpoint, if there is one."""
        run = self.run
        if self.keeper is not None:
            self.keeper.begin(run)
        if run.history:
            last = run.history[-1]
            self.step, self.row = last.step, {name: getattr(last, name) for name in self.row}
            self.began -= last.seconds
            self.bar.go_on_from(len(run.history))

    def _pass_through_the_data(self, epoch: int) -> None:
        run, n = self.run, self.task.n
        assert run.optimizer is not None
        # Summed in place: a small tensor kept from each step would fragment the memory.
        terms = torch.zeros(2)
        for batch in self.batches.epoch():
            run.optimizer.param_groups[0]["lr"] = self.rate_now()
            terms += self._gradients().take(batch, again=self.batches.parts is not None)
            run.optimizer.step()
            self.step += 1
        self.record(epoch, *(terms / len(self.batches) / n).tolist())

    def _gradients(self) -> Gradients:
        """Those of the guide as it is, and of what is learned by now."""
        held = self.later if self.step < self.drop_from else ()
        last = self.gradients
        if last is None or last.of is not self.run.guide or last.held != held:
            last = self.gradients = Gradients(self.run, self.elbo, self.task.n, held)
        return last

    def rate_now(self) -> float:
        """The learning rate of the next step."""
        return self.rate if self.schedule is None else self.schedule.rate(self.rate, self.step)

    def record(self, epoch: int, log_likelihood: float, complexity: float) -> None:
        """Note the two terms of an epoch, in nats per judgment, unless training has diverged."""
        if not abs(complexity - log_likelihood) < DIVERGED:
            raise PyroviceError(
                f"The loss became {complexity - log_likelihood:.3g} in epoch {epoch}; try "
                f"Training(learning_rate={_lower(self.rate)})."
            )
        self.run.history.append(
            Epoch(
                epoch=epoch,
                step=self.step,
                loss=complexity - log_likelihood,
                log_likelihood=log_likelihood,
                complexity=complexity,
                seconds=time.perf_counter() - self.began,
                **self.row,
            )
        )

    def is_time_to_look(self, epoch: int) -> bool:
        """Whether to count the dimensions after this epoch, because it is time or decides."""
        due = self.step - self.run.looked_at >= LOOK_EVERY
        first_or_last = epoch in (0, self.task.training.max_epochs - 1)
        return due or first_or_last or self._rule_is_met()

    def look(self, epoch: int) -> None:
        """Count the dimensions, if it is time to."""
        run = self.run
        if self.is_time_to_look(epoch):
            self.seen, run.looked_at = Look.at(run, self.task.validation), self.step
            self.row = self.seen.row
            run.history[-1] = replace(run.history[-1], **self.row)

    def has_ended(self) -> bool:
        """Whether training is over, which the run then knows."""
        if not self._rule_is_met():
            return False
        self.run.converged = self.task.training.stop.settled(self.run.history)
        return True

    def _rule_is_met(self) -> bool:
        return self.step >= self.decay and self.run.ended(self.task.training.stop)

    def drop_dimensions(self) -> NDArray[np.intp] | None:
        """Drop what is next to nothing or costs too much; the columns left, None if all are."""
        if not (
            self.run.looked_at == self.step
            and self.task.training.drop_collapsed
            and self.step >= self.drop_from
        ):
            return None
        alive, past = self.seen.alive, self.step / self.decay if self.decay else 0.0
        if is_time_to_weigh(self.run, past):
            alive = alive & pay_for_themselves(self.run, self.batches.portions, past)
        left = np.flatnonzero(alive)
        return left if self.run.keep(left) else None


def _steps(schedule: Anneal, run: Run, task: Task) -> int:
    """How long the learning rate falls."""
    structure = run.model.structure
    plain = structure.entrywise and {*structure.latent} == {"X"}
    if schedule.steps == "auto" and not (plain and type(run.guide) is MeanFieldGuide):
        return MOST_STEPS
    return schedule.length(run.model.n_objects, task.n / run.model.n_objects)


def _lower(rate: float) -> str:
    """A learning rate to try after one that was too high, as it is typed."""
    return "'auto'" if rate > LARGEST_RATE else f"{rate / 5:g}"


def _place(run: Run, task: Task) -> None:
    """Put the guides of pyrovice where training starts; others start where their code says."""
    if not isinstance(run.guide, SiteGuide):
        return
    centres = run.guide.centres()
    if "person_lapse" in centres:
        # Everybody is typical at first.
        typical = centres["typical_lapse"].expand_as(centres["person_lapse"])
        run.guide.start_others({"person_lapse": typical})
    loc, scale = task.start(task.judgments, run.model.dimensions)
    if run.model.structure.entrywise:
        run.guide.start_at(loc, scale)
        if hasattr(run.model.prior, "sites_for"):
            run.guide.start_others(run.model.prior.sites_for(loc))
    elif "X" not in run.model.structure.latent:
        run.guide.start_near(loc, run.model)


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
    def at(cls, run: Run, validation: Triplets | None) -> Look:
        """Count the dimensions and score the validation judgments."""
        posterior = quick_posterior(run.guide, run.model, LOOK_DRAWS)
        if not all(np.isfinite(array).all() for array in posterior.arrays().values()):
            raise PyroviceError(
                f"The weights became infinite under the prior {run.model.prior}: its scales, or "
                "the learning rate, are beyond what float32 can hold. Use a prior whose weights "
                "are nearer to 1, or Training(learning_rate='auto')."
            )
        row: dict[str, Any] = {"dimensions": int(pruning.kept(posterior).sum())}
        if validation is not None:
            p = predict(run.model, posterior, validation, VALIDATION_DRAWS, seed=0)
            row |= {
                "validation_cross_entropy": float(-log_score(p, validation.odd).mean()),
                "validation_accuracy": float(hits(p, validation.odd).mean()),
            }
        few = min(pruning.MIN_OBJECTS, int(posterior.shape[0] * DROP_BELOW_SHARE))
        return cls(row, pruning.kept(posterior, min_objects=few, threshold=pruning.THRESHOLD / 10))


def _parameters(run: Run, elbo: TwoTermELBO, judgments: Judgments) -> list[Tensor]:
    """Every parameter that model and guide use; the first call also sets up lazy guides."""
    one_row = torch.zeros(1, dtype=torch.long, device=judgments.odd.device)
    try:
        with torch.random.fork_rng(devices=[]), poutine.trace(param_only=True) as capture:
            elbo.terms(run.model, run.guide, judgments[one_row])
    except PyroviceError:
        raise
    except Exception as error:
        # Any error of a guide written elsewhere is about this model or this prior.
        reason = mismatch(run.guide, run.model, judgments[one_row]) or str(error).splitlines()[0]
        raise cannot_follow(run.guide, run.model, reason) from error
    if not capture.trace.nodes:
        raise GuideError(
            f"The guide {type(run.guide).__name__} has no parameters, so there is nothing to "
            "train; an AutoGuideList must be given its parts first."
        )
    missed = mismatch(run.guide, run.model, judgments[one_row])
    if missed is not None:
        # Pyro would take what the guide does not sample from the prior, and say nothing.
        raise cannot_follow(run.guide, run.model, missed)
    used = [site["value"] for site in capture.trace.nodes.values()]
    # A constrained parameter points to the free one that is trained; a plain one is it.
    free = [value.unconstrained() if hasattr(value, "unconstrained") else value for value in used]
    # Flows share parameters between their two directions.
    free = list({id(parameter): parameter for parameter in free}.values())
    for parameter in free:
        # Fused Adam writes past the end of an expanded tensor, which some guides start from.
        parameter.data = parameter.data.contiguous()
    return free
