"""The most that choosing triplets can save: the best design there is, if the truth is known.

With many judgments the excess nats of a fit on random triplets are tr(R M⁻¹) / 2n, where n M is the
information in the judgments that were made and R that in one of a random triplet. How often each
triplet should be asked for the smallest trace is a convex problem, solved here by multiplying.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness.data import embedding, origin
from benchmarks.quality.asking import SETTING as OBJECTS_36
from benchmarks.quality.asking import Setting
from benchmarks.quality.asking_200 import SETTING as OBJECTS_200
from pyrovice.model.simulation import random_triplets

# Weights below this are taken for zero.
SMALLEST = 0.05
# A weight has a Normal prior of standard deviation one; so many judgments count against it.
JUDGMENTS = 100_000
CANDIDATES, ROUNDS, BLOCK = 50_000, 30, 2_000
RANDOM = (0.0, 0.1, 0.4)
CASES = (
    (OBJECTS_36, 0.0, "known"),
    (OBJECTS_36, 0.15, "known"),
    (OBJECTS_36, 0.0, "learned"),
    (OBJECTS_36, 0.15, "learned"),
    (OBJECTS_200, 0.0, "known"),
)


def run(quick: bool) -> str:
    lines = [
        f"The best design for the true embedding, of {CANDIDATES:,} triplets at most, but for a "
        "part that is asked at random. *Share*: judgments, divided by the number of random ones "
        "after which held-out nats are as good; to first order, for many judgments and a fit that "
        f"wastes nothing. Which weights are zero (below {SMALLEST}) is known, or is to be learned "
        "like all others.",
        "",
        "| objects | lapses | zeros are | "
        f"{' | '.join(f'{part:.0%} at random' for part in RANDOM)} |",
        f"| --- | --- | --- |{' --- |' * len(RANDOM)}",
    ]
    for setting, lapse, zeros in CASES[: 1 if quick else None]:
        answers = Answers.of(setting, lapse, zeros == "known")
        shares = " | ".join(f"{answers.best_share(part):.2f}" for part in RANDOM)
        lines.append(
            f"| {setting.objects}, {origin(setting.source)} | {lapse:g} | {zeros} | {shares} |"
        )
    return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Answers:
    """What the answers to some triplets tell: `roots` (n, 3, k) by the weights `at` (n, k).

    Where a triplet has fewer weights than k, the rest are of a weight beyond the last.
    """

    roots: Tensor
    at: Tensor
    weights: int

    @classmethod
    def of(cls, setting: Setting, lapse: float, zeros_known: bool) -> Answers:
        rng = np.random.default_rng(0)
        truth = embedding(setting.source)
        some = np.sort(rng.choice(len(truth), setting.objects, replace=False))
        X = torch.as_tensor(truth[some]).double()
        above = X > SMALLEST
        X = torch.where(above, X, 0.0)
        triplets = random_triplets(setting.objects, CANDIDATES, rng)
        rows = torch.as_tensor(np.unique(triplets, axis=0))
        free = above if zeros_known else torch.ones_like(above)
        number = torch.where(free, free.flatten().cumsum(0).reshape(X.shape) - 1, int(free.sum()))
        at, roots = number[rows].flatten(1), derivatives(X[rows], lapse)
        # The free ones first, and no more columns than any triplet needs.
        order = at.argsort(dim=1)[:, : int(free[rows].flatten(1).sum(1).max())]
        at = at.gather(1, order)
        roots = roots.gather(2, order[:, None].expand(-1, 3, -1))
        return cls(roots * (at < free.sum())[:, None], at, int(free.sum()))

    def best_share(self, random: float) -> float:
        """The trace under the best design, over that of random triplets."""
        n = len(self.at)
        even = torch.full((n,), 1 / n).double()
        everybody = self.information(even)
        prior = torch.eye(self.weights).double() / JUDGMENTS
        chosen = even
        for _ in range(ROUNDS):
            inverse = torch.linalg.inv(
                self.information(random * even + (1 - random) * chosen) + prior
            )
            chosen = chosen * self.worth(inverse @ everybody @ inverse).sqrt()
            chosen = chosen / chosen.sum()
        asked = self.information(random * even + (1 - random) * chosen) + prior
        traces = [
            torch.linalg.solve(each, everybody).trace() for each in (asked, everybody + prior)
        ]
        return float(traces[0] / traces[1])

    def information(self, share: Tensor) -> Tensor:
        """The information in an answer, if triplets are asked in these shares."""
        size = self.weights + 1
        total = torch.zeros(size * size).double()
        for part in torch.arange(len(share)).split(BLOCK):
            own = torch.einsum("n,nak,nal->nkl", share[part], self.roots[part], self.roots[part])
            place = self.at[part, :, None] * size + self.at[part, None]
            total.index_add_(0, place.flatten(), own.flatten())
        return total.reshape(size, size)[:-1, :-1]

    def worth(self, kernel: Tensor) -> Tensor:
        """By how much an answer to each triplet lowers the trace."""
        kernel = torch.nn.functional.pad(kernel, (0, 1, 0, 1))
        found = []
        for part in torch.arange(len(self.at)).split(BLOCK):
            own = kernel[self.at[part, :, None], self.at[part, None]]
            found.append(torch.einsum("nak,nkl,nal->n", self.roots[part], own, self.roots[part]))
        return torch.cat(found)


def derivatives(X: Tensor, lapse: float) -> Tensor:
    """√q ∂log q of each answer by the weights of the three objects, (n, 3, 3 d)."""
    first, second, third = X.unbind(1)
    nothing = torch.zeros_like(first)
    # Of the similarity of the pair that stays when the first, second or third is the odd one.
    by_pair = torch.stack(
        [
            torch.cat([nothing, third, second], 1),
            torch.cat([third, nothing, first], 1),
            torch.cat([second, first, nothing], 1),
        ],
        dim=1,
    )
    alike = torch.stack([(second * third).sum(1), (first * third).sum(1), (first * second).sum(1)])
    p = alike.T.softmax(1)
    q = (1 - lapse) * p + lapse / 3
    by_answer = by_pair - (p[..., None] * by_pair).sum(1, keepdim=True)
    return (1 - lapse) * (p / q.sqrt())[..., None] * by_answer
