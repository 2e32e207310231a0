"""Fit with many priors and many seeds (paper, "Hyper-parameters")."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import PyroviceError, tell
from pyrovice.guides import guide_family
from pyrovice.inference.fitting import fit
from pyrovice.inference.identity import settings
from pyrovice.inference.plan import check_data, check_same_objects, check_training
from pyrovice.inference.progress import fits_bar
from pyrovice.model.choices import resolve_choice
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.priors import Prior, resolve_prior
from pyrovice.storage.identity import recognise
from pyrovice.sweeps.result import Result, Sweep
from pyrovice.sweeps.store import Store
from pyrovice.sweeps.workers import Job, Shared, outcomes, workers_wanted

PASSED_ON = ("choice", "people", "guide", "dimensions", "training", "device")


def sweep(
    data: Triplets,
    validation: Triplets,
    *,
    priors: Iterable[Prior],
    seeds: int | Iterable[int],
    n_jobs: int = 1,
    store: str | Path | None = None,
    threads: int = 1,
    stack: bool = True,
    progress: bool = True,
    **fit_arguments: Any,
) -> Sweep:
    """Fit every prior with every seed, and see which predicts best.

    Parameters
    ----------
    data : Triplets
        The judgments to fit.
    validation : Triplets
        Judgments to score each fit with, by its kept dimensions only.
    priors : iterable of priors
        ``pv.priors.paper_grid()`` for the paper's 180.
    seeds : int or iterable of int
        The seeds, or how many (counted from 0).
    n_jobs : int
        How many fits at once, in processes; -1 for one per core. Within
        ``joblib.parallel_config(backend="dask")`` or another backend it is as many as
        the cluster has workers.
    store : path, optional
        A folder to keep the fits in. When the sweep is run again with the same store, only
        what is missing is fitted; results of other data or settings are not used, and a
        warning says so. Without a store the fits are kept in memory.
    threads : int
        Threads of each fit. Results are the same, to the bit, for any `n_jobs` but not
        for any `threads`; of stacked fits the last digits depend on what is stacked together.
    stack : bool
        Whether to fit many at a time in one vectorised run where that is faster: small data,
        MeanField or MAP, one mind, and priors of one family. Each fit is what it is alone, up
        to rounding.
    progress : bool
        Whether to show a progress bar (in notebooks and terminals only).
    **fit_arguments
        ``choice``, ``people``, ``guide``, ``dimensions``, ``training`` and ``device``, as for
        :func:`fit`.

    Returns
    -------
    Sweep
        A fit that fails is a row with its error; it does not end the sweep.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, valid = pv.load_example().triplets.split(0.2, 0.1, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=200), stop=pv.MaxEpochs(200))
    >>> found = pv.sweep(train, valid, priors=[pv.SpikeSlab(), pv.SpikeSlab(pi=0.9)], seeds=2,
    ...                  training=quick, dimensions=9)
    >>> found.table.shape[0]
    4
    >>> found.best
    SpikeSlab(spike=0.25, slab=1.0, pi=0.5, family='normal')
    """
    check_data(data, "data")
    check_data(validation, "validation")
    check_same_objects(data, validation)
    chosen = _priors(priors)
    numbers = _seeds(seeds)
    arguments = _fit_arguments(fit_arguments)
    check_training(arguments["training"])
    common = settings(
        data,
        validation=validation,
        guide=arguments["guide"],
        dimensions=first_dimensions(arguments["dimensions"], data),
        training=arguments["training"],
        choice=arguments["choice"],
        people=arguments["people"],
    )
    jobs = [
        Job(prior, seed, common | {"prior": recognise(prior), "seed": str(seed)})
        for prior in chosen
        for seed in numbers
    ]
    results: dict[int, Result] = {}
    kept = None
    if store is not None:
        kept = Store(Path(store), common)
        _say_what_is_not_used(kept)
        for job in jobs:
            scores = kept.find(job.identity)
            if scores is not None:
                results[id(job)] = Result(job.prior, job.seed, kept.path(job.identity), scores)
    missing = [job for job in jobs if id(job) not in results]
    train, valid = (_what_a_fit_uses(each, arguments) for each in (data, validation))
    shared = Shared(train, valid, arguments, whole(threads, "threads", least=1))
    with (
        fits_bar(progress, len(jobs), done=len(results)) as bar,
        closing(outcomes(shared, missing, workers_wanted(_n_jobs(n_jobs)), stack)) as ended,
    ):
        for job, outcome in ended:
            source: Path | bytes | None = outcome.content or None
            if kept is not None and outcome.content:
                source = kept.keep(job.identity, outcome.content)
            results[id(job)] = Result(job.prior, job.seed, source, outcome.scores, outcome.error)
            bar.update()
    return Sweep(tuple(chosen), tuple(numbers), tuple(results[id(job)] for job in jobs))


def _priors(priors: Iterable[Prior]) -> list[Prior]:
    if not isinstance(priors, Iterable) or isinstance(priors, str):
        raise TypeError(f"priors={priors!r}; expected a list of priors, [{priors!r}] for one.")
    chosen = {recognise(prior): prior for prior in priors}
    if not chosen:
        raise PyroviceError("priors is empty; expected at least one, for example [SpikeSlab()].")
    for prior in chosen.values():
        resolve_prior(prior)
    return list(chosen.values())


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if not isinstance(seeds, Iterable):
        return list(range(whole(seeds, "seeds", least=1)))
    numbers = list(dict.fromkeys(whole_seed(seed) for seed in seeds))
    if not numbers:
        raise PyroviceError("seeds is empty; expected seeds, or how many, for example seeds=20.")
    return numbers


def _n_jobs(n_jobs: int) -> int:
    if not isinstance(n_jobs, int) or n_jobs == 0:
        raise PyroviceError(f"n_jobs={n_jobs!r}; expected a number of processes, or -1 for all.")
    return n_jobs


def _fit_arguments(given: dict[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in PASSED_ON:
            raise TypeError(
                f"sweep got {name}=...; expected, beside its own arguments, only those of fit "
                f"that all fits can share: {', '.join(PASSED_ON)}."
            )
    parameters = inspect.signature(fit).parameters
    arguments = {name: given.get(name, parameters[name].default) for name in PASSED_ON}
    arguments["guide"] = guide_family(arguments["guide"])
    return arguments


def _what_a_fit_uses(data: Triplets, arguments: dict[str, Any]) -> Triplets:
    """Only what a fit uses, which is all that workers need."""
    asks = resolve_choice(arguments["choice"]).asks_who_answered
    who = data.participants if asks or arguments["people"] is not None else None
    places = None
    if resolve_choice(arguments["choice"]).asks_where and data.trials is not None:
        places = data.trials.filter(PLACE_COLUMNS)
    return Triplets(
        data.objects,
        data.odd,
        names=data.names,
        anchor=data.anchor,
        participants=who,
        trials=places,
    )


def _say_what_is_not_used(store: Store) -> None:
    names = store.others() if store.is_new else []
    if names:
        tell(
            f"The store {store.root} holds results of other data or settings (they differ in "
            f"{', '.join(names)}). They are not used here, and are left as they are.",
        )
