"""Whether the largest weights of a fit are larger than its prior expects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from pyro import poutine

from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

# Large is what this share of the prior's weights, zeros included, stays below.
SMALLER = 0.9
# Weights count as larger than expected beyond this ratio, and beyond this many standard errors.
# Ratios are .9 to 1.1 where weights come from the prior and 1.03 in the built-in example; with its
# weights times 1.3, where a learned lapse rate of .2 becomes .1, the ratio is 1.14.
MOST_EXPECTED, CLEARLY = 1.1, 3.0
# Fewer large weights than this say nothing.
FEWEST = 10
# Entries to draw from the prior, and the most draws that they are worth.
ENTRIES, MOST_DRAWS = 20_000, 500


@dataclass(frozen=True)
class LargeWeights:
    """The large weights of the kept dimensions beside those of the prior.

    Attributes
    ----------
    least : float
        From which size on a weight is large: nine in ten of the prior's are smaller.
    n : int
        How many there are.
    size, expected : float
        Their root mean square, and that of the prior's.
    error : float
        The standard error of `size`, if they were the prior's.
    """

    least: float
    n: int
    size: float
    expected: float
    error: float

    @property
    def beyond(self) -> bool:
        """Whether they are clearly larger than the prior expects."""
        above = self.size - self.expected
        return self.size > MOST_EXPECTED * self.expected and above > CLEARLY * self.error

    @property
    def found(self) -> str:
        """How large they are, in words."""
        return (
            f"The {self.n:,} weights above {self.least:.2f}, the largest tenth under the prior, "
            f"are {self.size / self.expected:.2f} times as large as it expects (root mean square "
            f"{self.size:.2f}, expected {self.expected:.2f})."
        )

    @property
    def advice(self) -> str:
        """What to type where they are larger than expected."""
        # A slab of twice their size pulls them down by next to nothing.
        return (
            "Fit again with prior=pv.LearnedSpikeSlab(), which learns how large weights are, or "
            f"with a wider one, prior=pv.SpikeSlab(slab={max(1, round(2 * self.size)):g})."
        )


def large_weights(fit: Fit) -> LargeWeights | None:
    """How large the large weights are; None where the prior learns it or too few are large."""
    structure = fit.model.structure
    if structure.above or not structure.entrywise:
        return None
    ours = fit.embedding().to_numpy()
    prior = _prior_weights(fit.model)
    least = float(np.quantile(prior, SMALLER))
    large, expected = ours[ours > least], prior[prior > least] ** 2
    if len(large) < FEWEST or not len(expected):
        return None
    size = math.sqrt(expected.mean())
    return LargeWeights(
        least=least,
        n=len(large),
        size=math.sqrt((large.astype(np.float64) ** 2).mean()),
        expected=size,
        # Half of the relative error of a mean square.
        error=float(expected.std()) / (2 * size * math.sqrt(len(large))),
    )


def scale_of_weights_matters(fit: Fit) -> bool:
    """Whether something is learned that takes weights that are too small for noise of answers."""
    choice = fit.choice
    if not isinstance(choice, SoftmaxChoice):
        return False
    # Similarities that do not depend on the size of weights leave nothing to it.
    return choice.degree > 0 and not choice.samples_nothing


@torch.no_grad()
def _prior_weights(model: Model) -> NDArray[np.float64]:
    """Rectified weights, drawn from the prior."""
    draws = min(MOST_DRAWS, -(-ENTRIES // (model.n_objects * model.dimensions)))
    with pyro_locked(), torch.random.fork_rng(devices=[]), poutine.block():
        torch.manual_seed(0)
        drawn = torch.stack([model.embedding() for _ in range(draws)])
    return drawn.relu().flatten().cpu().numpy().astype(np.float64)
