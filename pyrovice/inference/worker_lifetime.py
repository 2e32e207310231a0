"""Worker processes that end when the process that started them does, however that ends.

A scheduler, or a user who has had enough, stops the parent alone. Its workers would go on
computing what nobody will ask for. Ctrl-C in a terminal reaches all of them, and the parent alone
decides what it means.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib
from joblib.parallel import LokyBackend, MultiprocessingBackend, get_active_backend

Result = TypeVar("Result")

# Seconds for which a worker may outlive its parent.
PATIENCE = 0.5
WATCHER = "pyrovice: ends with its parent"


@contextmanager
def workers_of_this_process() -> Iterator[int | None]:
    """Have the processes that joblib starts inside end with this one.

    Yields the number of this process if the workers are children of it, which :func:`below`
    wants to know; None for threads and clusters.
    """
    backend, _ = get_active_backend()
    # Ray's backend is one of the subclasses, and its workers are nobody's children.
    parent = os.getpid() if type(backend) in (LokyBackend, MultiprocessingBackend) else None
    if type(backend) is not LokyBackend:
        yield parent
        return
    threads = backend.inner_max_num_threads
    kept = {} if threads is None else {"inner_max_num_threads": threads}
    # From their birth on: an older joblib ignores this, and `below` watches from their first work.
    with joblib.parallel_config(backend="loky", initializer=_settle, initargs=(parent,), **kept):
        yield parent


def below(parent: int | None, run: Callable[..., Result], *arguments: Any) -> Result:
    """Call `run` in a worker, which from then on lives no longer than its parent."""
    if parent not in (None, os.getpid()):
        _settle(parent)
    return run(*arguments)


def _settle(parent: int | None) -> None:
    if threading.current_thread() is threading.main_thread():
        # Also one that waits for work would end, and the others with it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _is_watching():
        threading.Thread(target=_outlive_not, args=(parent,), name=WATCHER, daemon=True).start()


def _is_watching() -> bool:
    return any(thread.name == WATCHER for thread in threading.enumerate())


def _outlive_not(parent: int) -> None:
    _wait_for_the_end_of(parent)
    # Not an exception, which would only end this thread.
    os._exit(1)


def _wait_for_the_end_of(parent: int) -> None:
    if sys.platform == "win32":
        import _winapi

        handle = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, parent)
        _winapi.WaitForSingleObject(handle, _winapi.INFINITE)
    # An orphan is given to another parent. Linux could send a signal instead, but does so already
    # when the thread ends that started the worker, and joblib uses workers again.
    while os.getppid() == parent:
        time.sleep(PATIENCE)
