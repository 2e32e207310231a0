"""Many fits of which only something is kept: stacked, in processes, and never made twice."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import joblib
import numpy as np

from pyrovice.errors import PyroviceError, PyroviceWarning, WriteError
from pyrovice.inference.plan import Plan
from pyrovice.inference.progress import fits_bar
from pyrovice.inference.stacked_fits import fit_many, fit_or_error, stacks
from pyrovice.inference.worker_lifetime import below, workers_of_this_process
from pyrovice.results.fit import Fit
from pyrovice.storage.archive import pack, reading, unpack
from pyrovice.storage.atomic import write_whole
from pyrovice.storage.identity import digest

Arrays = dict[str, np.ndarray]


class Wanted(Protocol):
    """A fit to make, and what to keep of it."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Everything that decides what is kept, in words."""
        ...

    def plan(self) -> Plan:
        """The fit to make."""
        ...

    def keep(self, fit: Fit) -> Arrays:
        """What to keep of it."""
        ...


def results_of(
    wanted: Sequence[Wanted],
    *,
    store: str | Path | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> list[Arrays]:
    """What is kept of each fit.

    Parameters
    ----------
    wanted : sequence of Wanted
        The fits.
    store : path, optional
        A folder for results. Those that are there are not computed again, and each is written as
        soon as it is there, so that a run that was killed goes on where it was.
    n_jobs : int
        Processes to work in, for fits that are too large to be stacked.
    progress : bool
        Whether to show a bar over the fits.
    """
    kept = None if store is None else _Kept(Path(store))
    found = {} if kept is None else kept.find(wanted)
    left = [i for i in range(len(wanted)) if i not in found]
    with (
        fits_bar(progress, len(wanted), len(found)) as bar,
        warnings.catch_warnings(),
    ):
        # Warnings are about the fit that these are a variation of, which has given them.
        warnings.simplefilter("ignore", PyroviceWarning)
        for place, result in _carried_out([wanted[i] for i in left], n_jobs):
            found[left[place]] = result
            if kept is not None:
                kept.add(wanted[left[place]], result)
            bar.update()
    return [found[i] for i in range(len(wanted))]


def _carried_out(wanted: Sequence[Wanted], n_jobs: int) -> Iterator[tuple[int, Arrays]]:
    plans = [each.plan() for each in wanted]
    if n_jobs == 1 or len(plans) < 2:
        for i, fit in fit_many(plans):
            yield i, wanted[i].keep(fit_or_error(fit))
        return
    workers = joblib.effective_n_jobs(n_jobs)
    groups = []
    for places in stacks(plans):
        size = -(-len(places) // workers)
        groups += [places[first : first + size] for first in range(0, len(places), size)]
    with workers_of_this_process() as parent:
        parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
        tasks = [
            joblib.delayed(below)(parent, _some, places, [wanted[i] for i in places])
            for places in groups
        ]
        for some in parallel(tasks):
            yield from some


def _some(places: Sequence[int], wanted: Sequence[Wanted]) -> list[tuple[int, Arrays]]:
    """What a process does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyroviceWarning)
        made = fit_many([each.plan() for each in wanted])
        return [(places[i], wanted[i].keep(fit_or_error(fit))) for i, fit in made]


class _Kept:
    """A folder of results, each in a file that is named by what decides it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(
                f"The store {folder} cannot be made: {error.strerror or error}. Choose a folder "
                "that can be written to."
            ) from error

    def _path(self, wanted: Wanted) -> Path:
        return self.folder / f"{digest(wanted.identity)}.npz"

    def find(self, wanted: Sequence[Wanted]) -> dict[int, Arrays]:
        """Results that are there already, by their places."""
        found: dict[int, Arrays] = {}
        for i, each in enumerate(wanted):
            path = self._path(each)
            if path.exists():
                with reading(path, "the result of a refit: remove it", PyroviceError):
                    found[i] = unpack(path)[1]
        return found

    def add(self, wanted: Wanted, result: Arrays) -> None:
        """Write one, which another process may just have written as well."""
        write_whole(self._path(wanted), pack(dict(wanted.identity), result), replace=True)
