"""ArviZ, whichever of its generations is installed.

ArviZ 0.x keeps groups in an ``InferenceData``, ArviZ 1.x in xarray's ``DataTree``.
Everything else of ours is plain xarray and does not know.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


def import_arviz() -> ModuleType:
    """ArviZ, without the announcement of its next version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    return arviz


def container(groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> Any:
    """The groups in the container that the installed ArviZ works with."""
    if int(version("arviz").split(".")[0]) >= 1:
        import xarray as xr

        tree = xr.DataTree.from_dict(dict(groups))
        tree.attrs.update(attributes)
        return tree
    return import_arviz().InferenceData(**groups, attrs=dict(attributes))


def leave_one_out(idata: Any) -> dict[str, Any]:
    """PSIS-LOO of a container, under one set of names."""
    az = import_arviz()
    with warnings.catch_warnings():
        # What ArviZ warns about, large Pareto k, is counted in the result.
        warnings.simplefilter("ignore")
        found = az.loo(idata, pointwise=True)
    elpd, effective = ("elpd_loo", "p_loo") if hasattr(found, "elpd_loo") else ("elpd", "p")
    pointwise = found.loo_i if hasattr(found, "loo_i") else found.elpd_i
    return {
        "elpd": float(getattr(found, elpd)),
        "se": float(found.se),
        "p": float(getattr(found, effective)),
        "pointwise": pointwise.values,
        "pareto_k": found.pareto_k.values,
    }
