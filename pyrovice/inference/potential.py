"""Minus the log-density of a model and its slope, for several chains at once.

Pyro runs a model's code for every gradient, which for a small model takes longer than its numbers
do. Here that code runs once, for all chains together, and the operations that it came to are kept
and repeated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyro.infer.mcmc.util import initialize_model
from pyro.ops.integrator import potential_grad
from torch import Tensor

from pyrovice.guides.resolve import Start, starting
from pyrovice.inference.recorded_step import Recorder
from pyrovice.model.model import Model

Numbers = NDArray[np.floating]
# Rounding explains no larger difference, relative to the largest slope.
ROUNDING = 1e-3


class Potential:
    """−log p(sites, odd) of a model as a function of vectors on the unconstrained line.

    Parameters
    ----------
    model : Model
        With the judgments that it observes.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv, torch
    >>> data = pv.simulate(np.eye(4), 50, seed=0)
    >>> potential = Potential(pv.Model(pv.SpikeSlab(), 4, 2, data))
    >>> z = np.random.default_rng(0).normal(size=(3, 8))
    >>> values, slopes = potential(z)
    >>> values.shape, slopes.shape
    ((3,), (3, 8))
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        first, self._pyro, self.to_line, _ = initialize_model(model)
        self.shapes = {name: value.shape for name, value in first.items()}
        self.dtype = next(iter(first.values())).dtype
        self._traced: dict[int, Any] = {}

    @property
    def rectified(self) -> NDArray[np.bool_]:
        """Which of the numbers are entries of X as the likelihood rectifies them."""
        sites = self.model.structure.sites
        plain = "X" in sites and sites["X"].is_real
        return np.concatenate(
            [np.full(shape.numel(), plain and name == "X") for name, shape in self.shapes.items()]
        )

    def start(self, of_x: Start) -> Numbers:
        """Where a chain may begin: X as `of_x` gives it, everything else at its prior median."""
        found, *_ = initialize_model(self.model, init_strategy=starting(of_x))
        return torch.cat([found[name].flatten() for name in self.shapes]).double().numpy()

    def __call__(self, z: Numbers) -> tuple[Numbers, Numbers]:
        """The potential of each row of `z`, and its slope there."""
        at = torch.from_numpy(z).to(self.dtype)
        if len(at) not in self._traced:
            self._traced[len(at)] = self._trace(at)
        with torch.no_grad():
            slopes, values = self._traced[len(at)](at)
        return values.double().numpy(), slopes.double().numpy()

    def sites(self, z: Numbers) -> dict[str, Tensor]:
        """The values of the latent sites at each row of `z`."""
        line = self._line(torch.from_numpy(z).to(self.dtype))
        return {name: self.to_line[name].inv(value) for name, value in line.items()}

    def _line(self, z: Tensor) -> dict[str, Tensor]:
        """Rows of numbers as unconstrained values of each site."""
        parts = z.split([shape.numel() for shape in self.shapes.values()], dim=-1)
        return {
            name: part.reshape(z.shape[:-1] + shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }

    def _trace(self, at: Tensor) -> Any:
        """The operations for as many chains as `at` has rows, or Pyro's own way of doing it."""
        one = torch.func.grad_and_value(lambda z: self._pyro(self._line(z)))
        try:
            recorder = Recorder((at,))
            with recorder:
                results = torch.func.vmap(one)(at)
            found = recorder.program(results)
            if found is None:
                return self._one_by_one
            with torch.no_grad():
                # Elsewhere than where it was traced, to see that nothing was taken for constant.
                trial = at + 0.1 * torch.sin(torch.arange(at.numel(), dtype=at.dtype)).view_as(at)
                ours, theirs = found(trial), self._one_by_one(trial)
        except Exception:
            # A prior is any code, and not all code can be run for several chains at once.
            return self._one_by_one
        agree = all(
            a is not None
            and torch.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * float(b.abs().max()))
            for a, b in zip(ours, theirs, strict=True)
        )
        return found if agree else self._one_by_one

    def _one_by_one(self, at: Tensor) -> tuple[Tensor, Tensor]:
        slopes, values = [], []
        for z in at:
            with torch.enable_grad():
                slope, value = potential_grad(self._pyro, self._line(z))
            slopes.append(torch.cat([slope[name].flatten() for name in self.shapes]))
            values.append(value)
        return torch.stack(slopes), torch.stack(values)
