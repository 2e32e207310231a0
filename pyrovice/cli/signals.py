"""Being stopped: a scheduler's SIGTERM ends a command as Ctrl-C does, in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# 128 and the number of the signal, as shells count.
BY_CTRL_C, BY_SIGTERM = 130, 143


class _Stopped:
    """The exit code of a command that is stopped now."""

    code = BY_CTRL_C


def exit_code() -> int:
    """What a command that was stopped exits with."""
    return _Stopped.code


@contextmanager
def terminating_like_an_interrupt() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt, so that drafts are removed and workers are ended.

    A second one ends the process at once.
    """
    _Stopped.code = BY_CTRL_C
    ours = threading.current_thread() is threading.main_thread()
    # A program that calls commands may have a handler of its own.
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _Stopped.code = BY_SIGTERM
    raise KeyboardInterrupt
