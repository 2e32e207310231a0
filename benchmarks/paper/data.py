"""The data sets of the paper's experiments: simulated from its embeddings, and people's.

Simulated ones have the sizes of the paper: a test set of 1,000 triplets with 25 answers to each,
or for FOOD every triplet of 36 objects, some of them judged again, in parts of 45, 5 and 50 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import embedding, human_things, origin
from pyrovice.model.simulation import choice_probabilities, random_triplets
from pyrovice.results.prediction import draw_answers

EMBEDDINGS = {
    "THINGS": "things_vice42",
    "ADJECTIVES": "adjectives_vice21",
    "FOOD": "food_vice6",
}
JUDGMENTS = {"THINGS": 1_460_000, "ADJECTIVES": 800_000}
TEST_TRIPLETS = 1000
ANSWERS = 25
FOOD_REPEATS = 2860
PEOPLE = "THINGS, people"
# For --quick: so many objects of the large embeddings, and judgments of them.
QUICK_OBJECTS = 100
QUICK_JUDGMENTS = 12_000


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint judgments to fit, to choose by, and to score on."""

    train: pv.Triplets
    validation: pv.Triplets
    test: pv.Triplets


@cache
def load(name: str, quick: bool) -> Parts | None:
    """The parts of a data set; None if it is not at hand."""
    if name == PEOPLE:
        return people(quick)
    truth = embedding(EMBEDDINGS[name])
    if name == "FOOD":
        return every_triplet(truth)
    truth = truth[:QUICK_OBJECTS] if quick else truth
    n = QUICK_JUDGMENTS if quick else JUDGMENTS[name]
    train, validation = pv.simulate(truth, n, seed=0).split(0.9, 0.1, seed=0)
    rng = np.random.default_rng(1)
    asked = random_triplets(len(truth), TEST_TRIPLETS // (10 if quick else 1), rng)
    return Parts(train, validation, answered(truth, asked.repeat(ANSWERS, axis=0), rng))


def every_triplet(truth: np.ndarray) -> Parts:
    """All triplets once, some of them again."""
    rng = np.random.default_rng(1)
    once = np.array(list(combinations(range(len(truth)), 3)))
    again = once[rng.integers(0, len(once), FOOD_REPEATS)]
    return Parts(
        *answered(truth, np.concatenate([once, again]), rng).split(0.45, 0.05, 0.5, seed=0)
    )


def people(quick: bool) -> Parts | None:
    """Real judgments; as in the paper, triplets judged by several people are the test set."""
    data = human_things()
    if data is None:
        return None
    _, question, times = np.unique(data._questions(), return_inverse=True, return_counts=True)
    repeated = times[question] > 1
    rest = data[~repeated]
    train, validation = (rest.subset(40_000, seed=0) if quick else rest).split(0.9, 0.1, seed=0)
    return Parts(train, validation, data[repeated])


def answered(truth: np.ndarray, objects: np.ndarray, rng: np.random.Generator) -> pv.Triplets:
    """Simulated answers to these questions."""
    odd = draw_answers(choice_probabilities(truth, objects), rng)
    return pv.Triplets(objects, odd, names=[str(i) for i in range(len(truth))])


def described(name: str) -> str:
    """Where a data set comes from."""
    if name == PEOPLE:
        return "real judgments of people"
    return f"simulated from the {origin(EMBEDDINGS[name])}"
