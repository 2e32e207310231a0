"""The state of a training run: its result, and all that going on with it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.guides import Guide, SiteGuide
from pyrovice.inference.stopping import StoppingRule
from pyrovice.model.model import Model
from pyrovice.storage.archive import group

COUNTS = ("epoch", "step", "dimensions")
SCORES = ("validation_cross_entropy", "validation_accuracy")


@dataclass(frozen=True)
class Epoch:
    """One row of the history; losses in nats per judgment.

    Dimensions and validation scores are as of the last look at the guide.
    """

    epoch: int
    step: int
    loss: float
    log_likelihood: float
    complexity: float
    dimensions: int
    seconds: float
    validation_cross_entropy: float | None = None
    validation_accuracy: float | None = None


@dataclass
class Run:
    """A training run.

    Attributes
    ----------
    model, guide, optimizer
        What is trained, of the dimensions that are left.
    history : list of Epoch
        What happened so far.
    looked_at : int
        The step of the last look at the guide.
    weighed : int
        How many times dimensions were due to be weighed.
    over : bool
        Whether there is nothing left to do.
    converged, interrupted : bool
        Whether it settled, or was stopped by Ctrl-C.
    """

    model: Model
    guide: Guide
    optimizer: torch.optim.Adam | None = None
    history: list[Epoch] = field(default_factory=list)
    looked_at: int = 0
    weighed: int = 0
    over: bool = False
    converged: bool = False
    interrupted: bool = False

    def ended(self, rule: StoppingRule) -> bool:
        """Whether the rule sees no point in going on."""
        return rule.reached(self.history) or rule.collapsed(self.history)

    def table(self) -> pd.DataFrame:
        """The history, one row per epoch."""
        columns = list(Epoch.__dataclass_fields__)
        if not any(epoch.validation_accuracy is not None for epoch in self.history):
            columns = [column for column in columns if column not in SCORES]
        table = {
            name: np.array(
                [getattr(epoch, name) for epoch in self.history],
                dtype=int if name in COUNTS else float,
            )
            for name in columns
        }
        return pd.DataFrame(table).set_index("epoch")

    def keep(self, kept: NDArray[np.intp]) -> bool:
        """Leave only the kept dimensions in the model, the guide and Adam's memory.

        Whether any could be dropped.
        """
        old, optimizer = self.guide, self.optimizer
        if (
            not isinstance(old, SiteGuide)
            or optimizer is None
            or not self.model.structure.separable
            or not 0 < len(kept) < self.model.dimensions
        ):
            return False
        new = old.select(kept)
        columns = torch.as_tensor(kept, device=next(old.parameters()).device)
        settings = {key: optimizer.defaults[key] for key in ("lr", "betas", "fused")}
        follower = torch.optim.Adam(new.parameters(), **settings)
        for name, dim in old.column_dims().items():
            memory = optimizer.state[old.get_parameter(name)]
            follower.state[new.get_parameter(name)] = {
                key: value if dim is None or not value.dim() else value.index_select(dim, columns)
                for key, value in memory.items()
            }
        self.guide, self.optimizer = new, follower
        self.model = self.model.with_dimensions(len(kept))
        return True

    # ------------------------------------------------------------------ saved and taken up again

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that a run that is set up anew does not have by itself."""
        record = {
            "dimensions": self.model.dimensions,
            "looked_at": self.looked_at,
            "weighed": self.weighed,
            "over": self.over,
            "converged": self.converged,
        }
        arrays = {f"tensor/{i}": _array(tensor) for i, tensor in enumerate(self._tensors())}
        for i, parameter in enumerate(self._parameters()):
            memory = self.optimizer.state[parameter] if self.optimizer is not None else {}
            arrays |= {f"adam {i}/{key}": _array(value) for key, value in memory.items()}
        for name in Epoch.__dataclass_fields__:
            column = [getattr(epoch, name) for epoch in self.history]
            if None not in column:
                arrays[f"history/{name}"] = np.array(column, dtype=float)
        arrays |= {f"random/{kind}": _array(state) for kind, state in self._random().items()}
        return record, arrays

    def take_up(self, record: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Go on where :meth:`state` was taken, in a run that is set up and has not begun."""
        self.keep(np.arange(int(record["dimensions"])))
        saved = group(arrays, "tensor")
        tensors = self._tensors()
        if [saved[str(i)].shape for i in range(len(saved))] != [tuple(t.shape) for t in tensors]:
            raise ValueError("its parameters are not those of this guide")
        for i, tensor in enumerate(tensors):
            tensor.data.copy_(torch.from_numpy(saved[str(i)]))
        if self.optimizer is not None:
            for i, parameter in enumerate(self._parameters()):
                self.optimizer.state[parameter] = {
                    key: torch.from_numpy(value).to(parameter.device)
                    for key, value in group(arrays, f"adam {i}").items()
                }
        rows: list[dict[str, Any]] = pd.DataFrame(group(arrays, "history")).to_dict("records")
        counts = [{name: int(row[name]) for name in COUNTS} for row in rows]
        self.history = [Epoch(**row | count) for row, count in zip(rows, counts, strict=True)]
        self.looked_at, self.weighed = int(record["looked_at"]), int(record.get("weighed", 0))
        self.over, self.converged = bool(record["over"]), bool(record["converged"])
        random = group(arrays, "random")
        torch.set_rng_state(torch.from_numpy(random["cpu"]))
        if "cuda" in random:
            torch.cuda.set_rng_state(torch.from_numpy(random["cuda"]), self._device())

    def _parameters(self) -> list[Tensor]:
        return [] if self.optimizer is None else self.optimizer.param_groups[0]["params"]

    def _tensors(self) -> list[Tensor]:
        buffers = self.guide.buffers() if isinstance(self.guide, torch.nn.Module) else ()
        return [*self._parameters(), *buffers]

    def _device(self) -> torch.device:
        return self._parameters()[0].device

    def _random(self) -> dict[str, Tensor]:
        states = {"cpu": torch.get_rng_state()}
        if self._device().type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(self._device())
        return states


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()
