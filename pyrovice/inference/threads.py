"""How many threads a computation gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController

# Multiplications in one step below which threads wait for each other longer than they compute.
SMALL_STEP = 2e7


@cache
def _pools() -> ThreadpoolController:
    # Looking for them takes as long as a few steps of training.
    return ThreadpoolController()


@contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """Give torch and the linear algebra below numpy this many threads; None changes nothing."""
    if threads is None:
        yield
        return
    before = torch.get_num_threads()
    with _pools().limit(limits=threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def threads_for(n_objects: int, dimensions: int, judgments: int) -> int | None:
    """One thread for a small step, and as many as torch has been given for a large one.

    Examples
    --------
    >>> threads_for(n_objects=80, dimensions=40, judgments=20_000)
    1
    >>> threads_for(n_objects=1854, dimensions=100, judgments=1_460_000)
    """
    return 1 if n_objects**2 * dimensions + 30 * judgments < SMALL_STEP else None
