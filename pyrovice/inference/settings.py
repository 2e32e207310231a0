"""How a fit is trained: the settings, as one frozen record."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from pyrovice.errors import PyroviceError
from pyrovice.inference.starts import Start, from_noise, from_pair_counts
from pyrovice.inference.stopping import DEFAULT, Stability, StoppingRule
from pyrovice.storage.registry import saved

STARTS: dict[str, Start] = {"pair counts": from_pair_counts, "noise": from_noise}
# Judgments per step: more of them cost time and find nothing more, fewer lose dimensions.
LARGE_BATCH = 150_000
# No automatic learning rate is higher.
LARGEST_RATE = 0.2
# How long training takes: what 80 objects with 80 to 250 judgments each need, and what the 1,854 of
# THINGS do. With fewer judgments weak dimensions take longer to be told from noise, and with more
# the two parts of a split dimension take longer to grow together.
FEWEST_STEPS, MOST_STEPS = 1200, 2000
FEW_OBJECTS, STEPS_BY_OBJECTS = 80, 0.383
FEW_JUDGMENTS, STEPS_BELOW = 80, 0.66
MANY_JUDGMENTS, STEPS_ABOVE = 250, 0.75
# Enough entries for a quantile.
MANY = 2**20


@saved
@dataclass(frozen=True)
class Anneal:
    """Lower the learning rate along half a cosine, then keep it there.

    A high rate finds the dimensions, but its noise holds the bound away from its
    optimum and slowly wears weak dimensions out: it should fall from the start.

    Parameters
    ----------
    steps : int or "auto"
        Length of the decay. The stopping rule is asked only after it. ``"auto"`` takes 1,200
        steps for up to 80 objects with 80 to 250 judgments each, and more for more objects, fewer
        judgments or more, up to 2,000; always 2,000 where more than X is learned, or by a guide
        other than ``MeanField()``.
    to : float
        The last learning rate.

    Examples
    --------
    >>> Anneal(steps=100, to=0.0).rate(0.05, step=50)
    0.025
    """

    steps: int | str = "auto"
    to: float = 0.001

    def __post_init__(self) -> None:
        whole = isinstance(self.steps, int) and self.steps >= 1
        if not ((whole or self.steps == "auto") and self.to >= 0):
            raise PyroviceError(
                f"Anneal(steps={self.steps!r}, to={self.to!r}); expected a positive whole number "
                "of steps, or 'auto', and a rate of at least 0."
            )

    def length(self, n_objects: int, judgments_per_object: float) -> int:
        """How many steps the decay takes where X alone is learned, by independent Normals."""
        if isinstance(self.steps, int):
            return self.steps
        many = max(1.0, n_objects / FEW_OBJECTS) ** STEPS_BY_OBJECTS
        few = max(1.0, FEW_JUDGMENTS / judgments_per_object) ** STEPS_BELOW
        plenty = max(1.0, judgments_per_object / MANY_JUDGMENTS) ** STEPS_ABOVE
        return min(round(FEWEST_STEPS * many * few * plenty), MOST_STEPS)

    def rate(self, start: float, step: int) -> float:
        """The learning rate at a step."""
        steps = self.steps if isinstance(self.steps, int) else MOST_STEPS
        share = min(step / steps, 1.0)
        return self.to + (start - self.to) * 0.5 * (1 + math.cos(math.pi * share))


@saved
@dataclass(frozen=True)
class Training:
    """Settings of the optimisation.

    Parameters
    ----------
    learning_rate : float or "auto"
        Adam's step size; ``"auto"`` follows from the scale of the prior and the
        number of judgments per object.
    betas : pair of float
        The memory of Adam's two averages.
    batch_size : int or "auto"
        Judgments per step; ``"auto"`` takes all of up to 225,000, otherwise equal parts
        of about 150,000.
    max_epochs : int
        Passes through the data after which training ends unsettled.
    particles : int
        Draws of X per step.
    schedule : Anneal, optional
        How the learning rate falls; None keeps it constant. It falls faster if `max_epochs`
        or ``MaxEpochs(...)`` end training sooner.
    stop : StoppingRule
        When the fit has settled: ``Stability(...)`` or ``MaxEpochs(...)``; with a
        schedule, not before the learning rate is down.
    start : {"pair counts", "noise"}
        First values of the guide: from the judgments, or the paper's. From the judgments a
        point (``MAP()``) gets only what no noise can explain, because it would keep the rest.
    drop_collapsed : bool
        Remove dimensions that are next to nothing while training, after which the
        rest fits better and faster; and late in training, with a schedule and ``MeanField()``,
        those that explain much less of the answers than they cost in the bound.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.Training(learning_rate=0.02).batch_size
    'auto'
    >>> pv.Training.paper().batch_size
    128
    """

    learning_rate: float | str = "auto"
    betas: tuple[float, float] = (0.9, 0.99)
    batch_size: int | str = "auto"
    max_epochs: int = 5000
    particles: int = 1
    schedule: Anneal | None = Anneal()
    stop: StoppingRule = DEFAULT
    start: str = "pair counts"
    drop_collapsed: bool = True

    def __post_init__(self) -> None:
        rate = self.learning_rate
        if rate != "auto" and not (isinstance(rate, int | float) and 0 < rate < math.inf):
            raise PyroviceError(f"learning_rate={rate!r}; expected a positive number or 'auto'.")
        if self.batch_size != "auto" and not (
            isinstance(self.batch_size, int) and self.batch_size >= 1
        ):
            raise PyroviceError(
                f"batch_size={self.batch_size!r}; expected a positive whole number or 'auto'."
            )
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise PyroviceError(f"betas={self.betas!r}; expected two numbers from 0 to below 1.")
        object.__setattr__(self, "betas", tuple(self.betas))
        for name in ("max_epochs", "particles"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise PyroviceError(f"{name}={value!r}; expected a positive whole number.")
        if not isinstance(self.stop, StoppingRule):
            raise PyroviceError(
                f"stop={self.stop!r}; expected a rule, Stability(...) or MaxEpochs(...)."
            )
        if self.schedule is not None and not isinstance(self.schedule, Anneal):
            raise PyroviceError(f"schedule={self.schedule!r}; expected Anneal(...) or None.")
        if self.start not in STARTS:
            raise PyroviceError(f"start={self.start!r}; expected one of {', '.join(STARTS)}.")

    @classmethod
    def paper(cls) -> Training:
        """The recipe of the paper to the letter: slow, and kept for comparison."""
        return cls(
            learning_rate=0.001,
            betas=(0.9, 0.999),
            batch_size=128,
            max_epochs=2000,
            particles=1,
            schedule=None,
            stop=Stability(window=500),
            start="noise",
            drop_collapsed=False,
        )

    def first_rate(self, weights: Tensor, judgments_per_object: float) -> float:
        """The learning rate at the first step, for weights drawn from the prior.

        A step must be a fair share of a typical large weight. With few judgments
        the gradients are noisy and small steps leave dimensions standing that fit
        nothing but noise.
        """
        if isinstance(self.learning_rate, int | float):
            return self.learning_rate
        large = torch.quantile(weights.abs().flatten()[:MANY], 0.9).item()
        rate = 0.075 * large * (800 / judgments_per_object) ** (1 / 3)
        return min(max(rate, 0.02), LARGEST_RATE)

    def rows_per_batch(self, rows: int) -> int:
        """How many of `rows` judgments one step uses."""
        if isinstance(self.batch_size, int):
            return min(self.batch_size, rows)
        return math.ceil(rows / max(1, round(rows / LARGE_BATCH)))
