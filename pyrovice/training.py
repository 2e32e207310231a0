"""How a fit is trained: the settings, as one frozen record."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyrovice.errors import PyroviceError
from pyrovice.starts import Start, from_noise, from_pair_counts
from pyrovice.stopping import Stability, StoppingRule

STARTS: dict[str, Start] = {"pair counts": from_pair_counts, "noise": from_noise}
# Rows from which a batch is a share of the data, and that share.
LARGE_DATA = 2**14
BATCHES_PER_EPOCH = 10


@dataclass(frozen=True)
class Anneal:
    """Lower the learning rate along a cosine once the stopping rule is content.

    Noise of a large learning rate keeps the bound from its optimum, and a decay
    fixed beforehand would stop before the dimensions have settled: so the rate
    stays high until they have, then falls to its end within `steps`.

    Parameters
    ----------
    steps : int
        Length of the decay.
    to : float
        The last learning rate.
    """

    steps: int = 500
    to: float = 0.001

    def rate(self, start: float, step: int) -> float:
        """The learning rate `step` steps into the decay."""
        share = min(step / self.steps, 1.0)
        return self.to + (start - self.to) * 0.5 * (1 + math.cos(math.pi * share))


@dataclass(frozen=True)
class Training:
    """Settings of the optimisation.

    Parameters
    ----------
    learning_rate : float
        Adam's step size.
    batch_size : int or "auto"
        Judgments per step; ``"auto"`` takes all of a small data set and a tenth
        of a large one.
    max_epochs : int
        Passes through the data after which training ends unsettled.
    particles : int
        Draws of X per step.
    schedule : Anneal, optional
        How the learning rate falls once `stop` is reached; None keeps it
        constant and ends there.
    stop : StoppingRule
        When the fit has settled: ``Stability(...)`` or ``MaxEpochs(...)``.
    start : {"pair counts", "noise"}
        First values of the guide: from the judgments, or the paper's.
    drop_collapsed : bool
        Remove dimensions that no longer matter while training, after which the
        rest fits better and faster.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.Training(learning_rate=0.02).batch_size
    'auto'
    >>> pv.Training.paper().batch_size
    128
    """

    learning_rate: float = 0.05
    batch_size: int | str = "auto"
    max_epochs: int = 5000
    particles: int = 1
    schedule: Anneal | None = Anneal()
    stop: StoppingRule = Stability(window=300, unit="steps", tolerance=1e-3)
    start: str = "pair counts"
    drop_collapsed: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise PyroviceError(f"learning_rate={self.learning_rate}; expected a positive number.")
        if self.batch_size != "auto" and not (
            isinstance(self.batch_size, int) and self.batch_size >= 1
        ):
            raise PyroviceError(
                f"batch_size={self.batch_size!r}; expected a positive whole number or 'auto'."
            )
        for name in ("max_epochs", "particles"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise PyroviceError(f"{name}={value!r}; expected a positive whole number.")
        if self.start not in STARTS:
            raise PyroviceError(f"start={self.start!r}; expected one of {', '.join(STARTS)}.")

    @classmethod
    def paper(cls) -> Training:
        """The recipe of the paper to the letter: slow, and kept for comparison."""
        return cls(
            learning_rate=0.001,
            batch_size=128,
            max_epochs=2000,
            particles=1,
            schedule=None,
            stop=Stability(window=500),
            start="noise",
            drop_collapsed=False,
        )

    def rows_per_batch(self, rows: int) -> int:
        """How many of `rows` judgments one step uses."""
        if isinstance(self.batch_size, int):
            return min(self.batch_size, rows)
        if rows <= LARGE_DATA:
            return rows
        return max(LARGE_DATA, math.ceil(rows / BATCHES_PER_EPOCH))
