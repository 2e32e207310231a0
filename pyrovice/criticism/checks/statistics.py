"""What to compare: one small class per statistic of a set of answers.

A statistic is a function of the answers and of the probabilities that one posterior
draw gives them. Those that look at the probabilities are what Gelman, Meng and Stern
(1996) call realized discrepancies. ``Statistic.of(fit, data)`` prepares it for the
judgments, or says in words why they cannot tell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pyrovice.data.places import places_of
from pyrovice.data.triplets import Triplets
from pyrovice.results.scores import hits, log_score

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

Answers = NDArray[np.integer]
Probabilities = NDArray[np.floating]

# What was observed, what was expected, and its variance.
Counts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

# An answer that the model gives less than this is a surprise.
SURPRISE = 0.05


class CannotTellError(Exception):
    """The judgments lack what a statistic is about."""


class Statistic(ABC):
    """A number that real and drawn answers are compared by."""

    name: ClassVar[str]
    means: ClassVar[str]
    # What to fit again with if the two disagree, as it is typed.
    remedy: ClassVar[str] = ""
    one_sided: ClassVar[bool] = False

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        """Prepared for these judgments; raises `CannotTellError` where they lack something."""
        return cls()

    @abstractmethod
    def __call__(self, odd: Answers, p: Probabilities) -> float:
        """Its value for answers (n,), given the probabilities (n, 3) of one draw."""

    def of_both(self, odd: Answers, drawn: Answers, p: Probabilities) -> tuple[float, float]:
        """Its values for real and for drawn answers, given the same probabilities."""
        return self(odd, p), self(drawn, p)

    def details(self, odd: Answers, p: Probabilities) -> pd.DataFrame | None:
        """By object, place or participant: what was observed and expected on average."""
        return None


@dataclass(frozen=True)
class Accuracy(Statistic):
    """How many answers the model would have guessed."""

    name = "accuracy"
    means = "people agree with the most probable answer more or less often than predicted"

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return float(hits(p, odd).mean())


@dataclass(frozen=True)
class CrossEntropy(Statistic):
    """How improbable the answers are on average, in nats."""

    name = "cross-entropy"
    means = "the answers are more or less predictable than the model believes"

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return float(-log_score(p, odd).mean())


@dataclass(frozen=True)
class Surprises(Statistic):
    """The share of answers with a probability below 0.05."""

    name = "surprises"
    remedy = "choice=pv.choices.DotProduct(lapse=dist.Beta(1, 20))"
    means = (
        "answers that should be rare are not, as when some are given at random; "
        f"{remedy} says how many"
    )

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        return cls() if not has_lapses(fit) else _SurprisesBesideLapses()  # type: ignore[return-value]

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return float((log_score(p, odd) < np.log(SURPRISE)).mean())


class _SurprisesBesideLapses(Surprises):
    """The same where the model has lapses already."""

    remedy = ""
    means = "answers that should be rare are more or less frequent than the lapses explain"


@dataclass(frozen=True)
class Lapses(Statistic):
    """Of the answers against the most probable one, the share that are the least probable.

    It is a half if all of them are given at random, as lapses are supposed to be, and less if
    people hesitate between two.
    """

    name = "lapses"
    means = "answers against the model are not spread over the other two as lapses would be"

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        if not has_lapses(fit):
            raise CannotTellError("the choice has no lapses")
        return cls()

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        against = odd != p.argmax(axis=1)
        least = np.where(p > 0, p, np.inf).argmin(axis=1) == odd
        return float((least & against).sum() / max(1, against.sum()))


@dataclass(frozen=True, eq=False)
class Agreement(Statistic):
    """On questions asked several times, the mean share of the most frequent answer."""

    name = "agreement"
    means = "people agree with each other on repeated triplets more or less than predicted"
    rows: NDArray[np.intp]
    question: NDArray[np.intp]
    questions: int

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        _, question, times = np.unique(data._questions(), return_inverse=True, return_counts=True)
        rows = np.flatnonzero(times[question] > 1)
        if not len(rows):
            raise CannotTellError("no triplet was judged more than once")
        asked, again = np.unique(question[rows], return_inverse=True)
        return cls(rows, again, len(asked))

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        cells = self.question * 3 + odd[self.rows]
        answers = np.bincount(cells, minlength=3 * self.questions).reshape(-1, 3)
        return float((answers.max(axis=1) / answers.sum(axis=1)).mean())


@dataclass(frozen=True, eq=False)
class OddObjects(Statistic):
    """How often each object is the odd one: the sum of its squared standardised errors."""

    name = "odd objects"
    means = "some objects are the odd one more or less often than the model can explain"
    one_sided = True
    objects: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        return cls(data.objects, data.names)

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return _sum_of_squares(*_counts(self.objects, odd, p, len(self.names)))

    def details(self, odd: Answers, p: Probabilities) -> pd.DataFrame:
        observed, expected, variance = _counts(self.objects, odd, p, len(self.names))
        shown = np.bincount(self.objects.ravel(), minlength=len(self.names))
        frame = _details(observed, expected, variance, pd.Index(self.names, name="object"))
        frame.insert(0, "shown", shown)
        return frame


@dataclass(frozen=True, eq=False)
class Positions(Statistic):
    """How often the answer stood first, second and third."""

    name = "positions"
    means = "answers favour a position, as when people press the same key"
    one_sided = True
    places: NDArray[np.int64]

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        places = places_of(data)
        if places is None:
            return cls(np.tile(np.arange(3), (len(data), 1)))
        known = getattr(fit.choice, "position", None) is not None
        return cls(places) if known else _UnfavouredPositions(places)  # type: ignore[return-value]

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return _sum_of_squares(*_counts(self.places, odd, p, 3))

    def details(self, odd: Answers, p: Probabilities) -> pd.DataFrame:
        index = pd.Index([1, 2, 3], name="position")
        return _details(*_counts(self.places, odd, p, 3), index)


class _UnfavouredPositions(Positions):
    """The same where places are known and the model has no favour for any."""

    remedy = "choice=pv.choices.DotProduct(position=dist.Normal(0, 0.3))"
    means = f"{Positions.means}; {remedy} says by how much"


@dataclass(frozen=True, eq=False)
class ParticipantAccuracy(Statistic):
    """How much participants differ in how well they are predicted."""

    name = "participant accuracy"
    means = "some participants answer unlike the others, or at random"
    one_sided = True
    who: csr_array
    labels: pd.Index

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        return cls(*_by_participant(data))

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return _sum_of_squares(*self._counts(odd, p))

    def details(self, odd: Answers, p: Probabilities) -> pd.DataFrame:
        frame = _details(*self._counts(odd, p), self.labels)
        frame.insert(0, "judgments", self.who.sum(axis=1).astype(int))
        return frame

    def _counts(self, odd: Answers, p: Probabilities) -> Counts:
        best = p.max(axis=1)
        return self.who @ hits(p, odd), self.who @ best, self.who @ (best * (1 - best))


@dataclass(frozen=True, eq=False)
class OwnWeights(Statistic):
    """Whether participants weigh the dimensions differently.

    For every participant and dimension, the slope of the log-likelihood by a weight of
    their own for that dimension (a score test), squared and summed.
    """

    name = "own weights"
    remedy = "people=pv.People()"
    means = f"people weigh the dimensions differently, and {remedy} says who and which"
    one_sided = True
    who: csr_array
    labels: pd.Index
    dimensions: pd.Index
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, fit: Fit, data: Triplets) -> Self:
        who, labels = _by_participant(data)
        weights = fit.embedding()
        if weights.empty:
            raise CannotTellError("the fit kept no dimension")
        i, j, k = (weights.to_numpy()[column] for column in data.objects.T)
        people = fit.model.people
        kind = cls if people is None or not people.varies("weights") else _BeyondOwnWeights
        shares = np.stack([j * k, i * k, i * j], axis=1)
        return kind(who, labels, weights.columns, shares)  # type: ignore[return-value]

    def __call__(self, odd: Answers, p: Probabilities) -> float:
        return _sum_of_squares(*self._slopes(odd, p))

    def of_both(self, odd: Answers, drawn: Answers, p: Probabilities) -> tuple[float, float]:
        # What is expected takes nearly all of the time, and does not depend on the answers.
        expected = self._expected(p)
        return (
            _sum_of_squares(self._observed(odd), *expected),
            _sum_of_squares(self._observed(drawn), *expected),
        )

    def details(self, odd: Answers, p: Probabilities) -> pd.DataFrame:
        slopes, expected, variance = self._slopes(odd, p)
        z = (slopes - expected) / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        columns = self.dimensions.rename("z by dimension")
        return pd.DataFrame(z, index=self.labels, columns=columns)

    @cached_property
    def _squares(self) -> NDArray[np.float32]:
        # Wanted again for every draw.
        return self.shares**2

    def _slopes(self, odd: Answers, p: Probabilities) -> Counts:
        return self._observed(odd), *self._expected(p)

    def _observed(self, odd: Answers) -> NDArray[Any]:
        return self.who @ self.shares[np.arange(len(odd)), odd]

    def _expected(self, p: Probabilities) -> tuple[NDArray[Any], NDArray[Any]]:
        mean = np.einsum("no,nok->nk", p, self.shares)
        square = np.einsum("no,nok->nk", p, self._squares)
        return self.who @ mean, self.who @ (square - mean**2)


class _BeyondOwnWeights(OwnWeights):
    """The same where the model has weights of people already."""

    remedy = ""
    means = "people differ more in how they weigh the dimensions than their fitted weights do"


ALL: tuple[type[Statistic], ...] = (
    Accuracy,
    CrossEntropy,
    Surprises,
    Agreement,
    OddObjects,
    Positions,
    ParticipantAccuracy,
    OwnWeights,
)


def has_lapses(fit: Fit) -> bool:
    """Whether the model of a fit says that some answers are given at random."""
    people = fit.model.people
    return getattr(fit.choice, "lapse", 0.0) != 0.0 or (
        people is not None and people.varies("lapse")
    )


def statistics_for(fit: Fit) -> tuple[type[Statistic], ...]:
    """All that a fit can be asked about."""
    return (*ALL, Lapses) if has_lapses(fit) else ALL


def _counts(groups: NDArray[np.integer], odd: Answers, p: Probabilities, size: int) -> Counts:
    """Answers by group of each of the three, how many are expected, and their variance."""
    observed = np.bincount(groups[np.arange(len(odd)), odd], minlength=size)
    flat = groups.ravel()
    expected = np.bincount(flat, weights=p.ravel(), minlength=size)
    variance = np.bincount(flat, weights=(p * (1 - p)).ravel(), minlength=size)
    return observed, expected, variance


def _sum_of_squares(
    observed: NDArray[np.number], expected: NDArray[np.number], variance: NDArray[np.number]
) -> float:
    at = variance > 0
    return float(((observed[at] - expected[at]) ** 2 / variance[at]).sum())


def _details(
    observed: NDArray[np.number],
    expected: NDArray[np.number],
    variance: NDArray[np.number],
    index: pd.Index,
) -> pd.DataFrame:
    sd = np.sqrt(variance)
    z = np.divide(observed - expected, sd, out=np.zeros(len(sd)), where=sd > 0)
    return pd.DataFrame({"observed": observed, "expected": expected, "sd": sd, "z": z}, index)


def _by_participant(data: Triplets) -> tuple[csr_array, pd.Index]:
    """A matrix that sums over the judgments of each participant, and who they are."""
    if data.participants is None:
        raise CannotTellError("the judgments do not say who judged")
    codes, labels = pd.factorize(data.participants)
    if len(labels) < 2:
        raise CannotTellError("there is only one participant")
    told = np.flatnonzero(codes >= 0)
    shape = (len(labels), len(data))
    who = csr_array((np.ones(len(told)), (codes[told], told)), shape=shape)
    return who, pd.Index(labels, name="participant")
