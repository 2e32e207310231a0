"""How well predictions agree with people (paper, "Evaluation measures")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.html_tables import Bar, html_table
from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError

# Fewer repeated questions than this say nothing about what can be reached.
FEWEST_QUESTIONS = 30
# Standard deviations to either side of a 90 % interval.
NINE_OF_TEN = 1.6448536269514722


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
        An estimate of the best accuracy within reach, the paper's: the mean, over those
        triplets, of the share of the majority answer. It is too high on average, and much too
        high with few answers to each: of two random ones the majority has two thirds.
    n : int
        Number of judgments.
    chance_accuracy : float
        Accuracy of guessing among the allowed answers.
    chance_kl : float or None
        KL(people ‖ guessing) on the repeated triplets.
    ceiling_low : float or None
        The same, too low on average: how often an answer is the majority of the *other*
        answers to its triplet. The best accuracy within reach lies between the two, which
        approach each other as people are asked more often.
    repeated_questions, repeated_answers : int
        How many questions were asked more than once, and how many answers they got.
    ceiling_interval : pair of float or None
        Where the best accuracy within reach lies, with 90 % confidence: from the lower limit for
        `ceiling_low` to the upper limit for `ceiling` (Wilson's, over questions). None with
        fewer than 30 repeated questions, which say too little.
    """

    accuracy: float
    cross_entropy: float
    kl_divergence: float | None
    ceiling: float | None
    n: int
    chance_accuracy: float
    chance_kl: float | None
    ceiling_low: float | None = None
    repeated_questions: int = 0
    repeated_answers: int = 0
    ceiling_interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        lines = [
            f"{self.n:,} judgments",
            f"  accuracy       {self.accuracy:.3f}   (chance {self.chance_accuracy:.3f})",
            f"  cross-entropy  {self.cross_entropy:.3f} nats",
        ]
        if self.repeated_questions:
            lines.insert(2, f"  ceiling        {self.about_ceiling()}")
        if self.kl_divergence is not None:
            lines.append(
                f"  KL divergence  {self.kl_divergence:.3f} nats (chance {self.chance_kl:.3f})"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [
            ["accuracy", Bar(self.accuracy, f"{self.accuracy:.1%}")],
            ["accuracy of guessing", Bar(self.chance_accuracy, f"{self.chance_accuracy:.1%}")],
        ]
        rows.append(["ceiling", self.about_ceiling()])
        rows.append(["cross-entropy", f"{self.cross_entropy:.3f} nats"])
        if self.kl_divergence is not None:
            divergence = f"{self.kl_divergence:.3f} nats (guessing {self.chance_kl:.3f})"
            rows.append(["KL divergence", divergence])
        return html_table(f"{self.n:,} judgments", [], rows)

    def about_ceiling(self) -> str:
        """The best accuracy within reach, and what that rests on, in words."""
        asked = (
            "1 question was"
            if self.repeated_questions == 1
            else (f"{self.repeated_questions:,} questions were")
        )
        if self.ceiling_interval is None:
            return (
                f"unknown: {asked} asked more than once ({self.repeated_answers:,} answers); "
                f"{FEWEST_QUESTIONS} would tell"
            )
        low, high = self.ceiling_interval
        return (
            f"between {self.ceiling_low:.3f} and {self.ceiling:.3f} (90 % interval {low:.3f} to "
            f"{high:.3f}; {asked} asked more than once, {self.repeated_answers:,} answers)"
        )


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
      accuracy       0.500   (chance 0.333)
      ceiling        unknown: 1 question was asked more than once (2 answers); 30 would tell
      cross-entropy  0.857 nats
      KL divergence  0.164 nats (chance 0.405)
    """
    p = check_probabilities(probabilities, triplets)
    repeats: dict[str, Any] = dict.fromkeys(("kl_divergence", "chance_kl", "ceiling"))
    rows, counts = triplets.repeated()
    if len(counts):
        people = counts / counts.sum(axis=1, keepdims=True)
        repeats = {
            "kl_divergence": float(_kl(people, p[rows]).mean()),
            "chance_kl": float(_kl(people, guessing(triplets[rows])).mean()),
            "repeated_questions": len(counts),
            "repeated_answers": int(counts.sum()),
            **_ceilings(counts),
        }
    return Evaluation(
        accuracy=float(hits(p, triplets.odd).mean()),
        cross_entropy=float(-log_score(p, triplets.odd).mean()),
        n=len(triplets),
        chance_accuracy=float((1 / triplets.options).mean()),
        **repeats,
    )


def _ceilings(counts: NDArray[np.integer]) -> dict[str, Any]:
    """Both ceilings, and an interval for what lies between them if there are enough questions."""
    n = len(counts)
    high = float((counts.max(axis=1) / counts.sum(axis=1)).mean())
    low = float(_majority_of_others(counts).mean())
    enough = n >= FEWEST_QUESTIONS
    return {
        "ceiling": high,
        "ceiling_low": low,
        "ceiling_interval": (wilson(low, n)[0], wilson(high, n)[1]) if enough else None,
    }


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 90 % interval for the mean of `n` numbers between 0 and 1.

    Exact shares vary most, so that for the mean of others it is too wide rather than too narrow.

    Examples
    --------
    >>> low, high = wilson(1.0, 30)
    >>> round(low, 3), round(high, 3)
    (0.917, 1.0)
    """
    z = NINE_OF_TEN
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)


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
    # Column by column, because there are many short rows.
    highest = np.maximum(np.maximum(p[:, 0], p[:, 1]), p[:, 2])
    tied = sum((p[:, i] == highest).astype(np.int8) for i in range(3))
    return (p[np.arange(len(p)), odd] == highest) / tied


def log_score(p: NDArray[np.floating], odd: NDArray[np.integer]) -> NDArray[np.float64]:
    """Log-probability of the answer, per judgment; finite where float64 can say it."""
    answered = p[np.arange(len(p)), odd]
    return np.log(np.maximum(answered, np.finfo(float).tiny))


def guessing(triplets: Triplets) -> NDArray[np.float64]:
    """Equal probability for every answer that is allowed, shape (n, 3)."""
    allowed = triplets.anchor[:, None] != np.arange(3)
    return allowed / allowed.sum(axis=1, keepdims=True)


def repeats_kl(p: NDArray[np.floating], triplets: Triplets) -> NDArray[np.float64]:
    """KL(people ‖ model) for every triplet that was judged more than once."""
    rows, counts = triplets.repeated()
    return _kl(counts / counts.sum(axis=1, keepdims=True), p[rows])


def _majority_of_others(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """By triplet, how often an answer is the majority of the others; ties share."""
    others = counts[:, None, :] - np.eye(3, dtype=int)  # triplet x answer left out x answer
    first = others == others.max(axis=2, keepdims=True)
    hit = np.diagonal(first, axis1=1, axis2=2) / first.sum(axis=2)
    return (hit * counts).sum(axis=1) / counts.sum(axis=1)


def _kl(p: NDArray[np.floating], q: NDArray[np.floating]) -> NDArray[np.float64]:
    tiny = np.finfo(float).tiny
    terms = p * (np.log(np.maximum(p, tiny)) - np.log(np.maximum(q, tiny)))
    return terms.sum(axis=1)
