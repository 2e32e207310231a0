"""SPoSE, the predecessor of VICE, with its rate given or chosen."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pyro.distributions as dist

from pyrovice.data.triplets import Triplets
from pyrovice.errors import PyroviceError, PyroviceWarning, tell
from pyrovice.guides import MAP
from pyrovice.inference.fitting import fit
from pyrovice.results.fit import Fit

# Rates that are tried first; the published ones are 2.9 to 5.75.
FIRST_RATES = (1.0, 2.0, 4.0, 8.0)
# The search ends when neighbours of the best rate differ from it by this factor.
FINEST = 1.2
MOST_RATES = 16

logger = logging.getLogger("pyrovice")


def spose(data: Triplets, *, rate: float | str, **arguments: Any) -> Fit:
    """SPoSE, the predecessor of VICE: a point estimate under an exponential prior.

    It minimises −log-likelihood + rate · Σ X over non-negative X, and keeps the
    dimensions whose largest weight exceeds 0.1. Which ones it finds depends on where it starts:
    by default from the dimensions that stand out clearly in the judgments, so that it may
    have fewer than from noise, and predict better.

    Parameters
    ----------
    data : Triplets
        The judgments.
    rate : float or "auto"
        Rate of the exponential prior, the λ of the VICE paper (5.75 for THINGS). The
        SPoSE program minimises mean cross-entropy + (λ′/m) Σ X instead, so that
        rate = λ′ n / m: its usual λ′ = 0.008 with n = 1.31 million judgments of
        m = 1,854 objects is a rate of 5.65. ``"auto"`` takes the rate whose kept dimensions
        have the lowest cross-entropy on ``validation=``, to within a fifth, for fair comparisons:
        some ten fits instead of one. The result's ``prior`` says which.
    **arguments
        As for :func:`fit`, except prior and guide.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> pv.spose(data, rate=5.0, dimensions=12)
    Fit(80 objects, 7 dimensions kept, 20,000 judgments, converged)
    """
    if isinstance(rate, str) and rate == "auto":
        return _best_on_validation(data, arguments)
    if not (isinstance(rate, int | float) and 0 < rate < float("inf")):
        raise PyroviceError(
            f"rate={rate!r}; expected a positive number, for example rate=5, or 'auto' with "
            "validation=..."
        )
    return fit(data, prior=dist.Exponential(float(rate)), guide=MAP(), **arguments)


def _best_on_validation(data: Triplets, arguments: dict[str, Any]) -> Fit:
    """The fit whose rate predicts validation judgments best: by doubling, then by halving gaps."""
    validation = arguments.get("validation")
    if validation is None:
        raise PyroviceError(
            "rate='auto' is chosen on judgments that are not fitted: pv.spose(train, rate='auto', "
            "validation=valid)."
        )
    if arguments.get("checkpoint") is not None:
        raise PyroviceError("rate='auto' makes several fits, which cannot share one checkpoint.")
    found: dict[float, tuple[float, Fit, list[str]]] = {}

    def score(rate: float) -> float:
        if rate not in found:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", PyroviceWarning)
                made = spose(data, rate=rate, **arguments)
                nats = made.prune().evaluate(validation).cross_entropy
            said = [str(each.message) for each in caught]
            found[rate] = nats, made, said
            logger.info("spose: rate %.3g, validation cross-entropy %.4f", rate, nats)
        return found[rate][0]

    for rate in FIRST_RATES:
        score(rate)
    while len(found) < MOST_RATES:
        rates = sorted(found)
        best = min(rates, key=score)
        at = rates.index(best)
        near = [
            best / 2 if at == 0 else (best * rates[at - 1]) ** 0.5,
            best * 2 if at == len(rates) - 1 else (best * rates[at + 1]) ** 0.5,
        ]
        # A side that is fine enough already is left as it is.
        wanted = [rate for rate in near if max(rate / best, best / rate) ** 2 > FINEST]
        if not wanted:
            break
        for rate in wanted:
            score(rate)
    nats, made, said = found[min(found, key=score)]
    if not np.isfinite(nats):
        raise PyroviceError("No rate gives finite predictions of the validation judgments.")
    for sentence in said:
        tell(sentence)
    return made
