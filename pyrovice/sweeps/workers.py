"""Many fits at once, by any joblib backend, whatever happens to its workers."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import joblib
import torch
from joblib.parallel import LokyBackend, get_active_backend
from threadpoolctl import threadpool_limits

from pyrovice.data.triplets import Triplets
from pyrovice.errors import InterruptedWarning, PyroviceWarning
from pyrovice.inference.fitting import fit
from pyrovice.inference.worker_lifetime import below, workers_of_this_process
from pyrovice.model.priors import Prior
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.saved_fits import to_bytes
from pyrovice.sweeps.result import SCORE


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


def fit_one(shared: Shared, number: int, job: Job) -> tuple[int, Outcome]:
    """Make one fit and score its kept dimensions; the job's number comes back with it."""
    with (
        pyro_locked(),
        _limited_threads(shared.threads),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", PyroviceWarning)
        try:
            found = fit(
                shared.data, prior=job.prior, seed=job.seed, progress=False, **shared.arguments
            )
            # An interrupted fit is not a result: somebody wants to stop.
            if any(issubclass(warning.category, InterruptedWarning) for warning in caught):
                raise KeyboardInterrupt
            evaluation = found.prune().evaluate(shared.validation)
            ours = [str(w.message) for w in caught if issubclass(w.category, PyroviceWarning)]
            scores = {
                SCORE: evaluation.cross_entropy,
                "validation_accuracy": evaluation.accuracy,
                "dimensions": found.n_dimensions,
                "loss": float(found.history.loss.iloc[-1]),
                "converged": found.converged,
                "epochs": len(found.history),
                "seconds": float(found.history.seconds.iloc[-1]),
                "note": " ".join(ours),
            }
            content = to_bytes(found, identity=dict(job.identity), scores=scores)
            return number, Outcome(content, scores)
        except Exception as error:
            return number, Outcome(error=_sentence(error))


def outcomes(
    shared: Shared, jobs: Sequence[Job], n_jobs: int
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
            for number, outcome in _in_parallel(shared, batch, max(n_jobs, 2) if alone else n_jobs):
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


def _in_parallel(
    shared: Shared, jobs: Sequence[tuple[int, Job]], n_jobs: int
) -> Iterator[tuple[int, Outcome]]:
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
    tasks = [joblib.delayed(below)(parent, fit_one, shared, *job) for job in jobs]
    if streams:
        yield from parallel(tasks)
        return
    # Some backends (Ray) return lists only; then results come a few at a time.
    some = 2 * joblib.effective_n_jobs(n_jobs)
    with parallel:
        for first in range(0, len(tasks), some):
            yield from parallel(tasks[first : first + some])


@contextmanager
def _limited_threads(threads: int) -> Iterator[None]:
    """Give torch and the linear algebra below numpy this many threads."""
    before = torch.get_num_threads()
    with threadpool_limits(limits=threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def _sentence(error: BaseException) -> str:
    # Pyro adds the shapes of all sites below.
    first_line = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {first_line}"
