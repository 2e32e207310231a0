"""Priors of one family with different numbers, as one prior with a number for each fit."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from pyrovice.model.priors.ard import ARD
from pyrovice.model.priors.entrywise import Entrywise
from pyrovice.model.priors.resolve import Prior
from pyrovice.model.priors.spike_slab import SpikeSlab
from pyrovice.storage.identity import recognise

# Priors that only compute with their numbers, so that these may be tensors as well.
FAMILIES = (SpikeSlab, ARD)


def family(prior: Prior) -> str:
    """What priors have in common that can be fitted in one stack."""
    if isinstance(prior, Entrywise):
        return type(prior.distribution).__name__
    if isinstance(prior, FAMILIES):
        others = {f.name: getattr(prior, f.name) for f in fields(prior)}
        return f"{type(prior).__name__} {[v for v in others.values() if not _is_number(v)]}"
    return recognise(prior)


def differing_numbers(priors: Sequence[Prior]) -> dict[str, Tensor]:
    """The numbers of priors of one family, by name, where they are not all the same."""
    each = [_numbers(prior) for prior in priors]
    return {
        name: torch.tensor([numbers[name] for numbers in each])
        for name in each[0]
        if len({numbers[name] for numbers in each}) > 1
    }


def with_numbers(prior: Prior, numbers: dict[str, Tensor]) -> Prior:
    """The prior with other numbers, which are not checked again: they may be tensors."""
    if not numbers:
        return prior
    other = copy(prior)
    if isinstance(prior, Entrywise):
        given = _numbers(prior) | numbers
        object.__setattr__(other, "distribution", type(prior.distribution)(**given))
        return other
    for name, number in numbers.items():
        object.__setattr__(other, name, number)
    return other


def _numbers(prior: Prior) -> dict[str, Any]:
    if isinstance(prior, Entrywise):
        distribution = prior.distribution
        return {name: float(getattr(distribution, name)) for name in distribution.arg_constraints}
    if isinstance(prior, FAMILIES):
        named = {f.name: getattr(prior, f.name) for f in fields(prior)}
        return {name: value for name, value in named.items() if _is_number(value)}
    return {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
