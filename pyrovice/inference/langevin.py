"""Langevin dynamics: draws from a density by its gradients alone, at any size.

A step is half a kick, half a drift, a partial refreshment of the momenta, half a drift and half a
kick (Leimkuhler and Matthews, 2013, who call it BAOAB). Nothing is rejected: in tens of thousands
of dimensions a step that would be accepted is many times shorter. What that costs in accuracy is
little, because where the density is Gaussian the positions are exact for every stable step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from pyro.ops.integrator import potential_grad
from torch import Tensor

from pyrovice.inference.recorded_step import Repeated, Results

Values = dict[str, Tensor]
Potential = Callable[[Values], Tensor]

# In units of the scales that are given, so that a density of these scales turns in 2π.
STEP = 0.2
FRICTION = 0.5


class Slope:
    """The gradient of a potential, quick when it is asked for again and again.

    Parameters
    ----------
    potential : callable
        Minus the log-density, up to a constant. It must do the same at every call.
    """

    def __init__(self, potential: Potential) -> None:
        self.potential = potential
        self.names: tuple[str, ...] = ()
        self.repeated = Repeated(self._at)

    def __call__(self, z: Values) -> Values:
        """The gradient at these positions."""
        self.names = tuple(z)
        found = self.repeated(*z.values())
        return {name: slope for name, slope in zip(z, found, strict=True) if slope is not None}

    def _at(self, *values: Tensor) -> Results:
        slope, _ = potential_grad(self.potential, dict(zip(self.names, values, strict=True)))
        return tuple(slope.values())


def langevin(
    potential: Potential | Slope, start: Values, scale: Values, step: float = STEP
) -> Iterator[tuple[Values, float]]:
    """Positions along one path, a step apart, without end.

    With each comes its temperature, the mean square of the momenta: about one where the
    step suits the density, less where it is nearly too long, and without bound where it
    is too long.

    Parameters
    ----------
    potential : callable or Slope
        Minus the log-density, up to a constant, or its gradient.
    start : dict of Tensor
        Where to start.
    scale : dict of Tensor
        About how far each entry can go with the others held fast, such as the standard
        deviations of a mean-field guide.
    step : float
        Length of a step in these scales.

    Examples
    --------
    >>> import itertools, torch
    >>> _ = torch.manual_seed(0)
    >>> path = langevin(
    ...     lambda z: (z["x"] ** 2).sum() / 2, {"x": torch.zeros(50)}, {"x": torch.ones(50)}
    ... )
    >>> draws = torch.stack([z["x"] for z, _ in itertools.islice(path, 2000)])
    >>> round(draws.std().item(), 1)
    1.0
    """
    remembered = math.exp(-FRICTION * step)
    fresh = math.sqrt(1 - remembered**2)
    z = {name: value.detach().clone() for name, value in start.items()}
    momentum = {name: torch.randn_like(value) for name, value in z.items()}

    def slope_at(z: Values) -> Values:
        return potential(z) if isinstance(potential, Slope) else potential_grad(potential, z)[0]

    slope = slope_at(z)
    while True:
        for name, v in momentum.items():
            v.sub_(slope[name] * scale[name], alpha=step / 2)
            z[name] = z[name] + step / 2 * scale[name] * v
            v.mul_(remembered).add_(torch.randn_like(v), alpha=fresh)
            z[name] = z[name] + step / 2 * scale[name] * v
        slope = slope_at(z)
        for name, v in momentum.items():
            v.sub_(slope[name] * scale[name], alpha=step / 2)
        squares = torch.cat([v.flatten() for v in momentum.values()]).square()
        yield {name: value.detach() for name, value in z.items()}, squares.mean().item()
