"""What the page says about single objects and dimensions."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.plot.images import Images
from pyrovice.plot.similarity_map import DRAWS, THIRDS
from pyrovice.plot.style import COLOURS
from pyrovice.report.explorer import explorer
from pyrovice.report.object_map import places
from pyrovice.results.dimension_names import identity, own_objects
from pyrovice.results.fit import Fit
from pyrovice.results.short_names import short_names
from pyrovice.results.similarity import similarity_of
from pyrovice.results.site_tables import INTERVAL

TOP_OBJECTS = 8
DIMENSIONS_OF_OBJECT = 12
NEIGHBOURS = 10
DECIMALS = 3
# Letters of a name in a list and on the map.
LONGEST_IN_LIST, LONGEST_ON_MAP = 17, 18
# Pixels along the longer side of a picture, smaller if there are many.
LARGE_PICTURE, SMALL_PICTURE, MANY_PICTURES = 96, 56, 500
# Turns of the colour wheel from one further dimension to the next: never the same hue again.
GOLDEN_ANGLE = 0.381966


def objects(fit: Fit, data: Triplets | None, images: Images | None = None) -> dict[str, Any]:
    """Tables of dimensions and objects, and what the page's scripts know.

    Returns
    -------
    dict
        `dimensions`: number, name, importance and top objects with intervals. `rows`: a row of
        the table per object. `script`: what the map, the explorer and the view of one object
        show. `names_of_dimensions`: those given, in order. `pictured`: which objects have a
        picture. `longest`: the weight that a full bar stands for. `judged`: whether judgments are
        counted. `counted`: whether importance is a number of objects. `uncertain`: whether
        weights have intervals.
    """
    weights = _Weights(fit)
    pixels = LARGE_PICTURE if weights.m <= MANY_PICTURES else SMALL_PICTURE
    found = (None if images is None else images.thumbnail(name, pixels) for name in weights.names)
    pictures = {i: picture for i, picture in enumerate(found) if picture is not None}
    dimensions = _dimensions(fit, weights)
    seen = None if data is None else np.bincount(data.objects.ravel(), minlength=len(fit.names))
    neighbours = _neighbours(fit)
    return {
        "dimensions": dimensions,
        "rows": [weights.row(i, None if seen is None else int(seen[i])) for i in range(weights.m)],
        "names_of_dimensions": [each["name"] for each in dimensions],
        "script": {
            "fit": identity(fit),
            "names": weights.names,
            "dimensions": [
                {key: each[key] for key in ("number", "name", "colour")} | {"top": each["words"]}
                for each in dimensions
            ],
            "longest": _rounded(weights.longest),
            "views": [
                {"dimensions": weights.profile(i), "neighbours": neighbours[i]}
                for i in range(weights.m)
            ],
            "pictures": pictures,
            "explorer": explorer(fit),
            **_map(weights),
        },
        "pictured": set(pictures),
        "longest": weights.longest,
        "judged": seen is not None,
        "counted": fit.importance().dtype.kind in "iu",
        "uncertain": not fit.posterior.is_point,
    }


class _Weights:
    """The kept weights with their intervals, by place."""

    def __init__(self, fit: Fit) -> None:
        self.loc = fit.embedding().to_numpy()
        self.sd = fit.embedding("sd").to_numpy()
        self.low, self.high = (fit.quantile(q).to_numpy() for q in INTERVAL)
        self.longest = float(self.high.max()) or 1.0 if self.high.size else 1.0
        self.names = [str(name) for name in fit.names]
        self.m = len(self.names)
        self.numbers = [int(place) + 1 for place in fit.kept_positions()]

    def bar(self, row: int, place: int) -> dict[str, float]:
        return {
            "weight": _rounded(self.loc[row, place]),
            "low": _rounded(self.low[row, place]),
            "high": _rounded(self.high[row, place]),
        }

    def strongest(self, row: int) -> list[int]:
        """The places of its strongest dimensions."""
        order = np.lexsort([-self.high[row], -self.loc[row]])
        return [int(place) for place in order[:DIMENSIONS_OF_OBJECT]]

    def profile(self, row: int) -> list[dict[str, float]]:
        return [{"place": place} | self.bar(row, place) for place in self.strongest(row)]

    def row(self, row: int, judgments: int | None) -> dict[str, Any]:
        first = next(iter(self.strongest(row)), None)
        return {
            "name": self.names[row],
            "strongest": None
            if first is None or self.loc[row, first] <= 0
            else self.numbers[first],
            "place": first,
            "weight": 0.0 if first is None else _rounded(self.loc[row, first]),
            "credible": int((self.low[row] > 0).sum()),
            "sd": _rounded(self.sd[row].mean()) if self.sd.size else 0.0,
            "judgments": judgments,
        }


def _dimensions(fit: Fit, weights: _Weights) -> list[dict[str, Any]]:
    importance = fit.importance()
    counted = importance.dtype.kind in "iu"
    short = short_names(weights.names, LONGEST_IN_LIST)
    suggestions, words = fit.suggest_labels(), own_objects(fit, 3)
    found: list[dict[str, Any]] = []
    for place, (number, dim) in enumerate(zip(weights.numbers, fit.embedding(), strict=True)):
        value = importance[dim]
        top = np.argsort(-weights.loc[:, place], kind="stable")[:TOP_OBJECTS].tolist()
        found.append(
            {
                "number": number,
                "name": dim if isinstance(dim, str) else "",
                "suggestion": suggestions[dim],
                "words": [short[name] for name in words[dim]],
                "colour": _colour(place),
                "importance": f"{value:,}" if counted else f"{value:.2f}",
                "top": [
                    {
                        "id": row,
                        "name": weights.names[row],
                        "short": short[weights.names[row]],
                    }
                    | weights.bar(row, place)
                    for row in top
                ],
            }
        )
    return found


def _map(weights: _Weights) -> dict[str, Any]:
    """Where objects stand, and how strong they are in what, in hundredths."""
    loc = weights.loc
    largest = np.maximum(loc.max(axis=0, initial=0.0), np.finfo(float).tiny)
    shares = np.round(100 * loc / largest).astype(int)
    strength = loc.max(axis=1, initial=0.0)
    short = short_names(weights.names, LONGEST_ON_MAP)
    return {
        "map": np.round(places(loc), DECIMALS + 1).astype(float).tolist(),
        "short": [short[name] for name in weights.names],
        "shares": shares.T.tolist(),
        "strongest": [int(row.argmax()) if row.any() else None for row in loc],
        "strength": [_rounded(value) for value in strength],
        "order": np.argsort(-strength, kind="stable").tolist(),
    }


def _colour(place: int) -> str:
    """A colour for each dimension: those of figures first, then ever further hues."""
    if place < len(COLOURS):
        return COLOURS[place]
    further = place - len(COLOURS)
    light = (0.42, 0.58, 0.32)[further % 3]
    red, green, blue = colorsys.hls_to_rgb(further * GOLDEN_ANGLE % 1, light, 0.6)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _neighbours(fit: Fit) -> list[list[list[float]]]:
    """For each object its nearest ones: id, probability that the pair is kept, its sd."""
    mean, sd = similarity_of(
        fit.model.kept_probability, fit.posterior, DRAWS, seed=0, thirds=THIRDS
    )
    nearest: NDArray[np.intp] = np.argsort(-np.nan_to_num(mean, nan=-1.0), axis=1, kind="stable")
    count = min(NEIGHBOURS, len(mean) - 1)
    return [
        [[int(j), _rounded(mean[i, j]), _rounded(sd[i, j])] for j in nearest[i, :count]]
        for i in range(len(mean))
    ]


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS)
