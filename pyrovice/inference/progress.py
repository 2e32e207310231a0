"""A progress bar for people, silence for scripts."""

from __future__ import annotations

import os
import sys
import warnings
from types import TracebackType
from typing import Any, Self

from pyrovice.inference.stopping import Epoch


class Progress:
    """Epoch, −ELBO/n, kept dimensions and time left, in notebooks and terminals.

    Shown in a notebook or on a terminal; quiet when the output goes elsewhere
    and under continuous integration.
    """

    def __init__(self, wanted: bool, epochs: int, title: str) -> None:
        self._bar = None
        if wanted and _is_watched():
            self._bar = _tqdm()(total=epochs, desc=title, unit="epoch", leave=True)

    def go_on_from(self, epochs: int) -> None:
        """So many epochs were over before."""
        if self._bar is not None:
            self._bar.n = self._bar.initial = epochs

    def update(self, epoch: Epoch, epochs_left: int) -> None:
        """One epoch is over; about `epochs_left` follow."""
        if self._bar is None:
            return
        self._bar.total = self._bar.n + 1 + epochs_left
        self._bar.set_postfix_str(
            f"-ELBO/n {epoch.loss:.4f}, {epoch.dimensions} dimensions", refresh=False
        )
        self._bar.update()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.total = self._bar.n
            self._bar.close()


def fits_bar(wanted: bool, total: int, done: int) -> Any:
    """A bar over many fits, `done` of which were there before, with the time left."""
    quiet = not (wanted and _is_watched())
    return _tqdm()(total=total, initial=done, desc="fits", unit="fit", disable=quiet)


def draws_bar(wanted: bool, total: int, title: str) -> Any:
    """A bar over the draws of all chains, those of the warm-up included."""
    quiet = not (wanted and _is_watched())
    return _tqdm()(total=total, desc=title, unit="draw", disable=quiet)


def _tqdm() -> Any:
    """The class of bars that suits where this runs, without advice to install widgets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm


def _is_watched() -> bool:
    if os.environ.get("CI"):
        return False
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if type(shell).__name__ == "ZMQInteractiveShell":
        return True
    return sys.stderr is not None and sys.stderr.isatty()
