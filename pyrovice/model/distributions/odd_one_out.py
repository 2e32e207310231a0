"""The observed answer: which of three objects is the odd one."""

from __future__ import annotations

import numpy as np
import torch
from pyro.distributions import Categorical
from torch import Tensor


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
        if self.logits.dim() == 1:
            return super().log_prob(value)
        rows = self.logits.mT
        value = value.expand(np.broadcast_shapes(value.shape, self.batch_shape))
        rows = rows.expand((*value.shape[:-1], *rows.shape[-2:]))
        return rows.gather(-2, value.unsqueeze(-2)).squeeze(-2)
