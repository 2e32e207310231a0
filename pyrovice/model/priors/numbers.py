"""What is said of parameters of priors that are not numbers."""

from __future__ import annotations

import math
from typing import Any

from pyrovice.errors import PriorError

# Adam squares gradients, which grow with the inverse square of a scale.
SMALLEST, LARGEST = 1e-8, 1e8


def set_numbers(prior: Any, *names: str) -> None:
    """Make the named fields of a frozen value plain floats."""
    for name in names:
        value = getattr(prior, name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise PriorError(f"{name}={value!r} is not a finite number.")
        object.__setattr__(prior, name, number)


def check_positive(prior: Any, *names: str) -> None:
    """Refuse named fields that are not above zero."""
    for name in names:
        _refuse_extremes(name, getattr(prior, name))
        if getattr(prior, name) <= 0:
            raise PriorError(
                f"{name}={getattr(prior, name):g} is not positive; leave it out for "
                f"{type(prior)()!r}."
            )


def _refuse_extremes(name: str, value: float) -> None:
    """Refuse sizes whose squares and gradients float32 cannot hold."""
    if 0 < value < SMALLEST or value > LARGEST:
        raise PriorError(
            f"{name}={value:g} cannot be computed with; expected {SMALLEST:g} to {LARGEST:g}."
        )


def check_mixture(prior: Any) -> None:
    """Refuse a spike that is not narrower than its slab, or a weight outside (0, 1)."""
    example = type(prior).__name__
    for name in ("spike", "slab"):
        _refuse_extremes(name, getattr(prior, name))
    if not 0 < prior.spike < prior.slab:
        raise PriorError(
            f"spike={prior.spike:g} and slab={prior.slab:g}: the spike must be positive and "
            f"narrower than the slab, for example {example}(spike=0.25, slab=1.0)."
        )
    if not 0 < prior.pi < 1:
        raise PriorError(
            f"pi={prior.pi:g} is not strictly between 0 and 1. It is the weight of the "
            f"spike, for example {example}(pi=0.5)."
        )
