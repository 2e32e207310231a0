"""What the page says about single objects and dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrovice.data.triplets import Triplets
from pyrovice.plot.similarity_map import DRAWS, THIRDS
from pyrovice.results.fit import Fit
from pyrovice.results.similarity import similarity_of
from pyrovice.results.site_tables import INTERVAL

TOP_OBJECTS = 8
DIMENSIONS_OF_OBJECT = 12
NEIGHBOURS = 10
DECIMALS = 3


def objects(fit: Fit, data: Triplets | None) -> dict[str, Any]:
    """Tables of dimensions and objects, and what the view of one object shows.

    Returns
    -------
    dict
        `dimensions`: number, importance and top objects with intervals. `rows`: a row of the
        table per object. `script`: what the view of one object shows, its dimensions and its
        nearest neighbours. `longest`: the weight that a full bar stands for. `judged`: whether
        judgments are counted. `counted`: whether importance is a number of objects.
        `uncertain`: whether weights have intervals.
    """
    weights = fit.embedding()
    low, high = (fit.quantile(q).to_numpy() for q in INTERVAL)
    loc, sd = weights.to_numpy(), fit.embedding("sd").to_numpy()
    dims = [int(dim) for dim in weights]
    longest = float(high.max()) if high.size else 1.0
    importance = fit.importance()
    counted = importance.dtype.kind in "iu"
    seen = None if data is None else np.bincount(data.objects.ravel(), minlength=len(loc))

    def bar(row: int, column: int) -> dict[str, float]:
        return {
            "weight": _rounded(loc[row, column]),
            "low": _rounded(low[row, column]),
            "high": _rounded(high[row, column]),
        }

    dimensions: list[dict[str, Any]] = []
    for column, dim in enumerate(dims):
        top = np.argsort(-loc[:, column], kind="stable")[:TOP_OBJECTS].tolist()
        dimensions.append(
            {
                "number": dim,
                "importance": (f"{importance[dim]:,}" if counted else f"{importance[dim]:.2f}"),
                "top": [{"id": row, "name": str(fit.names[row])} | bar(row, column) for row in top],
            }
        )
    rows, views = [], []
    neighbours = _neighbours(fit)
    for row, name in enumerate(fit.names):
        order = np.lexsort([-high[row], -loc[row]])[:DIMENSIONS_OF_OBJECT].tolist()
        rows.append(
            {
                "name": str(name),
                "strongest": dims[order[0]] if order and loc[row, order[0]] > 0 else None,
                "weight": _rounded(loc[row, order[0]]) if order else 0.0,
                "credible": int((low[row] > 0).sum()),
                "sd": _rounded(sd[row].mean()) if order else 0.0,
                "judgments": None if seen is None else int(seen[row]),
            }
        )
        views.append(
            {
                "dimensions": [{"number": dims[c]} | bar(row, c) for c in order],
                "neighbours": neighbours[row],
            }
        )
    return {
        "dimensions": dimensions,
        "rows": rows,
        "script": {
            "names": [str(name) for name in fit.names],
            "tops": {d["number"]: [each["name"] for each in d["top"][:3]] for d in dimensions},
            "longest": _rounded(longest) or 1.0,
            "views": views,
        },
        "longest": longest or 1.0,
        "judged": seen is not None,
        "counted": counted,
        "uncertain": not fit.posterior.is_point,
    }


def _neighbours(fit: Fit) -> list[list[list[float]]]:
    """For each object its nearest ones: id, probability that the pair is kept, its sd."""
    mean, sd = similarity_of(
        fit.model.kept_probability, fit.posterior, DRAWS, seed=0, thirds=THIRDS
    )
    nearest = np.argsort(-np.nan_to_num(mean, nan=-1.0), axis=1, kind="stable")
    count = min(NEIGHBOURS, len(mean) - 1)
    return [
        [[int(j), _rounded(mean[i, j]), _rounded(sd[i, j])] for j in nearest[i, :count]]
        for i in range(len(mean))
    ]


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS)
