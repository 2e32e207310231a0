"""Chains and the one who waits for them: how far they are, and when they should stop.

Chains run in processes of their own. They and their parent share a few numbers in a file: each
chain writes how many draws it has, and reads whether to go on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)

from pyrovice.inference.progress import draws_bar

# Told how many draws there are, it says whether to go on.
GoOn = Callable[[int], bool]

# Seconds between two looks at the numbers.
PAUSE = 0.2
ON_THIS_MACHINE = (LokyBackend, MultiprocessingBackend, SequentialBackend, ThreadingBackend)


@dataclass(frozen=True)
class Report:
    """Where a chain writes how far it is; without a path nobody asks."""

    path: Path | None = None
    chain: int = 0

    def opened(self) -> GoOn:
        """What the chain calls after every draw."""
        if self.path is None:
            return lambda done: True
        shared = np.memmap(self.path, np.int64, "r+")

        def go_on(done: int) -> bool:
            shared[1 + self.chain] = done
            return not shared[0]

        return go_on


class Watch:
    """What the parent knows of its chains."""

    def __init__(self, path: Path | None, chains: int) -> None:
        self.reports = [Report(path, chain) for chain in range(chains)]
        self._shared = np.zeros(1 + chains, np.int64)
        if path is not None:
            # Written rather than only mapped: a full disk is an error, not a crash.
            self._shared.tofile(path)
            self._shared = np.memmap(path, np.int64, "r+")

    @property
    def done(self) -> int:
        """Draws so far, of all chains."""
        return int(self._shared[1:].sum())

    @property
    def stopped(self) -> bool:
        """Whether the chains were asked to stop."""
        return bool(self._shared[0])

    def stop(self) -> None:
        """Ask every chain to stop after its current draw."""
        self._shared[0] = 1


@contextmanager
def watched(chains: int, draws: int, title: str, *, progress: bool) -> Iterator[Watch]:
    """Show how far chains of so many draws are, and have Ctrl-C stop them in order.

    A second Ctrl-C ends them at once. Chains on other machines can be neither seen nor
    stopped; there Ctrl-C is what it always is.

    Examples
    --------
    >>> with watched(chains=2, draws=10, title="example", progress=False) as watch:
    ...     first, second = (report.opened() for report in watch.reports)
    ...     print(first(3), second(4), watch.done)
    ...     watch.stop()
    ...     print(first(5), watch.done)
    True True 7
    False 9
    """
    backend, _ = get_active_backend()
    # A subclass may be that of a cluster.
    if type(backend) not in ON_THIS_MACHINE:
        yield Watch(None, chains)
        return
    # Windows does not remove a file that is mapped.
    with TemporaryDirectory(prefix="pyrovice-", ignore_cleanup_errors=True) as folder:
        watch = Watch(Path(folder) / "chains", chains)
        with _interrupts_call(watch.stop), _shown(watch, chains * draws, title, progress):
            yield watch


@contextmanager
def _shown(watch: Watch, total: int, title: str, progress: bool) -> Iterator[None]:
    """A bar that follows the chains."""
    with draws_bar(progress, total, title) as bar:
        if bar.disable:
            yield
            return
        ended = threading.Event()

        def follow() -> None:
            while not ended.wait(PAUSE):
                # Less than nothing where a chain began again with shorter steps.
                bar.update(watch.done - bar.n)

        looking = threading.Thread(target=follow, daemon=True)
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()
            bar.update(watch.done - bar.n)


@contextmanager
def _interrupts_call(stop: Callable[[], None]) -> Iterator[None]:
    """Have whatever signal raises KeyboardInterrupt call this instead, once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Callable[[int, FrameType | None], Any]] = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(handler := signal.getsignal(number))
    }

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(number, before[number])
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            stop()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)
