"""Which dimensions of a fit are kept, and a fit that has some of them only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.errors import PyroviceError
from pyrovice.guides import SiteGuide
from pyrovice.results import pruning
from pyrovice.results.dimension_names import NamedDimensions
from pyrovice.storage.registry import GivenAsCode

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

# A consensus keeps what at least this share of its fits have.
COMMON = 0.5


class KeptDimensions(NamedDimensions):
    """The dimensions of a fit: which are kept, and how to leave others out."""

    found_by: tuple[float, ...]

    def _select(self: Fit, columns: NDArray[np.intp]) -> Fit:  # type: ignore[misc]
        if not self._separable():
            # Model and guide keep all dimensions, which only make sense together and in order.
            columns = np.sort(columns)
            now = self.columns or range(self.model.dimensions)
            return replace(
                self,
                posterior=self.posterior.select(columns),
                columns=tuple(now[column] for column in columns.tolist()),
                dimension_names=self._names_of(columns),
                found_by=self._found_by(columns),
            )
        posterior = self.posterior.select(columns)
        guide = self.fitted_guide
        if isinstance(guide, SiteGuide):
            guide = guide.select(columns)
        elif len(columns) < self.posterior.shape[1]:
            guide = None
        return replace(
            self,
            posterior=posterior,
            model=self.model.with_dimensions(len(columns)),
            fitted_guide=guide,
            dimension_names=self._names_of(columns),
            found_by=self._found_by(columns),
        )

    def _separable(self: Fit) -> bool:  # type: ignore[misc]
        """Whether dimensions can be left out of the model; True if its code is not at hand."""
        if self.found_by:
            # The fits that agree had orders of their own.
            return True
        if self.missing_code() is not None or not self.model.dimensions:
            return True
        return self.model.structure.separable

    def missing_code(self: Fit) -> GivenAsCode | None:  # type: ignore[misc]
        """The prior or choice that was given as code and is not there after loading."""
        parts = (self.prior, self.choice)
        return next((part for part in parts if isinstance(part, GivenAsCode)), None)

    def kept_positions(self: Fit) -> NDArray[np.intp]:  # type: ignore[misc]
        """Where the kept dimensions are in `draws` and other arrays, counted from 0."""
        if self.found_by and not self.pruned:
            return np.flatnonzero(np.array(self.found_by) >= COMMON)
        kept = slice(None) if self.pruned else pruning.kept(self.posterior)
        return np.arange(self.posterior.shape[1])[kept]

    def reproducibility(self: Fit) -> pd.Series:  # type: ignore[misc]
        """Of a consensus: the share of its fits that have each of the kept dimensions."""
        if not self.found_by:
            raise PyroviceError(
                "One fit cannot say how reproducible it is; pv.consensus(fits) of several can, and "
                "pv.reproducibility(fits) compares them."
            )
        shares = pd.Series(self.found_by, index=self._dimensions(), name="found_by")
        return shares.iloc[self.kept_positions()]

    def _found_by(self: Fit, columns: NDArray[np.intp]) -> tuple[float, ...]:  # type: ignore[misc]
        return tuple(self.found_by[c] for c in columns.tolist() if self.found_by)
