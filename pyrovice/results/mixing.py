"""Whether chains agree: R-hat and effective sample sizes, by ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.results.arviz_versions import import_arviz

if TYPE_CHECKING:
    import xarray as xr

# Chains that agree have an R-hat below this.
MIXED = 1.05
# Weights looked at to say how many are mixed; all of a large embedding would take minutes.
MOST_LOOKED_AT = 2000


def mixing(chains: NDArray[np.floating]) -> pd.DataFrame:
    """R-hat and effective sample sizes of every weight.

    Parameters
    ----------
    chains : array of shape (chains, draws, m, d)
        Draws of X, dimensions aligned. What is negative counts as zero, as it does
        in the likelihood.

    Returns
    -------
    DataFrame
        Columns `r_hat`, `ess_bulk` and `ess_tail`, a row per object and dimension.
        Weights that are zero in all draws have none.
    """
    az = import_arviz()
    weights = az.convert_to_dataset({"X": np.maximum(chains, 0)})
    # A weight that is zero in one chain and not in another has no variance to divide by.
    with np.errstate(invalid="ignore", divide="ignore"):
        table = {
            "r_hat": az.rhat(weights).X,
            "ess_bulk": az.ess(weights, method="bulk").X,
            "ess_tail": az.ess(weights, method="tail").X,
        }
    rows = pd.MultiIndex.from_product(map(range, chains.shape[2:]), names=["object", "dimension"])
    frame = pd.DataFrame({name: values.to_numpy().ravel() for name, values in table.items()}, rows)
    never = (chains <= 0).all(axis=(0, 1)).ravel()
    frame[never] = np.nan
    return frame


def mixing_of_site(draws: xr.DataArray) -> pd.DataFrame:
    """R-hat and effective sample sizes of any other site, a row per entry."""
    az = import_arviz()
    import xarray as xr

    found = xr.Dataset(
        {
            "r_hat": az.rhat(draws.to_dataset(name="x")).x,
            "ess_bulk": az.ess(draws.to_dataset(name="x"), method="bulk").x,
            "ess_tail": az.ess(draws.to_dataset(name="x"), method="tail").x,
        }
    )
    if not found.sizes:
        return pd.DataFrame({name: [float(value)] for name, value in found.items()}, [draws.name])
    return found.to_dataframe()[["r_hat", "ess_bulk", "ess_tail"]]


def share_mixed(chains: NDArray[np.floating]) -> float:
    """The share of weights that chains agree on, of some weights if there are many.

    Parameters
    ----------
    chains : array of shape (chains, draws, m, d)
        As for :func:`mixing`.
    """
    weights = np.maximum(chains, 0).reshape(*chains.shape[:2], -1)
    weights = weights[..., weights.any(axis=(0, 1))]
    n = weights.shape[-1]
    if n == 0:
        return 1.0
    looked_at = np.random.default_rng(0).permutation(n)[:MOST_LOOKED_AT]
    az = import_arviz()
    with np.errstate(invalid="ignore", divide="ignore"):
        found = az.rhat(az.convert_to_dataset({"X": weights[..., looked_at]})).X
    return float((found.to_numpy() < MIXED).mean())
