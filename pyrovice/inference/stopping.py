"""When a fit has settled (paper, "representational stability").

A rule is a frozen value that looks at the history so far; it keeps no memory
of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pyrovice.errors import PyroviceError
from pyrovice.storage.registry import saved

# A loss that falls by less than this many nats per judgment has settled.
SETTLED = 1e-3


class Epoch(Protocol):
    """What a rule may know of an epoch."""

    @property
    def step(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def dimensions(self) -> int: ...


class StoppingRule(ABC):
    """Decides, after each epoch, whether training should end."""

    @abstractmethod
    def reached(self, history: Sequence[Epoch]) -> bool:
        """Whether training should end, by default because the fit has settled."""

    def settled(self, history: Sequence[Epoch]) -> bool:
        """Whether a fit that ended by this rule has converged."""
        return self.reached(history)

    def collapsed(self, history: Sequence[Epoch]) -> bool:
        """Whether no dimension is left and none will come back."""
        return False

    def limit(self) -> int | None:
        """The number of epochs after which the rule is met in any case, if there is one."""
        return None


@saved
@dataclass(frozen=True)
class Stability(StoppingRule):
    """The number of kept dimensions has not changed over a full window.

    Zero kept dimensions never count as settled.

    Parameters
    ----------
    window : int
        How long nothing may change.
    unit : {"epochs", "steps"}
        What the window counts. Epochs are the paper's unit; steps mean the
        same for small and for large data.
    tolerance : float, optional
        If given, the loss (−ELBO per judgment) must also have fallen by less than
        this between the two halves of the window: dimensions settle before it.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.Stability(window=500)
    Stability(window=500, unit='epochs', tolerance=None)
    """

    window: int = 500
    unit: str = "epochs"
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if self.window < 1:
            raise PyroviceError(f"Stability(window={self.window}); expected at least 1.")
        if self.unit not in ("epochs", "steps"):
            raise PyroviceError(f"unit={self.unit!r}; expected 'epochs' or 'steps'.")

    def reached(self, history: Sequence[Epoch]) -> bool:
        """Whether the last `window` of the history shows no change."""
        recent = self._recent(history)
        counts = {epoch.dimensions for epoch in recent}
        return len(counts) == 1 and counts != {0} and self._level(recent)

    def collapsed(self, history: Sequence[Epoch]) -> bool:
        """Whether a whole window kept no dimension; the paper's rule goes on regardless."""
        recent = self._recent(history)
        counts = {epoch.dimensions for epoch in recent}
        return self.tolerance is not None and counts == {0} and self._level(recent)

    def _level(self, recent: Sequence[Epoch]) -> bool:
        """Whether the loss no longer falls."""
        half = len(recent) // 2
        if self.tolerance is None or half == 0:
            return True
        loss = np.array([epoch.loss for epoch in recent])
        return bool(loss[:half].mean() - loss[half:].mean() < self.tolerance)

    def _recent(self, history: Sequence[Epoch]) -> Sequence[Epoch]:
        """The epochs of the last full window, none if it is not full yet."""
        if self.unit == "epochs":
            return history[-self.window :] if len(history) >= self.window else []
        since = history[-1].step - self.window if history else -1
        if since < 0:
            return []
        first = len(history)
        while first > 0 and history[first - 1].step > since:
            first -= 1
        return history[first:]


DEFAULT = Stability(window=100, unit="steps", tolerance=SETTLED)


@saved
@dataclass(frozen=True)
class MaxEpochs(StoppingRule):
    """A fixed number of epochs.

    Whether the fit has settled by then is judged as it is by default: ``fit.converged`` is True
    if the kept dimensions and the loss no longer changed over the last 100 steps.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.MaxEpochs(100)
    MaxEpochs(n=100)
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise PyroviceError(f"MaxEpochs({self.n}); expected at least 1.")

    def reached(self, history: Sequence[Epoch]) -> bool:
        """Whether `n` epochs are over."""
        return len(history) >= self.n

    def settled(self, history: Sequence[Epoch]) -> bool:
        return DEFAULT.reached(history)

    def limit(self) -> int:
        return self.n
