"""Names for dimensions: given by hand or from a file, and suggested from what a fit knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.html_tables import Bar, html_table
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, PyroviceError, tell
from pyrovice.model.priors import Features
from pyrovice.results.dimension_numbers import numbered
from pyrovice.results.matching import SAME_DIMENSION, correlations, partners
from pyrovice.results.short_names import short_names

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

LONGEST = 60
# Dimensions and their top objects in the table that a notebook shows.
MOST_SHOWN, OBJECTS_SHOWN = 50, 6
# Letters of an object in a list of several.
LONGEST_IN_LIST = 24
# A suggestion has at most so many top objects.
SUGGESTED_OBJECTS = 3
# A feature names a dimension if they go together at least this closely.
NAMED_BY_FEATURE = 0.5

Names = Mapping[Any, str | None]


class NamedDimensions:
    """What the dimensions of a fit are about: their top objects, and the names they were given."""

    dimension_names: tuple[str, ...]

    def label(self: Fit, names: Names | pd.Series | Fit | str | Path) -> Fit:  # type: ignore[misc]
        """A fit whose dimensions have names: in tables, figures, files, the page and ArviZ.

        Parameters
        ----------
        names : mapping, Fit or path
            By number, or by the name that a dimension has now; ``None`` takes a name away.
            Dimensions that are not mentioned stay as they are. Or another fit of these objects,
            whose names go to the dimensions that are the same (correlated above 0.8); or the
            file of names that the page saved.

        Examples
        --------
        >>> import pyrovice as pv
        >>> fit = pv.fit(pv.load_example().triplets, dimensions=12)
        >>> named = fit.label({1: "animal", 2: "food"})
        >>> list(named.embedding())
        ['animal', 'food', 3, 4, 5, 6, 7]
        >>> named.label({"food": "edible", "animal": None}).importance().index[1]
        'edible'
        """
        return with_names(self, names)

    def suggest_labels(self: Fit, features: pd.DataFrame | None = None) -> pd.Series:  # type: ignore[misc]
        """What each kept dimension might be called.

        Its top feature, if the prior has features; or else its top objects, none of which stands
        for two dimensions.

        Parameters
        ----------
        features : DataFrame, optional
            Objects x features: a dimension is called by the one that it goes with most closely,
            if the correlation is at least 0.5.

        Examples
        --------
        >>> import pyrovice as pv
        >>> example = pv.load_example()
        >>> fit = pv.fit(example.triplets, dimensions=12)
        >>> fit.suggest_labels(example.embedding).tolist()[:2]
        ['animal', 'food']
        >>> fit.label(fit.suggest_labels(example.embedding)).n_dimensions
        7
        """
        return suggested(self, features)

    def top_objects(self: Fit, k: int = 6) -> pd.DataFrame:  # type: ignore[misc]
        """The `k` objects with the largest weights, a column per kept dimension."""
        embedding = self.embedding()
        ranks = pd.RangeIndex(1, min(k, len(embedding)) + 1, name="rank")
        return pd.DataFrame(
            {dim: embedding[dim].nlargest(len(ranks)).index.to_numpy() for dim in embedding},
            index=ranks,
            columns=embedding.columns,
        )

    def _dimensions(self: Fit) -> pd.Index:  # type: ignore[misc]
        numbers = numbered(self.posterior.shape[1])
        if not self.dimension_names:
            return numbers
        called = [n or number for n, number in zip(self.dimension_names, numbers, strict=True)]
        return pd.Index(called, dtype=object, name="dimension")

    def _names_of(self, columns: NDArray[np.intp]) -> tuple[str, ...]:
        """What some of the dimensions are called, for a fit that has these."""
        names = tuple(self.dimension_names[c] for c in columns.tolist() if self.dimension_names)
        return names if any(names) else ()

    def _repr_html_(self: Fit) -> str:  # type: ignore[misc]
        importance, top = self.importance(), listed_objects(self, OBJECTS_SHOWN)
        counted = importance.dtype.kind in "iu"
        most = max(importance.max(), np.finfo(float).tiny) if len(importance) else 1.0
        rows = [
            [
                dim,
                Bar(
                    importance[dim] / most,
                    f"{importance[dim]:,}" if counted else f"{importance[dim]:.2f}",
                ),
                listed,
            ]
            for dim, listed in top.items()
        ][:MOST_SHOWN]
        more = len(top) - len(rows)
        said = "objects with a credible weight" if counted else "largest weight"
        notes = [f"... and {more:,} more dimensions"] if more else []
        return html_table(repr(self), ["dimension", said, "top objects"], rows, notes)


def listed_objects(fit: Fit, k: int) -> dict[Any, str]:
    """The top objects of each kept dimension in one line, long names shortened."""
    short = short_names(map(str, fit.names), LONGEST_IN_LIST)
    return {
        dim: ", ".join(short[str(name)] for name in top) for dim, top in fit.top_objects(k).items()
    }


def identity(fit: Fit) -> dict[str, Any]:
    """What a file of names says of the fit that they were given to."""
    return {"judgments": fit.data_digest[:16], "seed": fit.seed}


def with_names(fit: Fit, names: Names | pd.Series | Fit | str | Path) -> Fit:
    """See `Fit.label`."""
    of_a_fit = isinstance(names, NamedDimensions)
    if isinstance(names, str | Path):
        names = _read(fit, Path(names))
    elif isinstance(names, pd.Series):
        names = names.to_dict()
    elif isinstance(names, NamedDimensions):
        names = _names_in_common(fit, names)  # type: ignore[arg-type]
    if not isinstance(names, Mapping):
        raise TypeError(
            f"label({type(names).__name__}); expected a dict such as {{1: 'animal'}}, or the path "
            "of a file of names that the page saved."
        )
    count = fit.posterior.shape[1]
    found = list(fit.dimension_names or ("",) * count)
    places = [(_place_of(key, fit), name) for key, name in names.items()]
    kept = set(fit.kept_positions().tolist())
    unseen = [place + 1 for place, name in places if name and place not in kept]
    if unseen and not of_a_fit:
        tell(
            f"label: {'dimensions' if unseen[1:] else 'dimension'} {first_few(unseen)} "
            f"{'are' if unseen[1:] else 'is'} not among those that are kept, so that the name is "
            f"shown only with pruned=False. Kept are {first_few(sorted(p + 1 for p in kept))}."
        )
    for place, name in places:
        found[place] = _checked(name)
    twice = sorted({name for name in found if name and found.count(name) > 1})
    if twice:
        raise PyroviceError(
            f"Two dimensions would be called {first_few(map(repr, twice))}; every name can be "
            "given once."
        )
    return replace(fit, dimension_names=tuple(found) if any(found) else ())


def _names_in_common(fit: Fit, other: Fit) -> Names:
    """The names of another fit's dimensions for those of this one that are the same."""
    if fit.names != other.names:
        raise DataError("label(fit): that fit is of other objects, so that no dimension is shared.")
    r = correlations(other.posterior.loc(), fit.posterior.loc())
    return {
        int(column) + 1: name
        for name, row, column in zip(other.dimension_names, r, partners(r), strict=False)
        if name and column >= 0 and row[column] > SAME_DIMENSION
    }


