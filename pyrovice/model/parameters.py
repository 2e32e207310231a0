"""``pyro.param`` values that belong to one model or guide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyro
import torch
from numpy.typing import NDArray


class OwnParameters:
    """The ``pyro.param`` values of one function, kept apart from those of all others.

    In Pyro's global store those of several fits would meet under one name: the second fit
    would go on from the first, and change it.
    """

    def __init__(self) -> None:
        self.state = pyro.get_param_store().__class__().get_state()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Have ``pyro.param`` read and write these values."""
        with pyro.get_param_store().scope(self.state) as self.state:
            yield

    def __bool__(self) -> bool:
        return bool(self.state["params"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The unconstrained values by name, to save."""
        return {name: value.detach().cpu().numpy() for name, value in self.state["params"].items()}

    @torch.no_grad()
    def put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give saved values to the parameters of these names, which must be there."""
        if {name: a.shape for name, a in arrays.items()} != {
            name: tuple(value.shape) for name, value in self.state["params"].items()
        }:
            raise ValueError("its parameters are not those of this prior")
        for name, value in arrays.items():
            self.state["params"][name].copy_(torch.from_numpy(value))
