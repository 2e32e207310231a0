"""How far each person answers as the others do, before anything is fitted.

What the others say of a triplet is read off their counts of its pairs: how often they kept a pair
that they were shown, against how often guessing would have. Everybody is compared with all
judgments but their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets

# The pair that is left when the first, second or third object is the odd one.
LEFT = ((1, 2), (0, 2), (0, 1))
# Slopes beyond this are those of people who never err.
STEEPEST = 20.0
HALVINGS = 30


def agreement_with_others(data: Triplets) -> pd.DataFrame:
    """By participant, how well the counts of all others predict their answers.

    Returns
    -------
    DataFrame
        `agreement`: the share of their answers that leave the pair that the others would keep;
        ties count in part. `lapse`: the share of their answers that look like guesses, if the
        rest follow the others as closely as people do on the whole, by maximum likelihood. It is
        zero for all who are no worse than most. Both are missing if there is nobody to compare
        with.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> from pyrovice.data.agreement import agreement_with_others
    >>> t = pv.simulate(np.eye(3).repeat(4, axis=0) * 3, 900, seed=0)
    >>> odd = np.where(np.arange(900) < 300, np.random.default_rng(0).integers(0, 3, 900), t.odd)
    >>> who = np.repeat(["guesses", "ann", "bob"], 300)
    >>> table = agreement_with_others(pv.Triplets(t.objects, odd, participants=who))
    >>> table.agreement.idxmin(), table.lapse.idxmax()
    ('guesses', 'guesses')
    """
    codes, labels = pd.factorize(data.participants, sort=False)
    index = pd.Index(labels, name="participant")
    empty = pd.DataFrame({"agreement": np.nan, "lapse": np.nan}, index=index)
    if not (len(labels) > 1 or (codes < 0).any()):
        return empty
    score = _kept_by_others(data, codes)
    told = codes >= 0
    score, odd, codes = score[told], data.odd[told], codes[told]
    best = score == score.max(axis=1, keepdims=True)
    hit = best[np.arange(len(odd)), odd] / best.sum(axis=1)
    return empty.assign(
        agreement=np.bincount(codes, hit) / np.bincount(codes),
        lapse=_lapses(score, odd, 1 / data.options[told], codes),
    )


def _kept_by_others(data: Triplets, codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """For each judgment and answer, log of how often others kept the pair, against guessing."""
    rows = np.arange(len(data))
    objects = data.objects.astype(np.int64)
    pair = np.stack([objects[:, a] * data.n_objects + objects[:, b] for a, b in LEFT], axis=1)
    allowed = np.stack([data.anchor != place for place in range(3)], axis=1)
    kept = np.zeros(pair.shape)
    kept[rows, data.odd] = 1
    guessed = allowed / data.options[:, None]
    _, pair = np.unique(pair, return_inverse=True)
    # Those whose person is not known have nothing of their own to leave out.
    own = pair.reshape(-1, 3) * (codes.max() + 2) + (codes[:, None] + 1)
    _, own = np.unique(own, return_inverse=True)
    left = np.repeat(codes >= 0, 3)

    def of_others(count: NDArray[np.floating]) -> NDArray[np.float64]:
        of_all = np.bincount(pair.ravel(), count.ravel())[pair.ravel()]
        of_own = np.bincount(own.ravel(), count.ravel() * left)[own.ravel()]
        return np.asarray(of_all - of_own, dtype=float)

    # One more judgment in which the pair was kept as guessing would: others may not have seen it.
    score = np.log((of_others(kept) + 1) / (of_others(guessed) + 1)).reshape(-1, 3)
    return np.where(allowed, score, -np.inf)


def _lapses(
    score: NDArray[np.float64],
    odd: NDArray[np.integer],
    guess: NDArray[np.float64],
    codes: NDArray[np.intp],
) -> NDArray[np.float64]:
    """By person, the share of guesses under which their answers are most probable.

    All other answers follow the scores with the slope of everybody's answers together. A slope
    apart from guesses would be steeper, but what is only noise in the counts of the others would
    then pass for guesses of everybody.
    """
    chosen = score[np.arange(len(odd)), odd]

    def loss(slope: float) -> float:
        return float((logsumexp(slope * score, axis=1) - slope * chosen).mean())

    slope = minimize_scalar(loss, bounds=(1e-6, STEEPEST), method="bounded").x
    p = np.exp(slope * chosen - logsumexp(slope * score, axis=1))
    # The likelihood of a mixture is concave in its share, so that its derivative has one zero.
    low, high = np.zeros(codes.max() + 1), np.ones(codes.max() + 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rising = np.bincount(codes, (guess - p) / (p + middle[codes] * (guess - p))) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return (low + high) / 2
