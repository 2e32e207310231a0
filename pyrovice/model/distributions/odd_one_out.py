"""The observed answer: which of three objects is the odd one."""

from __future__ import annotations

import numpy as np
import torch
from pyro.distributions import Categorical
from torch import Tensor
from torch.distributions.utils import lazy_property

# Lapses that make no difference, but keep the logarithm of what is next to impossible finite.
LEAST_LAPSE = 1e-12


class OddOneOut(Categorical):
    """A Categorical over the three positions, from normalised log-probabilities.

    The same distribution as ``Categorical(logits=log_p)``. It does not normalise
    again, and it works along the memory of `log_p`, in which each of the three
    columns lies in one piece, which is faster for many judgments.

    Parameters
    ----------
    log_p : Tensor of shape (..., 3)
        Log-probability of each position being the odd one.

    Examples
    --------
    >>> OddOneOut(torch.tensor([0.2, 0.3, 0.5]).log()).log_prob(torch.tensor(2)).exp()
    tensor(0.5000)
    """

    def __init__(self, log_p: Tensor, *, validate_args: bool | None = None) -> None:
        self.logits = self._param = log_p
        self._num_events = 3
        torch.distributions.Distribution.__init__(
            self, log_p.shape[:-1], validate_args=validate_args
        )

    def expand(self, batch_shape: torch.Size, _instance: OddOneOut | None = None) -> OddOneOut:
        return OddOneOut(self.logits.expand((*batch_shape, 3)), validate_args=self._validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return _of_answer(self.logits, value)

    def left_of_answers(self) -> OddOneOut:
        """The same with a further dim of size one left of that of the judgments."""
        return OddOneOut(self.logits.unsqueeze(-3), validate_args=self._validate_args)


class LapsingOddOneOut(OddOneOut):
    """The same where some answer at random, each with a probability of their own.

    What is known of one answer takes one mixture, not three, and no logarithm of the two others.

    Parameters
    ----------
    p : Tensor of shape (..., n, 3)
        Probability of each position, of an answer that is not at random.
    lapse : Tensor of shape (..., n) or (..., 1)
        The probability that it is, at least LEAST_LAPSE, of each answer or of all.
    chance : Tensor of shape (1,) or (n,)
        Of each answer at random: a third, or a half with an anchor.
    anchor : Tensor of shape (n,), optional
        The position that cannot be odd, -1 where there is none.

    Examples
    --------
    >>> p = torch.tensor([[0.2, 0.3, 0.5]])
    >>> lapsing = LapsingOddOneOut(p, torch.tensor([0.1]), torch.tensor([1 / 3]))
    >>> lapsing.log_prob(torch.tensor([2])).exp(), lapsing.probs
    (tensor([0.4833]), tensor([[0.2133, 0.3033, 0.4833]]))
    """

    def __init__(
        self,
        p: Tensor,
        lapse: Tensor,
        chance: Tensor,
        anchor: Tensor | None = None,
        *,
        validate_args: bool | None = None,
    ) -> None:
        self.lapse, self.chance, self.anchor = lapse, chance, anchor
        self.p = self._param = p
        self._num_events = 3
        torch.distributions.Distribution.__init__(self, p.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """Log-probability of each position being the odd one, lapses included."""
        mixed = self._mixed(self.p, self.lapse.unsqueeze(-1), self.chance.unsqueeze(-1))
        if self.anchor is None:
            return mixed
        position = torch.arange(3, device=mixed.device)
        return mixed.masked_fill(self.anchor.unsqueeze(-1) == position, -torch.inf)

    def expand(
        self, batch_shape: torch.Size, _instance: LapsingOddOneOut | None = None
    ) -> LapsingOddOneOut:
        return LapsingOddOneOut(
            self.p.expand((*batch_shape, 3)),
            # One lapse rate of all answers stays one number.
            self.lapse.expand((*batch_shape[:-1], self.lapse.shape[-1])),
            self.chance,
            self.anchor,
            validate_args=self._validate_args,
        )

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._mixed(_of_answer(self.p, value), self.lapse, self.chance)

    def left_of_answers(self) -> LapsingOddOneOut:
        return LapsingOddOneOut(
            self.p.unsqueeze(-3),
            self.lapse.unsqueeze(-2),
            self.chance,
            self.anchor,
            validate_args=self._validate_args,
        )

    @staticmethod
    def _mixed(p: Tensor, lapse: Tensor, chance: Tensor) -> Tensor:
        if lapse.numel() > 1:
            return torch.lerp(p, chance.to(p), lapse).log()
        # Of one lapse rate for all, these derivatives take fewer passes than those of torch.lerp.
        return torch.addcmul(lapse * chance.to(p), p, 1 - lapse).log()


def _of_answer(of_each: Tensor, value: Tensor) -> Tensor:
    """What is known of these answers, of what is known of all three, (..., n, 3)."""
    if of_each.dim() == 1:
        return of_each[value]
    rows = of_each.mT
    if rows.dim() == 2 and value.dim() == 1 and torch.is_grad_enabled():
        # By its place among all three answers to all judgments: gathering and its derivative take
        # twice as long, once the places are known.
        place = value * value.shape[0] + torch.arange(value.shape[0], device=value.device)
        return rows.reshape(-1).index_select(0, place)
    value = value.expand(np.broadcast_shapes(value.shape, of_each.shape[:-1]))
    rows = rows.expand((*value.shape[:-1], *rows.shape[-2:]))
    return rows.gather(-2, value.unsqueeze(-2)).squeeze(-2)
