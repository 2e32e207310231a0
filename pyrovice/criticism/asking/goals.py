"""What is to be known: how well each weight is known already, and how much each matters.

Weights are known object by object: the precision of one object's weights is a matrix, and answers
about it add their information to it. The posterior of the mean-field guide has no correlations
between the weights of an object, but its judgments say what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.criticism.asking.information import Answering, Rows
from pyrovice.model.simulation import random_triplets

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

# A weight that no judgment informs is known as well as a Normal of standard deviation 1.4 is.
LEAST_PRECISION = 0.5
SMALLEST_SD = 1e-3
# Judgments that precision is estimated from, and random triplets that say which weights matter;
# both are many, so that fewer draws do for each.
MOST_JUDGMENTS = 40_000
FEW_DRAWS = 4
TARGETS, TARGETS_PER_OBJECT, MOST_TARGETS = 3_000, 30, 30_000


@dataclass(frozen=True, eq=False)
class Goal:
    """What the answers should tell about.

    Attributes
    ----------
    precision : Tensor of shape (blocks, d, d)
        How well the weights of each block are known: a block per object, or one for a person.
    matters : Tensor of shape (blocks, d, d)
        What an error in these weights costs.
    information : callable
        From triplets (n, 3) to what they tell about their blocks, (n, blocks of each, d, d).
    factors : callable
        The same as roots, by parts, from a few draws.
    by_object : bool
        Whether blocks are objects.
    """

    precision: Tensor
    matters: Tensor
    information: Callable[[Rows], Tensor]
    factors: Callable[[Rows], object]
    by_object: bool = True

    def blocks_of(self, objects: Rows) -> Tensor:
        """The blocks that triplets tell about, (n, 3) or (n, 1)."""
        return torch.as_tensor(objects if self.by_object else np.zeros((len(objects), 1), int))


def about_embedding(
    fit: Fit,
    answering: Answering,
    asked: Rows,
    rng: np.random.Generator,
    objects: NDArray[np.int64] | None = None,
) -> Goal:
    """Predict random triplets, or those that decide how alike some objects are."""
    m = len(fit.names)
    targets = random_triplets(m, min(max(TARGETS, TARGETS_PER_OBJECT * m), MOST_TARGETS), rng)
    if objects is not None:
        targets = triplets_with(objects, targets, rng, both=1.0)
    matters = summed(answering.few(FEW_DRAWS).about_objects, targets, m) / len(targets)
    return _goal(answering, precision_of(fit, answering, asked, rng), matters)


def about_dimension(
    fit: Fit, answering: Answering, asked: Rows, rng: np.random.Generator, position: int
) -> Goal:
    """Know the weights of one dimension, whatever they matter for predictions."""
    precision = precision_of(fit, answering, asked, rng)
    matters = torch.zeros_like(precision)
    matters[:, position, position] = 1.0
    return _goal(answering, precision, matters)


def about_person(fit: Fit, answering: Answering, rng: np.random.Generator) -> Goal:
    """Predict what one person will answer, by knowing their weights."""
    weights = fit.posterior.others["person_weight"].pooled[:, answering.person]
    log_weight = torch.as_tensor(np.log(weights))
    covariance = torch.atleast_2d(torch.cov(log_weight.T))
    # Draws are few for many dimensions; a little more variance keeps the inverse sound.
    covariance = (
        covariance + 0.05 * torch.diag(covariance.diagonal()) + 1e-6 * torch.eye(len(covariance))
    )
    targets = random_triplets(len(fit.names), TARGETS, rng)
    return Goal(
        precision=torch.linalg.inv(covariance)[None],
        matters=answering.about_person(targets).mean(0),
        information=answering.about_person,
        factors=answering.few(2).factors_of_person,
        by_object=False,
    )


def _goal(answering: Answering, precision: Tensor, matters: Tensor) -> Goal:
    return Goal(precision, matters, answering.about_objects, answering.few(2).factors)


def precision_of(fit: Fit, answering: Answering, asked: Rows, rng: np.random.Generator) -> Tensor:
    """How well the weights of every object are known, (m, d, d).

    The information in the judgments that were made, and beside it, on the diagonal, what else
    the posterior knows.
    """
    m, d = fit.posterior.shape
    precision = torch.zeros(m, d, d)
    if len(asked):
        some = asked
        if len(asked) > MOST_JUDGMENTS:
            some = asked[rng.choice(len(asked), MOST_JUDGMENTS, replace=False)]
        precision = summed(answering.few(FEW_DRAWS).about_objects, some, m) * (
            len(asked) / len(some)
        )
    known = torch.as_tensor(np.maximum(fit.posterior.sd(), SMALLEST_SD)) ** -2
    beside = (known - precision.diagonal(dim1=1, dim2=2)).clamp(min=LEAST_PRECISION)
    return precision + torch.diag_embed(beside)


def summed(information: Callable[[Rows], Tensor], triplets: Rows, m: int) -> Tensor:
    """What many triplets tell about each object together, (m, d, d)."""
    total: Tensor | None = None
    for part in np.array_split(triplets, max(1, len(triplets) // 4096)):
        found = information(part)
        if total is None:
            total = found.new_zeros(m, *found.shape[2:])
        add_to(total, torch.as_tensor(part), found)
    assert total is not None
    return total


def add_to(precision: Tensor, blocks: Tensor, information: Tensor) -> None:
    """Add the information of triplets to that of their blocks, in place."""
    precision.index_put_((blocks.flatten(),), information.flatten(0, 1), accumulate=True)


def triplets_with(
    objects: Sequence[int] | NDArray[np.int64],
    triplets: Rows,
    rng: np.random.Generator,
    both: float,
) -> Rows:
    """Random triplets with one of these objects in each, and with two in a share of them."""
    triplets = triplets.copy()
    objects = np.asarray(objects)
    triplets[:, 0] = rng.choice(objects, len(triplets))
    if len(objects) > 1:
        two = rng.random(len(triplets)) < both
        triplets[two, 1] = rng.choice(objects, int(two.sum()))
    triplets = np.sort(triplets, axis=1)
    return triplets[(np.diff(triplets, axis=1) > 0).all(axis=1)]
