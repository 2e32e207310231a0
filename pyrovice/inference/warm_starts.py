"""Start from what an earlier fit knows: of fewer judgments or objects, or by a plainer guide."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError, PyroviceError
from pyrovice.inference.starts import Start
from pyrovice.model.judgments import Judgments
from pyrovice.results.evidence import IDLE_LOC, IDLE_SCALE
from pyrovice.results.fit import Fit
from pyrovice.results.matching import nearest_order


def check_init(init: object, data: Triplets) -> Fit:
    """The dimensions that an earlier fit kept, if it can be started from."""
    if not isinstance(init, Fit):
        raise TypeError(f"init is a {type(init).__name__}; expected a Fit, for example init=fit.")
    if not set(init.names) & set(data.names):
        raise DataError(
            "init and data have no object in common: objects are matched by their names, and "
            f"init has {', '.join(map(repr, init.names[:3]))}, ... where data have "
            f"{', '.join(map(repr, data.names[:3]))}, ..."
        )
    kept = init.prune()
    if not kept.n_dimensions:
        raise PyroviceError("init kept no dimension, so there is nothing to start from.")
    return kept


def first_dimensions_with(init: Fit, dimensions: int | str, usual: int) -> int:
    """The number of dimensions to start from: as usual, but room for all of `init`."""
    if dimensions != "auto" and usual < init.n_dimensions:
        raise PyroviceError(
            f"dimensions={dimensions}, but init kept {init.n_dimensions}; use at least as many, or "
            "dimensions='auto'."
        )
    return max(usual, init.n_dimensions)


def warm(init: Fit, names: tuple[str, ...], usual: Start) -> Start:
    """A start in which the objects and dimensions of `init` are where it left them.

    New objects, and all objects in further dimensions, are where they usually start:
    the dimensions of the usual start are brought into the order of those of `init`.
    """
    row_of = {name: row for row, name in enumerate(init.names)}
    here = [i for i, name in enumerate(names) if name in row_of]
    there = [row_of[names[i]] for i in here]
    known_loc, known_scale = init.posterior.marginals()

    def start(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
        loc, scale = usual(judgments, dimensions)
        reference = np.maximum(known_loc[there], 0)
        first = nearest_order(loc[here].clamp(min=0).cpu().numpy(), reference)
        order = [*first, *np.setdiff1d(np.arange(dimensions), first)]
        loc, scale = loc[:, order].clone(), scale[:, order].clone()
        rows, columns = torch.tensor(here)[:, None], torch.arange(len(first))
        loc[rows, columns] = torch.from_numpy(known_loc[there]).to(loc)
        scale[rows, columns] = torch.from_numpy(known_scale[there]).to(scale)
        return loc, scale

    return start


def onward(fit: Fit) -> Start:
    """A start where a fit of the same judgments ended, with the dimensions it dropped idle."""
    known = [torch.from_numpy(array) for array in fit.posterior.marginals()]

    def start(judgments: Judgments, dimensions: int) -> tuple[Tensor, Tensor]:
        like = torch.empty(judgments.n_objects, dimensions, device=judgments.odd.device)
        loc, scale = like.fill_(IDLE_LOC), torch.full_like(like, IDLE_SCALE)
        for whole, part in zip((loc, scale), known, strict=True):
            whole[:, : part.shape[1]] = part.to(whole)
        return loc, scale

    return start