def suggested(fit: Fit, features: pd.DataFrame | None = None) -> pd.Series:
    """See `Fit.suggest_labels`."""
    weights = fit.embedding()
    own = own_objects(fit, SUGGESTED_OBJECTS)
    found = [", ".join(own[dim]) for dim in weights]
    if max(map(len, found), default=0) > LONGEST:
        short = short_names(map(str, fit.names), LONGEST // SUGGESTED_OBJECTS - len(", "))
        # As words of a name, they need not say that something was left out.
        found = [", ".join(short[name].strip("…") for name in own[dim]) for dim in weights]
    if features is not None:
        closest = _closest_features(weights, features)
        found = [feature or objects for feature, objects in zip(closest, found, strict=True)]
    elif isinstance(fit.prior, Features):
        found = list(map(str, fit.top_features(1).iloc[0]))
    return pd.Series(found, index=weights.columns, name="suggestion", dtype=object)


def _closest_features(weights: pd.DataFrame, features: pd.DataFrame) -> list[str]:
    """The feature that goes with each dimension, or nothing if none does."""
    table = pd.DataFrame(features).rename(index=str)
    objects = [str(name) for name in weights.index]
    missing = [name for name in objects if name not in table.index]
    if missing:
        raise DataError(
            f"The table has no row for {len(missing):,} of the objects ({first_few(missing)}); "
            "expected a row per object, by name."
        )
    numeric = table.loc[objects].select_dtypes("number")
    if numeric.empty:
        return [""] * weights.shape[1]
    together = correlations(numeric.to_numpy(float), weights.to_numpy(float))
    best = together.argmax(axis=0)
    return [
        str(numeric.columns[feature]) if together[feature, place] >= NAMED_BY_FEATURE else ""
        for place, feature in enumerate(best)
    ]


def own_objects(fit: Fit, k: int) -> dict[Any, list[str]]:
    """By kept dimension up to `k` top objects, none of which stands for two dimensions.

    An object among the first of several dimensions stays with the one in which it comes closest
    to the largest weight; a dimension that would be left with none keeps its first.
    """
    weights = fit.embedding()
    values = weights.to_numpy()
    if not values.size:
        return {}
    names = [str(name) for name in fit.names]
    share = values / np.maximum(values.max(axis=0), np.finfo(float).tiny)
    order = np.argsort(-values, axis=0, kind="stable")
    first = order[:k]
    owner: dict[int, int] = {}
    for column in range(values.shape[1]):
        for row in first[:, column].tolist():
            if row not in owner or share[row, column] > share[row, owner[row]]:
                owner[row] = column
    found = {}
    for column, dim in enumerate(weights):
        positive = [row for row in order[: 2 * k, column].tolist() if values[row, column] > 0]
        own = [row for row in positive if owner.get(row, column) == column]
        found[dim] = [names[row] for row in (own or order[:1, column].tolist())[:k]]
    return found


def _place_of(key: Any, fit: Fit) -> int:
    """The position of a dimension that is called by its number or by its name."""
    names = fit.dimension_names
    if isinstance(key, str) and key in names:
        return names.index(key)
    count = fit.posterior.shape[1]
    number = int(key) if isinstance(key, str) and key.strip().isdecimal() else key
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not 1 <= number <= count:
        known = f"the numbers 1 to {count}" if count > 1 else "the number 1"
        named = [repr(name) for name in names if name]
        raise PyroviceError(
            f"label: there is no dimension {key!r}; expected {known}"
            + (f", or one of the names {first_few(named)}" if named else "")
            + "."
        )
    return int(number) - 1


def _checked(name: Any) -> str:
    if name is None:
        return ""
    if not isinstance(name, str):
        raise TypeError(f"label: the name {name!r} is a {type(name).__name__}; expected text.")
    text = " ".join(name.split())
    if text.isdecimal():
        raise PyroviceError(
            f"label: the name {name!r} is a number, which is what dimensions without a name are "
            "called; expected words."
        )
    if text == "object" or text[:1] in tuple("=+-@"):
        raise PyroviceError(
            f"label: the name {name!r} would be misread in the files of an embedding, where a "
            "column is called 'object' and spreadsheets run what begins with =, +, - or @."
        )
    if len(text) > LONGEST:
        raise PyroviceError(
            f"label: the name {text[:20]!r}... has {len(text)} letters; expected at most {LONGEST}."
        )
    return text


def _read(fit: Fit, path: Path) -> Names:
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected names that the page saved.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not a file of names: {error}.") from error
    if not isinstance(found, dict):
        raise DataError(f'{path} is not a file of names; expected {{"1": "animal", ...}}.')
    named = found.get("names")
    if not isinstance(named, dict):
        return found
    if found.get("fit", identity(fit)) != identity(fit):
        raise DataError(
            f"The names in {path} were given to another fit (of other judgments, or with another "
            "seed), whose dimensions are others. To take them anyway: "
            'fit.label(json.load(open(path))["names"]).'
        )
    return named
