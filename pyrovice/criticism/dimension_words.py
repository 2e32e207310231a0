"""What is said about the dimensions of a count: evidence, verdicts and advice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from pyrovice.results.pruning import MIN_OBJECTS

# From which probability on a dimension is called what.
VERDICTS = {"certain": 0.9, "likely": 0.5, "possible": 0.1, "unlikely": 0.0}
# A dimension is settled when it comes back in so many refits as make it certain.
SETTLED_SHARE = 0.75
# What is expected of a dimension before it is seen: log-odds of coming back of all judgments, and
# how they grow with the logarithm of their number. Weak, so that a few refits have a say.
FIRST_ODDS, SPREAD_OF_ODDS = 0.0, 3.0
GROWTH, SPREAD_OF_GROWTH = 3.0, 1.5
# Nobody collects more than this many times what there is on the strength of an extrapolation.
MOST_TIMES = 10
RATE_NAMES = {0.5: "half", 1.0: "once", 2.0: "twice"}


def verdict(probability: float) -> str:
    """One word for a probability."""
    return next(word for word, least in VERDICTS.items() if probability >= least)


def evidence(
    found: NDArray[np.bool_], rates: NDArray[np.floating], r: float, top: Sequence[str]
) -> str:
    """In which refits a dimension came back, in words; `top` are its objects if the fit lacks it.

    Examples
    --------
    >>> rates = np.array([0.5, 1.0, 2.0, 0.5])
    >>> evidence(np.array([True, True, False, True]), rates, 0.93, ("dog", "cat"))
    'not in this fit, highest on dog, cat; came back in 3 of 4 refits to 80 % of the judgments (mean
    r = 0.93), never at twice the automatic learning rate'
    """
    n, k = len(found), int(found.sum())
    words = f"not in this fit, highest on {', '.join(top)}; " if len(top) else ""
    if not k:
        return words + f"came back in none of {n} refits to 80 % of the judgments"
    words += f"came back in {'all' if k == n else f'{k} of'} {n} refits to 80 % of the judgments "
    words += f"(mean r = {r:.2f})"
    never = [
        RATE_NAMES[rate] for rate in RATE_NAMES if rate in rates and not found[rates == rate].any()
    ]
    if never:
        times = "" if never == ["once"] else f"{' or '.join(never)} "
        words += f", never at {times}the automatic learning rate"
    return words


def advice_about(
    table: pd.DataFrame, refits: pd.DataFrame, n_judgments: int, more: int | None, to_come: float
) -> str:
    """How many dimensions are certain, what is open, and what would settle it."""
    if not len(table):
        return (
            f"No dimension came back. Refits keep those that more than {MIN_OBJECTS} objects have, "
            "which is much to ask of a dozen objects, and need enough judgments of each."
        )
    counts = {word: int((table.verdict == word).sum()) for word in VERDICTS}
    sentences = []
    certain, likely, possible = counts["certain"], counts["likely"], counts["possible"]
    first = f"{certain} {'is' if certain == 1 else 'are'} certain"
    first += f", {likely} more {'is' if likely == 1 else 'are'} likely" if likely else ""
    first += f", {possible} {'is' if possible == 1 else 'are'} possible" if possible else ""
    if likely or possible:
        them = "it" if likely + possible == 1 else "them"
        first += (
            f"; about {more:,} more judgments would settle {them}"
            if more is not None
            else f"; judgments alone will hardly settle {them}: it would take more than "
            f"{MOST_TIMES * n_judgments:,}"
        )
    sentences.append(first + ".")
    lacking = int((~table.in_fit & (table.probability >= 0.5)).sum())
    if lacking:
        sentences.append(
            f"{lacking} of them {'is' if lacking == 1 else 'are'} not in this fit: "
            "pv.consensus of several fits has what they have in common."
        )
    surplus = table.index[table.in_fit & (table.verdict == "unlikely")].tolist()
    if surplus:
        shown = ", ".join(map(str, surplus[:8])) + (", ..." if len(surplus) > 8 else "")
        sentences.append(
            f"Do not interpret dimension{'s' * (len(surplus) > 1)} {shown} yet: with fewer "
            f"judgments {'it does' if len(surplus) == 1 else 'they do'} not come back."
        )
    growing = _still_growing(refits, round(to_come))
    if growing:
        sentences.append(growing)
    return " ".join(sentences)


def _still_growing(refits: pd.DataFrame, to_come: int) -> str:
    """Whether more judgments have found more dimensions so far, and how many all will find."""
    by_share = refits.groupby("share").real.mean()
    if len(by_share) < 2 or by_share.iloc[-1] - by_share.iloc[-2] < 0.5:
        return ""
    (before, few), (after, many) = ((s, by_share[s]) for s in by_share.index[-2:])
    said = (
        f"The count still grows with the judgments: {few:.1f} of these dimensions at {before:.0%} "
        f"of them, {many:.1f} at {after:.0%}. Say how many judgments it is for."
    )
    if to_come:
        plural = "s" * (to_come > 1)
        said += f" Count and interval allow for about {to_come} dimension{plural} that only all of "
        said += "them show."
    return said


def judgments_to_settle(
    found: NDArray[np.bool_], shares: NDArray[np.floating], n: int, share: float
) -> int | None:
    """About how many more judgments would make uncertain dimensions certain.

    The log-odds of coming back are taken to grow with the logarithm of the number of judgments,
    equally for all; that is fitted to the refits of all shares.

    Parameters
    ----------
    found : array of shape (refits, dimensions)
        Which refits have which of the uncertain dimensions.
    shares : array of shape (refits,)
        How many of the judgments each refit was given.
    n : int
        How many judgments there are.
    share : float
        The share that a dimension has to come back in.

    Returns
    -------
    int or None
        To two digits; None if nothing is uncertain, or if it would take too many.

    Examples
    --------
    >>> shares = np.repeat([0.2, 0.4, 0.6, 0.8], 6)
    >>> found = (np.arange(24) % 6 < 6 * (shares - 0.4))[:, None]
    >>> judgments_to_settle(found, shares, 10_000, 0.8)
    3800
    """
    if not found.shape[1]:
        return None
    logs, y = np.log(shares / share)[:, None], found.astype(float)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds, growth = values[:-1], values[-1]
        z = odds + growth * logs
        penalty = ((odds - FIRST_ODDS) / SPREAD_OF_ODDS) ** 2
        value = (np.logaddexp(0, z) - y * z).sum() + penalty.sum() / 2
        off = expit(z) - y
        slope = np.append(
            off.sum(axis=0) + (odds - FIRST_ODDS) / SPREAD_OF_ODDS**2,
            (off * logs).sum() + (growth - GROWTH) / SPREAD_OF_GROWTH**2,
        )
        return float(value + ((growth - GROWTH) / SPREAD_OF_GROWTH) ** 2 / 2), slope

    start = np.append(np.full(found.shape[1], FIRST_ODDS), GROWTH)
    values = minimize(loss, start, jac=True, method="BFGS").x
    growth = max(float(values[-1]), 0.1)
    times = np.exp((logit(SETTLED_SHARE) - values[:-1]) / growth)
    # Dimensions that are not real will never be settled; the typical one will.
    factor = max(float(np.median(times)), 1.0)
    if factor > MOST_TIMES:
        return None
    needed = max((factor - 1) * n, 0.05 * n)
    digits = 10 ** max(int(np.floor(np.log10(needed))) - 1, 0)
    return int(np.ceil(needed / digits) * digits)
