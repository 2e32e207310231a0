"""Pyro for one thread at a time.

Pyro's handlers, its parameters and torch's random numbers exist once per process. Two threads that
use them at the same time get each other's messages and random numbers, and a handler that one of
them leaves behind breaks every later call. Whatever runs Pyro code here holds this lock meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyro.poutine import runtime


class _Held:
    """The lock; the same thread may take it again."""

    lock = threading.RLock()


@contextmanager
def pyro_locked() -> Iterator[None]:
    """Have Pyro to oneself, and leave it as it was found, whatever happens.

    Other threads wait. Do not wait for another thread inside.

    Examples
    --------
    >>> import pyro
    >>> try:
    ...     with pyro_locked():
    ...         handler = pyro.poutine.trace().__enter__()
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     pass
    >>> pyro.poutine.runtime.am_i_wrapped()
    False
    """
    with _Held.lock:
        handlers = list(runtime._PYRO_STACK)
        plates = list(runtime._DIM_ALLOCATOR._stack)
        try:
            yield
        finally:
            runtime._PYRO_STACK[:] = handlers
            runtime._DIM_ALLOCATOR._stack[:] = plates


def _in_a_new_process() -> None:
    # A fork copies the lock as it is, but not the thread that would release it.
    _Held.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_new_process)
