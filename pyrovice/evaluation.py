"""How well predictions agree with people (paper, "Evaluation measures")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrovice.errors import DataError
from pyrovice.triplets import Triplets


@dataclass(frozen=True)
class Evaluation:
    """Scores of predicted choice probabilities on a set of judgments.

    Attributes
    ----------
    accuracy : float
        Share of judgments whose answer was the most probable one; a tie for
        first place among t answers earns 1/t.
    cross_entropy : float
        Mean negative log-probability of the answers, in nats.
    kl_divergence : float or None
        KL(people ‖ model), averaged over the triplets judged more than once.
    ceiling : float or None
        An estimate of the best accuracy within reach: the mean, over those triplets, of the
        share of the majority answer. With few answers to each it is too high: two random
        answers agree on a majority of two thirds.
    n : int
        Number of judgments.
    chance_accuracy : float
        Accuracy of guessing among the allowed answers.
    chance_kl : float or None
        KL(people ‖ guessing) on the repeated triplets.
    """

    accuracy: float
    cross_entropy: float
    kl_divergence: float | None
    ceiling: float | None
    n: int
    chance_accuracy: float
    chance_kl: float | None

    def __str__(self) -> str:
        lines = [
            f"{self.n:,} judgments",
            f"  accuracy       {self.accuracy:.3f}   (chance {self.chance_accuracy:.3f}"
            + ("" if self.ceiling is None else f", ceiling {self.ceiling:.3f}")
            + ")",
            f"  cross-entropy  {self.cross_entropy:.3f} nats",
        ]
        if self.kl_divergence is not None:
            lines.append(
                f"  KL divergence  {self.kl_divergence:.3f} nats (chance {self.chance_kl:.3f})"
            )
        return "\n".join(lines)


def evaluate(probabilities: NDArray[np.floating], triplets: Triplets) -> Evaluation:
    """Score predicted probabilities of each position being odd.

    Parameters
    ----------
    probabilities : array of shape (n, 3)
        As `Fit.predict` returns them.
    triplets : Triplets
        The n judgments.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> t = pv.Triplets([[0, 1, 2], [0, 1, 2]], [0, 1])
    >>> print(evaluate(np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]]), t))
    2 judgments
      accuracy       0.500   (chance 0.333, ceiling 0.500)
      cross-entropy  0.857 nats
      KL divergence  0.164 nats (chance 0.405)
    """
    p = check_probabilities(probabilities, triplets)
    chance = guessing(triplets)
    kl, chance_kl, ceiling = _against_repeats(p, chance, triplets)
    return Evaluation(
        accuracy=float(hits(p, triplets.odd).mean()),
        cross_entropy=float(-log_score(p, triplets.odd).mean()),
        kl_divergence=kl,
        ceiling=ceiling,
        n=len(triplets),
        chance_accuracy=float((1 / triplets.options).mean()),
        chance_kl=chance_kl,
    )


def check_probabilities(
    probabilities: NDArray[np.floating], triplets: Triplets
) -> NDArray[np.float64]:
    """Three probabilities for each judgment."""
    p = np.asarray(probabilities, dtype=float)
    if p.shape != (len(triplets), 3):
        raise DataError(
            f"probabilities have shape {p.shape}, expected ({len(triplets)}, 3): one row per "
            "judgment."
        )
    return p


def hits(p: NDArray[np.floating], odd: NDArray[np.integer]) -> NDArray[np.float64]:
    """1 for the answer predicted, 1/t for one of t tied first, else 0; per judgment."""
    first = p == p.max(axis=1, keepdims=True)
    return first[np.arange(len(p)), odd] / first.sum(axis=1)


def log_score(p: NDArray[np.floating], odd: NDArray[np.integer]) -> NDArray[np.float64]:
    """Log-probability of the answer, per judgment; finite where float64 can say it."""
    answered = p[np.arange(len(p)), odd]
    return np.log(np.maximum(answered, np.finfo(float).tiny))


def guessing(triplets: Triplets) -> NDArray[np.float64]:
    """Equal probability for every answer that is allowed, shape (n, 3)."""
    allowed = triplets.anchor[:, None] != np.arange(3)
    return allowed / allowed.sum(axis=1, keepdims=True)


def _against_repeats(
    p: NDArray[np.floating], chance: NDArray[np.float64], triplets: Triplets
) -> tuple[float | None, float | None, float | None]:
    rows, counts = triplets.repeated()
    if not len(rows):
        return None, None, None
    people = counts / counts.sum(axis=1, keepdims=True)
    return (
        float(_kl(people, p[rows]).mean()),
        float(_kl(people, chance[rows]).mean()),
        float(people.max(axis=1).mean()),
    )


def _kl(p: NDArray[np.floating], q: NDArray[np.floating]) -> NDArray[np.float64]:
    tiny = np.finfo(float).tiny
    terms = p * (np.log(np.maximum(p, tiny)) - np.log(np.maximum(q, tiny)))
    return terms.sum(axis=1)
