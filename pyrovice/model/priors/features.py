"""A prior whose mean is a regression on what is known of the objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.data.feature_tables import feature_tables, rows_of
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PriorError
from pyrovice.model.priors.feature_blocks import FeatureBlock, reduced
from pyrovice.storage.identity import content_digest
from pyrovice.storage.registry import saved

# Prior scales in units of weights: how far the features of a block move them, the offset of a
# dimension, and what features leave unexplained (median and spread of its logarithm). All three
# were chosen on judgments of THINGS other than those of the benchmarks.
REACH = 0.1
OFFSET = 0.5
RESIDUAL, RESIDUAL_SPREAD = 0.22, 0.5
# The reach that training starts from where the features explain nothing.
SMALLEST = 0.01
# With fewer judgments for each component, long steps lose every dimension before it is found.
FEW_JUDGMENTS, RATE_WITH_FEW = 24, 0.03


@saved
@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """Weights around a regression on features of the objects.

    x_ij ~ N(b_j + Σ_B r_Bj f_iB · w_Bj, s_j²),  w ~ N(0, 1),
    r_Bj ~ HalfCauchy(0.1),  b_j ~ N(0, 0.5²),  log s_j ~ N(log 0.22, 0.5²)

    f_iB are the leading principal components of block B of the standardised features, scaled so
    that together they have a variance of one. The reach r of a block in a dimension is learned:
    features that say nothing about a dimension switch themselves off in it. Those that do say
    something tell about objects that were judged seldom or never, so that fewer judgments are
    needed. Below zero the rectifier makes zeros, as under every prior on real numbers.

    Parameters
    ----------
    table : DataFrame, array, path, or dict of these
        Objects x features. A DataFrame is indexed by the names of the objects, in any order, and
        may have more objects than were judged. An array has a row for each object, in the order
        of the judgments' names. Paths are read by :func:`pyrovice.read_features`. The keys of a
        dict name blocks that each have a reach of their own: ``{"image": ..., "word": ...}``.
    components : int
        How many principal components of each block to use at most.
    names : sequence of str, optional
        The objects, for an array.

    Notes
    -----
    The sites are ``"W"`` (component x dimension), ``"reach"`` (block x dimension), ``"offset"``
    and ``"residual"`` (dimension). `fit.explained()` says how much of each dimension the features
    predict, `fit.top_features()` which ones, and `fit.embed(table)` what the embedding of further
    objects is.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> few, rest = example.triplets.split(0.05, 0.95, seed=0)
    >>> features = example.embedding + 0.3  # in earnest: ratings, activations, word vectors
    >>> fit = pv.fit(few, prior=pv.Features(features), dimensions=12)
    >>> plain = pv.fit(few, dimensions=12)
    >>> fit.evaluate(rest).accuracy > plain.evaluate(rest).accuracy + 0.05
    True
    >>> unknown = features.iloc[:2].set_axis(["new one", "another"])
    >>> fit.embed(unknown).shape == (2, fit.n_dimensions)
    True
    """

    # Kept as blocks; whoever shows the parameters of a prior leaves out what is not shown here.
    table: Any = field(repr=False)
    components: int = 100
    names: tuple[str, ...] | None = field(default=None, repr=False)

    no_mode: ClassVar[str] = "its density grows without end as the residual of a dimension shrinks"

    def __post_init__(self) -> None:
        most = whole(self.components, "components", least=1)
        object.__setattr__(self, "components", most)
        blocks, names = self.table, self.names
        if not _are_blocks(blocks):
            tables = feature_tables(blocks)
            if names is not None and tables[0].objects is not None:
                raise PriorError("The table has the names of its objects; leave names= out.")
            names = names or tables[0].objects
            blocks = tuple(reduced(table, most) for table in tables)
        object.__setattr__(self, "table", blocks)
        object.__setattr__(self, "names", None if names is None else tuple(map(str, names)))
        sizes = {len(block.scores) for block in blocks}
        if len(sizes) != 1 or (self.names is not None and sizes != {len(self.names)}):
            raise PriorError(
                f"The features have {' and '.join(f'{n:,}' for n in sorted(sizes))} rows and there "
                f"are {len(self.names or ()):,} names; expected a row per object."
            )

    # ------------------------------------------------------------------ the prior

    def __call__(self, n_objects: int, dimensions: int) -> Tensor:
        """Sample ``"W"``, ``"reach"``, ``"offset"``, ``"residual"`` and, given them, ``"X"``."""
        if n_objects != self.n_objects:
            raise PriorError(
                f"The features are of {self.n_objects:,} objects and the embedding of "
                f"{n_objects:,}; give one row for each, or an index of names to choose rows by."
            )
        of_dimensions = pyro.plate("dimension", dimensions, dim=-1)
        with of_dimensions:
            residual = pyro.sample("residual", dist.LogNormal(math.log(RESIDUAL), RESIDUAL_SPREAD))
            offset = pyro.sample("offset", dist.Normal(0.0, OFFSET))
            with pyro.plate("block", len(self.blocks), dim=-2):
                reach = pyro.sample("reach", dist.HalfCauchy(REACH))
            with pyro.plate("component", self.n_components, dim=-2):
                W = pyro.sample("W", dist.Normal(0.0, 1.0))
        scores, block_of = self._tensors(W.device)
        mean = scores @ (W * reach[..., block_of, :]) + offset
        with pyro.plate("object", n_objects, dim=-2), of_dimensions:
            return pyro.sample("X", dist.Normal(mean, residual))

    def sites_for(self, X: Tensor) -> dict[str, Tensor]:
        """Values of all other sites that go with this X: a ridge regression on the features."""
        scores, block_of = self._tensors(X.device)
        offset = X.mean(0)
        # As much shrinkage as residuals of the size of what the features explain ask for.
        gram = scores.mT @ scores + torch.eye(scores.shape[1], device=X.device)
        slopes = torch.linalg.solve(gram, scores.mT @ (X - offset))
        residual = (X - offset - scores @ slopes).std(0)
        parts = [slopes[block_of == i] for i in range(len(self.blocks))]
        reach = torch.stack([part.square().mean(0).sqrt() for part in parts])
        reach = reach.clamp(min=SMALLEST)
        return {
            "residual": residual.clamp(RESIDUAL / 4, 4 * RESIDUAL),
            "offset": offset,
            "reach": reach,
            "W": slopes / reach[block_of],
        }

    # ------------------------------------------------------------------ the features

    @property
    def blocks(self) -> tuple[FeatureBlock, ...]:
        """The blocks, as the prior uses them."""
        return self.table

    @property
    def n_objects(self) -> int:
        """How many objects there are features of."""
        return len(self.blocks[0].scores)

    @property
    def n_components(self) -> int:
        """How many components all blocks have together."""
        return sum(block.n_components for block in self.blocks)

    @cached_property
    def scores(self) -> NDArray[np.float32]:
        """The components of all blocks side by side, (objects, components)."""
        return np.concatenate([block.scores for block in self.blocks], axis=1)

    @cached_property
    def block_of(self) -> NDArray[np.intp]:
        """The number of the block that each component belongs to."""
        return np.repeat(np.arange(len(self.blocks)), [block.n_components for block in self.blocks])

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """What the plates of this prior run over, by name."""
        components = [
            f"{block.name} {i + 1}" for block in self.blocks for i in range(block.n_components)
        ]
        return {"block": [block.name for block in self.blocks], "component": components}

    def scores_of(self, table: Any) -> tuple[tuple[str, ...] | None, NDArray[np.float32]]:
        """Names of further objects, if the table has them, and their components."""
        tables = feature_tables(table)
        ours, theirs = [block.name for block in self.blocks], [t.name for t in tables]
        if len(tables) == 1 == len(self.blocks):
            theirs = ours
        if sorted(ours) != sorted(theirs):
            raise DataError(
                f"The fit has the blocks of features {', '.join(map(repr, ours))} and these are "
                f"{', '.join(map(repr, theirs))}; expected the same, in a dict."
            )
        by_name = dict(zip(theirs, tables, strict=True))
        parts = [block.scores_of(by_name[block.name]) for block in self.blocks]
        return tables[0].objects, np.concatenate(parts, axis=1)

    def for_objects(self, names: Sequence[str]) -> Features:
        """The same prior for these objects, in this order."""
        names = tuple(names)
        if self.names == names:
            return self
        if self.names is None:
            if self.n_objects != len(names):
                raise DataError(
                    f"The features have {self.n_objects:,} rows without names, and the judgments "
                    f"are of {len(names):,} objects; give a row per object in the order of "
                    "data.names, or a DataFrame indexed by their names."
                )
            return self
        rows = rows_of(names, self.names, "Features")
        return replace(self, table=tuple(block.rows(rows) for block in self.blocks), names=names)

    def with_objects(self, names: Sequence[str], scores: NDArray[np.float32]) -> Features:
        """The same prior for further objects too, given their components and all names."""
        last = np.cumsum([block.n_components for block in self.blocks])[:-1]
        blocks = tuple(
            replace(block, scores=np.concatenate([block.scores, new]))
            for block, new in zip(self.blocks, np.split(scores, last, axis=1), strict=True)
        )
        return replace(self, table=blocks, names=tuple(names))

    def _tensors(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Scores and blocks of components where they are needed, copied there once."""
        held = self.__dict__.setdefault("_held", {})
        if device not in held:
            held[device] = (
                torch.tensor(self.scores, device=device),
                torch.tensor(self.block_of, device=device),
            )
        return held[device]

    # ------------------------------------------------------------------ a value

    @cached_property
    def _digest(self) -> str:
        return content_digest(
            [(block.name, block.columns, block.scores, block.rotation) for block in self.blocks],
            repr((self.components, self.names)),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __getstate__(self) -> dict[str, Any]:
        # Tensors are made anew where they are needed.
        return {name: value for name, value in self.__dict__.items() if name != "_held"}

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{block.name}: {block.n_components} of {len(block.columns)}" for block in self.blocks
        )
        return f"Features({parts}; {self.n_objects:,} objects, {self._digest})"


def learned_rows(prior: object) -> int | None:
    """How many numbers per dimension are learned where it is not one per object."""
    return prior.n_components if isinstance(prior, Features) else None


def steady_rate(prior: object, judgments: int) -> float:
    """The largest learning rate at which features are not lost in the noise of few judgments."""
    if isinstance(prior, Features) and judgments < FEW_JUDGMENTS * prior.n_components:
        return RATE_WITH_FEW
    return math.inf


def _are_blocks(table: Any) -> bool:
    return (
        isinstance(table, tuple)
        and bool(table)
        and all(isinstance(block, FeatureBlock) for block in table)
    )
