"""One step of the package against the same arithmetic without Pyro.

The hand-written step is written as well as its author could: the same two ways to the similarities,
the same fused Adam, no tracing, no plates, no distributions.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pyro
import torch

import pyrovice as pv
from benchmarks.harness.data import embedding, origin
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.model.choices.pairs import pair_similarity
from pyrovice.model.judgments import Judgments

PRIOR = pv.SpikeSlab(0.125, 0.5, 0.6)
BATCHES = (128, 1_024, 16_384, 146_000)


class Package:
    """The step that `pyrovice.fit` makes."""

    def __init__(self, judgments: Judgments, dimensions: int) -> None:
        self.judgments = judgments
        self.model = pv.Model(PRIOR, judgments.n_objects, dimensions, judgments)
        self.guide = pv.MeanField()(self.model)
        self.elbo = TwoTermELBO(max_plate_nesting=2)
        self.optimizer = torch.optim.Adam(self.guide.parameters(), lr=1e-4, fused=True)

    def step(self, batch: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        log_likelihood, complexity = self.elbo.terms(self.model, self.guide, self.judgments, batch)
        ((complexity - log_likelihood) / len(self.judgments)).backward()
        self.optimizer.step()


class ByHand:
    """The same without Pyro."""

    def __init__(self, judgments: Judgments, dimensions: int) -> None:
        self.judgments = judgments
        self.mu = torch.randn(judgments.n_objects, dimensions).requires_grad_()
        self.log_sigma = torch.full_like(self.mu, -2.0).requires_grad_()
        self.optimizer = torch.optim.Adam([self.mu, self.log_sigma], lr=1e-4, fused=True)

    def step(self, batch: torch.Tensor) -> None:
        n = len(self.judgments)
        noise = torch.randn_like(self.mu)
        X = self.mu + self.log_sigma.exp() * noise
        log_q = -0.5 * noise.square() - self.log_sigma - 0.5 * math.log(2 * math.pi)
        size = X.square()
        log_p = torch.logaddexp(
            size * (-0.5 / PRIOR.spike**2) + math.log(PRIOR.pi / PRIOR.spike),
            size * (-0.5 / PRIOR.slab**2) + math.log((1 - PRIOR.pi) / PRIOR.slab),
        ) - 0.5 * math.log(2 * math.pi)
        similarity = pair_similarity(X.relu(), self.judgments.pairs[:, batch])
        answered = similarity.log_softmax(0).gather(0, self.judgments.odd[batch][None])
        loss = (log_q - log_p).sum() / n - answered.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run(quick: bool) -> str:
    n = 200_000 if quick else 1_460_000
    data = pv.simulate(embedding("things_vice42"), n, seed=0)
    judgments = Judgments.of(data)
    lines = [
        f"One step at {data.n_objects} objects, d = 100, n = {n:,} ({origin('things_vice42')}). "
        "Median over rounds in which the two take turns.",
        "",
        "| batch | by hand (ms) | pyrovice (ms) | ratio |",
        "| --- | --- | --- | --- |",
    ]
    with pyro.settings.context(module_local_params=True), pyro.validation_enabled(False):
        for batch in BATCHES:
            by_hand, package = take_turns(
                ByHand(judgments, 100), Package(judgments, 100), batch, rounds=5 if quick else 40
            )
            ratio = np.median(np.array(package) / np.array(by_hand))
            lines.append(
                f"| {batch:,} | {np.median(by_hand) * 1e3:.1f} | {np.median(package) * 1e3:.1f} | "
                f"{ratio:.2f} |"
            )
    return "\n".join(lines)


def take_turns(
    first: ByHand, second: Package, batch: int, rounds: int
) -> tuple[list[float], list[float]]:
    """Seconds per step of each, a few steps at a time in turns, so that noise hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    steps = 10 if batch < 10_000 else 3
    for turn in range(rounds + 2):
        rows = torch.randint(0, len(first.judgments), (batch,))
        for contender, seconds in zip((first, second), times, strict=True):
            began = time.perf_counter()
            for _ in range(steps):
                contender.step(rows)
            if turn >= 2:
                seconds.append((time.perf_counter() - began) / steps)
    return times
