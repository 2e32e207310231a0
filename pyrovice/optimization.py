"""Stochastic variational inference (paper, Algorithm 1).

Each step draws X from the guide, compares it with a batch of judgments and
moves the guide along the gradient of the ELBO.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyro
import torch
from pyro import poutine
from torch import Tensor

from pyrovice import pruning
from pyrovice.elbo import TwoTermELBO
from pyrovice.errors import PyroviceError
from pyrovice.evaluation import hits, log_score
from pyrovice.guides import Guide, MeanFieldGuide
from pyrovice.likelihood import Judgments
from pyrovice.model import Model
from pyrovice.posterior import Posterior, posterior_of
from pyrovice.predictive import predict
from pyrovice.progress import Progress
from pyrovice.training import STARTS, Training
from pyrovice.triplets import Triplets

# Dimensions may be dropped from this step on: earlier, none has had time to grow.
DROP_FROM_STEP = 300
VALIDATION_DRAWS = 10


@dataclass(frozen=True)
class Epoch:
    """One row of the history; all but the counts in nats per judgment."""

    epoch: int
    step: int
    loss: float
    log_likelihood: float
    complexity: float
    dimensions: int
    seconds: float
    validation_cross_entropy: float | None = None
    validation_accuracy: float | None = None


@dataclass
class Run:
    """The state of a training run, and its result."""

    model: Model
    guide: Guide
    history: list[Epoch] = field(default_factory=list)
    converged: bool = False
    interrupted: bool = False

    def table(self) -> pd.DataFrame:
        """The history, one row per epoch."""
        columns = list(Epoch.__dataclass_fields__)
        frame = pd.DataFrame([asdict(epoch) for epoch in self.history], columns=columns)
        return frame.dropna(axis="columns", how="all").set_index("epoch")


def train(
    model: Model,
    guide: Guide,
    judgments: Judgments,
    n: int,
    training: Training,
    *,
    validation: Triplets | None = None,
    progress: bool = True,
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
    validation : Triplets, optional
        Judgments to score after each epoch; they do not touch the fit.
    progress : bool
        Whether to show progress if somebody watches.

    Returns
    -------
    Run
        Usable also after Ctrl-C.
    """
    run = Run(model, guide)
    if isinstance(guide, MeanFieldGuide):
        guide.start_at(*STARTS[training.start](judgments, model.dimensions))
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
            _run_epochs(run, elbo, judgments, n, training, validation, bar)
        except KeyboardInterrupt:
            run.interrupted = True
    return run


def _run_epochs(
    run: Run,
    elbo: TwoTermELBO,
    judgments: Judgments,
    n: int,
    training: Training,
    validation: Triplets | None,
    bar: Progress,
) -> None:
    optimizer = torch.optim.Adam(
        _parameters(run, elbo, judgments), lr=training.learning_rate, fused=True
    )
    began = time.perf_counter()
    rows = training.rows_per_batch(len(judgments))
    step, settled_at = 0, None
    for epoch in range(training.max_epochs):
        terms = []
        for batch in _batches(len(judgments), rows, judgments.odd.device):
            if settled_at is not None:
                _set_rate(
                    optimizer, training.schedule.rate(training.learning_rate, step - settled_at)
                )
            optimizer.zero_grad()
            log_likelihood, complexity = elbo.terms(run.model, run.guide, judgments, batch)
            ((complexity - log_likelihood) / n).backward()
            optimizer.step()
            terms.append(torch.stack([log_likelihood.detach(), complexity.detach()]))
            step += 1
        data_term, complexity_term = (torch.stack(terms).mean(0) / n).tolist()
        if not np.isfinite(data_term + complexity_term):
            raise PyroviceError(
                f"The loss became {complexity_term - data_term} in epoch {epoch}; try "
                f"Training(learning_rate={training.learning_rate / 5:g})."
            )
        posterior = posterior_of(run.guide)
        counts = pruning.importance(posterior.zero_probability())
        kept = counts > pruning.MIN_OBJECTS
        scores = {} if validation is None else _validate(posterior, validation)
        run.history.append(
            Epoch(
                epoch, step, complexity_term - data_term, data_term, complexity_term,
                int(kept.sum()), time.perf_counter() - began, **scores,
            )
        )
        epochs_left = training.max_epochs - epoch - 1
        if settled_at is None and training.stop.reached(run.history):
            settled_at = step
        if settled_at is not None:
            steps_left = 0 if training.schedule is None else (
                training.schedule.steps - (step - settled_at)
            )
            epochs_left = min(epochs_left, -(-steps_left * rows // len(judgments)))
        bar.update(run.history[-1].loss, run.history[-1].dimensions, max(epochs_left, 0))
        if settled_at is not None and steps_left <= 0:
            run.converged = True
            return
        if training.stop.collapsed(run.history):
            return
        if training.drop_collapsed and step >= DROP_FROM_STEP and 0 < kept.sum() < len(kept):
            optimizer = _drop(run, optimizer, np.flatnonzero(kept))


def _batches(rows: int, size: int, device: torch.device) -> Iterator[Tensor | None]:
    """The rows of each step of an epoch in random order; None stands for all of them."""
    if size >= rows:
        yield None
    else:
        yield from torch.randperm(rows, device=device).split(size)


def _parameters(run: Run, elbo: TwoTermELBO, judgments: Judgments) -> list[Tensor]:
    """Every parameter that model and guide use; the first call also sets up lazy guides."""
    one_row = torch.zeros(1, dtype=torch.long, device=judgments.odd.device)
    with torch.random.fork_rng(devices=[]), poutine.trace(param_only=True) as capture:
        elbo.terms(run.model, run.guide, judgments, one_row)
    used = [site["value"] for site in capture.trace.nodes.values()]
    # A constrained parameter points to the free one that is trained; a plain one is it.
    return [value.unconstrained() if hasattr(value, "unconstrained") else value for value in used]


def _drop(run: Run, optimizer: torch.optim.Adam, kept: np.ndarray) -> torch.optim.Adam:
    """Leave only the kept dimensions in the model, the guide and Adam's memory."""
    old = run.guide
    if not isinstance(old, MeanFieldGuide):
        return optimizer
    new = old.select(kept)
    columns = torch.as_tensor(kept, device=old.loc.X.device)
    follower = torch.optim.Adam(
        new.parameters(), lr=optimizer.param_groups[0]["lr"], fused=True
    )
    for name, dim in old.column_dims().items():
        memory = optimizer.state[old.get_parameter(name)]
        follower.state[new.get_parameter(name)] = {
            key: value if dim is None or not value.dim() else value.index_select(dim, columns)
            for key, value in memory.items()
        }
    run.guide = new
    run.model = run.model.with_dimensions(len(kept))
    return follower


def _set_rate(optimizer: torch.optim.Adam, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _validate(posterior: Posterior, validation: Triplets) -> dict[str, Any]:
    p = predict(posterior, validation, VALIDATION_DRAWS, seed=0)
    return {
        "validation_cross_entropy": float(-log_score(p, validation.odd).mean()),
        "validation_accuracy": float(hits(p, validation.odd).mean()),
    }
