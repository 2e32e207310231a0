"""Draws of latent sites as labelled arrays and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pyrovice.errors import PyroviceError
from pyrovice.results.posterior import Posterior, SiteDraws

if TYPE_CHECKING:
    import xarray as xr

INTERVAL = (0.05, 0.95)

Labels = Mapping[str, Sequence[Any]]
"""What the entries of an axis are called."""


def hyperparameter_table(
    others: Mapping[str, SiteDraws], dimensions: Iterable[Any]
) -> pd.DataFrame:
    """Mean, spread and 90 % interval of what all objects share, one value or one per dimension."""
    rows = []
    for name, site in others.items():
        if not set(site.axes) <= {"dimension", "place"}:
            continue
        draws = site.pooled
        each: dict[Any, Any] = {"all": draws}
        if site.axes == ("place",):
            each = {f"place {i}": values for i, values in enumerate(draws.T, start=1)}
        elif site.axes:
            each = dict(zip(dimensions, draws.T, strict=True))
        for dimension, values in each.items():
            low, high = np.quantile(values, INTERVAL)
            rows.append((name, dimension, values.mean(), values.std(), low, high))
    columns = ["hyperparameter", "dimension", "mean", "sd", "5 %", "95 %"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:2]).astype(float)


def site_array(
    posterior: Posterior, labels: Labels, name: str, draws: int, seed: int
) -> xr.DataArray:
    """Draws of one site with named coordinates."""
    known = {"X": None, **posterior.others}
    if name not in known:
        raise PyroviceError(
            f"site({name!r}): this fit has no such site; it has {', '.join(map(repr, known))}."
        )
    if name == "X":
        chains = posterior.chains
        X = posterior.draws(draws, seed)[None] if chains is None else np.maximum(chains, 0)
        return labelled(X, ("object", "dimension"), labels, "X")
    site = posterior.others[name]
    return labelled(site.values, site.axes, labels, name)


def labelled(values: np.ndarray, axes: tuple[str, ...], labels: Labels, name: str) -> xr.DataArray:
    """An array of (chains, draws, ...) with a coordinate for every axis."""
    coords: dict[str, Any] = {
        axis: np.arange(size)
        for axis, size in zip(("chain", "draw", *axes), values.shape, strict=True)
    }
    for axis in set(axes) & set(labels):
        same_kind = len({type(label) for label in labels[axis]}) == 1
        # A column of mixed labels has no type of its own in a file.
        coords[axis] = list(labels[axis]) if same_kind else [str(each) for each in labels[axis]]
    import xarray as xr

    return xr.DataArray(values, dims=("chain", "draw", *axes), coords=coords, name=name)
