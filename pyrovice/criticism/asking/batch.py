"""A batch that is good as a whole: what earlier questions will tell need not be asked again.

The value of a triplet is how much its answer is expected to lower the error that matters. To first
order it is the trace of K·I, where I is the information in the answer and K = C M C, with C the
covariance of an object's weights and M what errors in them cost. After every few triplets
their information is added to the precision of their objects, as if they had been answered, so
that the next ones are about other objects and other weights.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from pyrovice.criticism.asking.candidates import Candidates
from pyrovice.criticism.asking.goals import Goal, add_to
from pyrovice.criticism.asking.information import Rows

# Numbers held of the candidates' information: 160 MB.
MOST_ENTRIES = 40_000_000
MOST_HELD = 20_000
# Candidates that are looked at closely: so many for each triplet that is chosen, and at least some.
CHOICE, GOOD_CHOICE, LEAST_HELD = 4, 20, 2_000
# Between two updates every object is asked about in at most half a triplet, on average.
OBJECTS_PER_STEP = 6


# Every object is asked about at least so often, compared with what an even batch would do.
LEAST_SHARE = 0.25


class Service:
    """How often each object was asked about in a batch, and who is still to be served."""

    def __init__(self, objects: int, n: int, even: bool) -> None:
        self.times = torch.zeros(objects, dtype=torch.long)
        self.least = int(LEAST_SHARE * 3 * n / objects) if even else 0
        self.left = n

    def add(self, at: Tensor) -> None:
        """Count triplets that were chosen."""
        self.left -= len(at)
        if self.least:
            self.times += torch.bincount(at.flatten(), minlength=len(self.times))

    def urgent(self, at: Tensor, step: int) -> Tensor | None:
        """Which triplets serve an object that would else be left out, if it is time for that."""
        short = (self.least - self.times).clamp(min=0)
        # A step later it would be too late.
        if not self.least or int(short.sum()) + step < self.left:
            return None
        return (short > 0)[at].any(1)


def choose(goal: Goal, candidates: Candidates, n: int, rng: np.random.Generator) -> Rows:
    """`n` triplets, the most valuable first; fewer if no candidates are left."""
    precision = goal.precision.clone()
    d = precision.shape[-1]
    service = Service(len(precision), n, even=goal.by_object and candidates.objects is None)
    wanted = min(MOST_HELD, max(LEAST_HELD, GOOD_CHOICE * n))
    held = max(2 * CHOICE, min(wanted, MOST_ENTRIES // (3 * d * d)))
    chosen: list[Rows] = []
    while service.left > 0:
        rows = candidates.sample(rng)
        if not len(rows):
            break
        if len(rows) > held:
            value = values_at_first_sight(goal, precision, rows)
            rows = rows[np.argsort(-value, kind="stable")[:held]]
        share = service.left if len(rows) < held else min(service.left, held // CHOICE)
        found = _greedy(goal, precision, rows, share, service)
        chosen.append(found)
        candidates.take(found)
    return np.concatenate(chosen) if chosen else np.empty((0, 3), int)


def _greedy(goal: Goal, precision: Tensor, rows: Rows, n: int, service: Service) -> Rows:
    """The best of these, a few at a time; their information is added to `precision`."""
    at = goal.blocks_of(rows)
    information = goal.information(rows)
    blocks = len(precision)
    step = max(1, blocks // OBJECTS_PER_STEP)
    most = math.ceil(at.shape[1] * step / blocks)
    free = torch.ones(len(rows), dtype=torch.bool)
    chosen: list[int] = []
    while len(chosen) < min(n, len(rows)):
        value = values(goal, precision, at, information)
        urgent = service.urgent(at, step)
        open_to = free if urgent is None or not (urgent & free).any() else urgent & free
        value[~open_to] = -torch.inf
        best = torch.topk(value, min(int(open_to.sum()), 40 * step)).indices
        picked = best[spread_out(at[best].numpy(), min(step, n - len(chosen)), most)]
        free[picked] = False
        chosen += picked.tolist()
        service.add(at[picked])
        add_to(precision, at[picked], information[picked])
    return rows[chosen]


def values(goal: Goal, precision: Tensor, at: Tensor, information: Tensor) -> Tensor:
    """By how much each answer is expected to lower the error that matters, (n,)."""
    kernel = error_kernel(goal, precision)
    return sum(
        torch.einsum("nde,nde->n", information[:, place], kernel[at[:, place]])
        for place in range(at.shape[1])
    )  # type: ignore[return-value]


def error_kernel(goal: Goal, precision: Tensor) -> Tensor:
    """K = C M C of every block, (blocks, d, d)."""
    covariance = torch.linalg.inv(precision)
    return covariance @ goal.matters @ covariance


def values_at_first_sight(goal: Goal, precision: Tensor, rows: Rows) -> Rows:
    """The same from a few draws, without keeping the information of so many triplets."""
    kernel = error_kernel(goal, precision)
    found, first = [], 0
    for factors in goal.factors(rows):  # type: ignore[attr-defined]
        at = goal.blocks_of(rows[first : first + len(factors)])
        first += len(factors)
        found.append(
            sum(
                torch.einsum(
                    "nad,nad->n", factors[:, :, place] @ kernel[at[:, place]], factors[:, :, place]
                )
                for place in range(at.shape[1])
            )
        )
    return torch.cat(found).numpy()  # type: ignore[arg-type]


def spread_out(at: Rows, n: int, most: int) -> list[int]:
    """The first `n` rows in which no block comes up more than `most` times."""
    times: dict[int, int] = {}
    taken: list[int] = []
    for row, blocks in enumerate(at.tolist()):
        if len(taken) == n:
            break
        if all(times.get(block, 0) < most for block in blocks):
            taken.append(row)
            for block in blocks:
                times[block] = times.get(block, 0) + 1
    return taken
