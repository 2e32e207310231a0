"""A block of features as the prior uses it: standardised, as principal components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.feature_tables import FeatureTable
from pyrovice.data.wording import some_of
from pyrovice.errors import DataError, tell
from pyrovice.storage.registry import saved

Array = NDArray[np.floating[Any]]

# Columns that vary by less than this share of their size are constant but for rounding.
CONSTANT = 1e-6
# Components with less than this share of the largest singular value are rounding.
IDLE = 1e-5


@saved
@dataclass(frozen=True, eq=False, repr=False)
class FeatureBlock:
    """Principal components of one block of features, with the way back to its columns.

    Attributes
    ----------
    name : str
        What the block is called.
    columns : tuple of str
        What its features are called.
    centre : array of shape (columns,)
        Mean of every column.
    spread : array of shape (columns,)
        Standard deviation of every column, 1 for constant ones.
    rotation : array of shape (columns, components)
        From standardised columns to components. Each component has its own share of the
        variance, and all of them together have a variance of one.
    loadings : array of shape (columns, components)
        Correlation of every column with every component.
    scores : array of shape (objects, components)
        The components of every object.
    explained : float
        Share of the variance of the columns that the components have.
    """

    name: str
    columns: tuple[str, ...]
    centre: Array
    spread: Array
    rotation: Array
    loadings: Array
    scores: Array
    explained: float

    def __post_init__(self) -> None:
        for name in ("centre", "spread", "rotation", "loadings", "scores"):
            value = np.asarray(getattr(self, name), dtype=np.float32)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        p, k = self.rotation.shape
        if (
            len(self.columns) != p
            or self.centre.shape != (p,)
            or self.spread.shape != (p,)
            or self.loadings.shape != (p, k)
            or self.scores.shape[1:] != (k,)
        ):
            raise DataError(f"The parts of the features {self.name!r} do not fit together.")

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return self.rotation.shape[1]

    def rows(self, chosen: NDArray[np.intp]) -> FeatureBlock:
        """The same block of some of its objects, in the given order."""
        return replace(self, scores=self.scores[chosen])

    def scores_of(self, table: FeatureTable) -> Array:
        """The components of other objects, from features of the same columns."""
        values = table.values
        if values.shape[1] != len(self.columns):
            raise DataError(
                f"Features {self.name!r} have {values.shape[1]:,} columns here and had "
                f"{len(self.columns):,} in the fit; expected the same."
            )
        if table.named_columns:
            missing = [column for column in self.columns if column not in set(table.columns)]
            if missing:
                raise DataError(
                    f"Features {self.name!r} lack {some_of(missing, 'column')} that the fit had."
                )
            place = {column: i for i, column in enumerate(table.columns)}
            values = values[:, [place[column] for column in self.columns]]
        return ((values - self.centre) / self.spread @ self.rotation).astype(np.float32)


def reduced(table: FeatureTable, components: int) -> FeatureBlock:
    """The leading principal components of a table whose columns are standardised."""
    values = table.values
    centre = values.mean(axis=0)
    spread = values.std(axis=0)
    constant = spread <= CONSTANT * np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
    if constant.all():
        raise DataError(
            f"Features {table.name!r}: all {len(constant):,} columns are constant, so that they "
            "say nothing about the objects."
        )
    if constant.any():
        named = [table.columns[i] for i in np.flatnonzero(constant)]
        tell(
            f"Features {table.name!r}: left out {some_of(named, 'column')} of {len(constant):,}, "
            "with the same value for every object."
        )
    spread = np.where(constant, 1.0, spread)
    standard = np.where(constant, 0.0, (values - centre) / spread)
    left, size, right = np.linalg.svd(standard, full_matrices=False)
    k = min(components, int((size > IDLE * size[0]).sum()))
    together = np.sqrt((size[:k] ** 2).sum() / len(values))
    return FeatureBlock(
        name=table.name,
        columns=table.columns,
        centre=centre,
        spread=spread,
        rotation=right[:k].T / together,
        loadings=right[:k].T * (size[:k] / np.sqrt(len(values))),
        scores=left[:, :k] * (size[:k] / together),
        explained=float((size[:k] ** 2).sum() / (size**2).sum()),
    )
