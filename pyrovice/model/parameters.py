"""``pyro.param`` values that belong to one model or guide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyro
import torch
from numpy.typing import NDArray

from pyrovice.model.pyro_lock import pyro_locked


class OwnParameters:
    """The ``pyro.param`` values of one function, kept apart from those of all others.

    In Pyro's global store those of several fits would meet under one name: the second fit
    would go on from the first, and change it.
    """

    def __init__(self) -> None:
        self.state = pyro.get_param_store().__class__().get_state()
        self.names: frozenset[str] | None = None

    def settle(self) -> None:
        """Take the parameters that are there the first time for all that belong here.

        A guide that runs the model inside itself makes its own in the same place, later.
        """
        if self.names is None:
            self.names = frozenset(self.state["params"])

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Have ``pyro.param`` read and write these values."""
        with (
            pyro_locked(),
            pyro.get_param_store().scope(self.state) as self.state,
            # A PyroModule that was made before may not have a store of its own.
            pyro.settings.context(module_local_params=False),
        ):
            yield

    def __bool__(self) -> bool:
        return bool(self.names)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The unconstrained values by name, to save."""
        return {name: value.detach().cpu().numpy() for name, value in self._own().items()}

    @torch.no_grad()
    def put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give saved values to the parameters of these names, which must be there."""
        own = self._own()
        if {name: array.shape for name, array in arrays.items()} != {
            name: tuple(value.shape) for name, value in own.items()
        }:
            raise ValueError("its parameters are not those of this prior")
        for name, value in arrays.items():
            own[name].copy_(torch.from_numpy(value))

    def _own(self) -> dict[str, torch.Tensor]:
        return {name: self.state["params"][name] for name in sorted(self.names or ())}
