"""The paper's Algorithm 1 as a plain PyTorch loop: the thing to beat.

Batches of 128, Adam at 0.001, rows of X gathered for the three objects (no one-hot encoding), all
of log q and log p at every step, as the algorithm says. Nothing of pyrovice is used.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor


class Baseline:
    """VICE by hand.

    Parameters
    ----------
    objects : Tensor of shape (n, 3)
        Object ids, the odd one last.
    n_objects, dimensions : int
        Shape of the embedding.
    prior : (spike, slab, pi)
        The spike-and-slab prior.
    """

    def __init__(
        self,
        objects: Tensor,
        n_objects: int,
        dimensions: int,
        prior: tuple[float, float, float],
        *,
        seed: int = 0,
        batch: int = 128,
        rate: float = 0.001,
    ) -> None:
        torch.manual_seed(seed)
        self.objects, self.batch, self.prior = objects, batch, prior
        self.mu = torch.randn(n_objects, dimensions) * math.sqrt(2 / dimensions)
        self.log_sigma = torch.full_like(self.mu, -1 / self.mu.std().item())
        parameters = [self.mu.requires_grad_(), self.log_sigma.requires_grad_()]
        self.optimizer = torch.optim.Adam(parameters, lr=rate)

    def complexity(self, X: Tensor, noise: Tensor) -> Tensor:
        """Log q − log p of one draw."""
        spike, slab, pi = self.prior
        log_q = -0.5 * noise.square() - self.log_sigma - 0.5 * math.log(2 * math.pi)
        log_p = torch.logaddexp(
            -0.5 * (X / spike).square() + math.log(pi / spike),
            -0.5 * (X / slab).square() + math.log((1 - pi) / slab),
        ) - 0.5 * math.log(2 * math.pi)
        return (log_q - log_p).sum()

    def log_likelihood(self, X: Tensor, rows: Tensor) -> Tensor:
        """Summed log-probability of a batch, by gathered rows."""
        R = X.relu()
        i, j, k = (R[rows[:, column]] for column in range(3))
        pairs = torch.stack([(i * j).sum(-1), (i * k).sum(-1), (j * k).sum(-1)])
        return (pairs[0] - pairs.logsumexp(0)).sum()

    def step(self, rows: Tensor) -> None:
        """One step of Algorithm 1 on a batch."""
        noise = torch.randn_like(self.mu)
        X = self.mu + self.log_sigma.exp() * noise
        loss = self.complexity(X, noise) / len(self.objects)
        loss = loss - self.log_likelihood(X, rows) / len(rows)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def train(self, seconds: float, every: float, look: Callable[[float], None]) -> int:
        """Steps for some seconds of training; `look` is called now and then, off the clock."""
        spent, steps, next_look = 0.0, 0, every
        while True:
            for rows in torch.randperm(len(self.objects)).split(self.batch):
                began = time.perf_counter()
                self.step(self.objects[rows])
                spent += time.perf_counter() - began
                steps += 1
                if spent >= next_look:
                    look(spent)
                    next_look += every
                if spent >= seconds:
                    return steps

    def seconds_per_epoch(self, steps: int = 300) -> float:
        """What an epoch takes, from a part of one."""
        batches = torch.randperm(len(self.objects)).split(self.batch)[: steps + 20]
        for rows in batches[:20]:
            self.step(self.objects[rows])
        began = time.perf_counter()
        for rows in batches[20:]:
            self.step(self.objects[rows])
        each = (time.perf_counter() - began) / len(batches[20:])
        return each * math.ceil(len(self.objects) / self.batch)
