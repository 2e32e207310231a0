"""Why a question was asked: at random, or because its answer was expected to tell much.

Answers to chosen questions are as good to fit as any. To test predictions on they are not: they
were chosen because they are hard to predict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pyrovice.errors import tell

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets

# The column of `Triplets.trials`, and what is in it: anything else was not chosen by a fit.
ROLE, ASK, RANDOM, CATCH = "role", "ask", "random", "catch"
CHOSEN = (ASK, CATCH)


def chosen(triplets: Triplets) -> NDArray[np.bool_]:
    """Which judgments answer a question that was chosen for its answer, (n,)."""
    if triplets.trials is None or ROLE not in triplets.trials:
        return np.zeros(len(triplets), bool)
    return triplets.trials[ROLE].isin(CHOSEN).to_numpy()


def fair_sample(triplets: Triplets, what: str) -> Triplets:
    """The judgments that were asked at random, with a warning where others are among them.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv, warnings
    >>> role = pd.DataFrame({"role": ["ask", "random"]})
    >>> data = pv.Triplets([[0, 1, 2], [0, 1, 3]], [0, 1], trials=role)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     len(fair_sample(data, "evaluate"))
    1
    """
    unfair = chosen(triplets)
    if not unfair.any():
        return triplets
    if unfair.all():
        tell(
            f"All {len(triplets):,} judgments given to {what} answer questions that were chosen "
            "because they are hard to predict: the numbers say nothing about other questions. "
            "Keep a random share, pv.next_triplets(fit, n, random=0.1), and use that."
        )
        return triplets
    tell(
        f"{unfair.sum():,} of {len(triplets):,} judgments given to {what} answer questions that "
        "were chosen because they are hard to predict, so they are left out: it uses the other "
        f"{(~unfair).sum():,}, whose questions were not chosen."
    )
    return triplets[~unfair]
