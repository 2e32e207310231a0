"""Many fits at once, by any joblib backend, whatever happens to its workers."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from joblib.parallel import LokyBackend, get_active_backend
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import InterruptedWarning, PyroviceWarning
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, kind_of, largest_stack
from pyrovice.inference.threads import limited_threads
from pyrovice.inference.worker_lifetime import below, workers_of_this_process
from pyrovice.model.priors import Prior
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.fit import Fit
from pyrovice.results.saved_fits import to_bytes
from pyrovice.results.scores import Evaluation, evaluate, log_score
from pyrovice.results.unjudged import warn_of_unjudged
from pyrovice.sweeps.result import BY_JUDGMENT, SCORE


@dataclass(frozen=True, eq=False)
class Shared:
    """What all fits have in common; it travels to each worker once."""

    data: Triplets
    validation: Triplets
    arguments: Mapping[str, Any]
    threads: int


@dataclass(frozen=True, eq=False)
class Job:
    """One fit to make, and what it is recognised by."""

    prior: Prior
    seed: int
    identity: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a job: a saved fit and its scores, or an error."""

    content: bytes = b""
    scores: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def fit_some(shared: Shared, jobs: Sequence[tuple[int, Job]]) -> list[tuple[int, Outcome]]:
    """Make some fits and score their kept dimensions; the numbers of the jobs come back too."""
    ended: list[tuple[int, Outcome]] = []
    plans: list[Plan] = []
    planned: list[tuple[int, Job]] = []
    for number, job in jobs:
        try:
            plans.append(
                Plan.of(
                    shared.data,
                    prior=job.prior,
                    seed=job.seed,
                    threads=shared.threads,
                    **shared.arguments,
                )
            )
            planned.append((number, job))
        except Exception as error:
            ended.append((number, Outcome(error=_sentence(error))))
    with (
        pyro_locked(),
        limited_threads(shared.threads),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", PyroviceWarning)
        for place, found in fit_many(plans):
            number, job = planned[place]
            ended.append((number, _outcome(shared, job, found, caught, len(plans))))
            caught.clear()
    return ended


def _outcome(
    shared: Shared,
    job: Job,
    found: Fit | Exception,
    caught: Sequence[warnings.WarningMessage],
    together: int,
) -> Outcome:
    # An interrupted fit is not a result: somebody wants to stop.
    if any(issubclass(warning.category, InterruptedWarning) for warning in caught):
        raise KeyboardInterrupt
    if isinstance(found, Exception):
        return Outcome(error=_sentence(found))
    try:
        evaluation, by_judgment = _scored(found.prune(), shared.validation)
        ours = [str(w.message) for w in caught if issubclass(w.category, PyroviceWarning)]
        scores = {
            SCORE: evaluation.cross_entropy,
            "validation_accuracy": evaluation.accuracy,
            "dimensions": found.n_dimensions,
            "loss": float(found.history.loss.iloc[-1]),
            "converged": found.converged,
            "epochs": len(found.history),
            # Of fits that were made together, the share of one.
            "seconds": float(found.history.seconds.iloc[-1]) / together,
            "note": " ".join(ours),
        }
        beside = {BY_JUDGMENT: by_judgment}
        return Outcome(to_bytes(found, beside, identity=dict(job.identity), scores=scores), scores)
    except Exception as error:
        return Outcome(error=_sentence(error))


def _scored(pruned: Fit, validation: Triplets) -> tuple[Evaluation, NDArray[np.float32]]:
    """The scores of a fit, and the log-probability of each answer."""
    if pruned.unjudged:
        warn_of_unjudged(pruned.names, pruned.unjudged, validation)
    p = pruned.predict(validation)
    return evaluate(p, validation), log_score(p, validation.odd).astype(np.float32)


def outcomes(
    shared: Shared, jobs: Sequence[Job], n_jobs: int, stack: bool = True
) -> Generator[tuple[Job, Outcome], None, None]:
    """What becomes of every job, in the order in which they end.

    Jobs whose worker died are given to another one. If that does not help, each is given
    a worker of its own, so that a job that kills its worker takes no other job with it.
    """
    waiting = dict(enumerate(jobs))
    alone = False
    while waiting:
        batch = list(waiting.items())[: 1 if alone else None]
        before = len(waiting)
        try:
            # A single job would run in this process, which should survive it.
            workers = max(n_jobs, 2) if alone else n_jobs
            groups = _groups(shared, batch, workers) if stack else [[each] for each in batch]
            for ended in _in_parallel(shared, groups, workers):
                for number, outcome in ended:
                    yield waiting.pop(number), outcome
        except Exception as error:
            if alone:
                lost = Outcome(error=f"The worker was lost. {_sentence(error)}")
                yield waiting.pop(batch[0][0]), lost
            alone = alone or len(waiting) == before


def workers_wanted(n_jobs: int) -> int:
    """How many workers; the user may have told joblib instead."""
    if n_jobs != 1:
        return n_jobs
    backend, configured = get_active_backend()
    # Whoever names a cluster and no number wants all of it.
    everything = -1 if not isinstance(backend, LokyBackend) else 1
    return configured or everything


def _groups(
    shared: Shared, jobs: Sequence[tuple[int, Job]], n_jobs: int
) -> list[list[tuple[int, Job]]]:
    """Jobs to be fitted together, in enough groups for all workers."""
    kinds: dict[object, list[tuple[int, Job]]] = {}
    for number, job in jobs:
        kind = kind_of(job.prior, shared.data, **shared.arguments)
        kinds.setdefault(kind or number, []).append((number, job))
    workers = joblib.effective_n_jobs(n_jobs)
    found = []
    for members in kinds.values():
        size = min(largest_stack(len(shared.data)), -(-len(members) // workers))
        found += [members[first : first + size] for first in range(0, len(members), size)]
    return found


def _in_parallel(
    shared: Shared, groups: Sequence[Sequence[tuple[int, Job]]], n_jobs: int
) -> Iterator[list[tuple[int, Outcome]]]:
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    kind: dict[str, Any] = {}
    if client is not None:
        # By itself joblib gives the data to one Dask worker, and they would be lost with it.
        client.wait_for_workers(1)
        kind = {"backend": "dask", "client": client, "scatter": [shared], **backend.submit_kwargs}
    streams = backend.supports_return_generator
    with joblib.parallel_config(**kind), workers_of_this_process() as parent:
        parallel = joblib.Parallel(
            n_jobs=n_jobs,
            batch_size=1,
            return_as="generator_unordered" if streams else "list",
        )
    tasks = [joblib.delayed(below)(parent, fit_some, shared, group) for group in groups]
    if streams:
        yield from parallel(tasks)
        return
    # Some backends (Ray) return lists only; then results come a few at a time.
    some = 2 * joblib.effective_n_jobs(n_jobs)
    with parallel:
        for first in range(0, len(tasks), some):
            yield from parallel(tasks[first : first + some])


def _sentence(error: BaseException) -> str:
    # Pyro adds the shapes of all sites below.
    first_line = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {first_line}"
