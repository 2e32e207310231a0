"""Whatever can be fixed or learned: a number fixes it, a distribution learns it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from pyro.distributions.torch_distribution import TorchDistributionMixin

Parameter: TypeAlias = float | TorchDistributionMixin


def is_learned(given: Any) -> bool:
    """Whether this is a distribution, under which a value is learned."""
    return isinstance(given, TorchDistributionMixin)


def is_within(given: Any, low: float, high: float) -> bool:
    """Whether this is a distribution of one number that is never outside these bounds."""
    if not is_learned(given) or given.shape() or given.support.is_discrete:
        return False
    bounds = vars(given.support)
    lowest = float(bounds.get("lower_bound", -np.inf))
    highest = float(bounds.get("upper_bound", np.inf))
    return low <= lowest and highest <= high


def is_number(given: Any) -> bool:
    """Whether this is a finite number."""
    return (
        isinstance(given, int | float | np.number)
        and not isinstance(given, bool)
        and bool(np.isfinite(given))
    )


def as_typed(given: Any) -> str:
    """A value as it is typed; Pyro's own text of a distribution may leave out its arguments."""
    if not is_learned(given):
        return repr(given)
    arguments = ", ".join(
        f"{name}={np.format_float_positional(np.float32(getattr(given, name)), trim='-')}"
        for name in given.arg_constraints
    )
    return f"{type(given).__name__}({arguments})"
