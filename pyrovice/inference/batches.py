"""The judgments of each step of training."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import torch

from pyrovice.inference.settings import Training
from pyrovice.model.judgments import Judgments


class Batches:
    """The judgments of each step.

    With a batch size of the user's, they are drawn anew in every epoch. Automatic
    batches are few and large: the data are cut up once and the parts take turns.
    """

    def __init__(self, judgments: Judgments, training: Training) -> None:
        self.judgments = judgments
        self.size = training.rows_per_batch(len(judgments))
        self.parts = None
        if self.size >= len(judgments):
            self.parts = [judgments.coming_again()]
        elif training.batch_size == "auto":
            self.parts = [part.coming_again() for part in judgments.parts(self.size)]

    def __len__(self) -> int:
        return -(-len(self.judgments) // self.size)

    @cached_property
    def portions(self) -> list[Judgments]:
        """All judgments in equal random parts, few and large, whatever the size of a batch."""
        if self.parts is not None:
            return self.parts
        size = Training().rows_per_batch(len(self.judgments))
        with torch.random.fork_rng():
            # The same ones when a run is taken up again.
            torch.manual_seed(0)
            return self.judgments.parts(size)

    def epoch(self) -> Iterator[Judgments]:
        """All judgments once, in random order."""
        if self.parts is not None:
            for part in torch.randperm(len(self.parts)).tolist():
                yield self.parts[part]
        else:
            rows = torch.randperm(len(self.judgments), device=self.judgments.odd.device)
            for batch in rows.split(self.size):
                yield self.judgments[batch]
