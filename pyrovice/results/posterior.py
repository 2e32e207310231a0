"""The posterior: draws of every latent site by name, with closed forms for X where there are any.

A posterior outlives the guide that it came from: it is what a saved fit holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.errors import tell
from pyrovice.guides import Guide
from pyrovice.guides.drawing import draw_apart, draw_sites
from pyrovice.model.model import Model
from pyrovice.results.population import redraw_people
from pyrovice.results.prior_sites import redraw_prior_sites
from pyrovice.results.weights import (
    Array,
    DrawnWeights,
    PointWeights,
    Weights,
    array_of,
    chosen_draws,
    closed_form,
)

# As many draws as are kept of a posterior without a closed form.
MANY_DRAWS = 500
# Fewer of a large embedding, so that they fit into 130 MB, but always enough for a quantile.
MOST_DRAWN = 2**25
ENOUGH_DRAWS = 100
# Draws of sites that are small beside X.
DRAWS_OF_OTHERS = 1000
# Draws of X that the prior's sites are drawn for, bounded by the entries held at once.
DRAWS_OF_X, MOST_ENTRIES_OF_X = 100, 2**19
# Draws of the prior's sites for each of these, where an embedding is large and they are few: more
# take time and tell little, because so many weights leave little doubt.
MOST_FOR_EACH = 50


@dataclass(frozen=True, eq=False)
class SiteDraws:
    """Draws of one latent site other than X.

    Attributes
    ----------
    values : array of shape (chains, draws, ...)
        Independent draws are one chain.
    axes : tuple of str
        What each further axis runs over: a plate, or ``<site>_dim_<i>``.
    """

    values: NDArray[Any]
    axes: tuple[str, ...] = ()

    @property
    def pooled(self) -> NDArray[Any]:
        """The draws of all chains, (n, ...)."""
        chains, draws = self.values.shape[:2]
        return self.values.reshape(chains * draws, *self.values.shape[2:])

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> SiteDraws:
        """That of some embedding dimensions, if the site has to do with them."""
        if "dimension" not in self.axes:
            return self
        axis = 2 + self.axes.index("dimension")
        return replace(self, values=np.take(self.values, np.asarray(columns, int), axis=axis))


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of every latent site.

    Attributes
    ----------
    weights : Weights
        The posterior of X.
    others : mapping of str to SiteDraws
        Draws of the other sites. Where X is known by draws too, they belong together.
    from_chains : bool
        Whether the draws come from Markov chains, which can disagree, rather than a guide.
    sample_stats : mapping of str to array of shape (chains, draws)
        What the sampler says of each draw, under ArviZ's names; none without chains.
    """

    weights: Weights
    others: Mapping[str, SiteDraws] = field(default_factory=dict)
    from_chains: bool = False
    sample_stats: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and dimensions."""
        return self.weights.shape

    @property
    def can_be_zero(self) -> bool:
        """Whether a weight can be zero at all, with some probability between 0 and 1."""
        return self.weights.can_be_zero

    @property
    def is_point(self) -> bool:
        """Whether there is one value per weight, without uncertainty."""
        return self.weights.is_point

    @property
    def chains(self) -> Array | None:
        """The draws of X by chain, (chains, draws, m, d); None if they are not from chains."""
        return self.weights.arrays()["stored"] if self.from_chains else None

    @property
    def is_joint(self) -> bool:
        """Whether X is known by draws, each of which has its draw of every other site."""
        return isinstance(self.weights, DrawnWeights)

    def loc(self) -> Array:
        """Rectified posterior median of X."""
        return self.weights.loc()

    def mean(self) -> Array:
        """E[relu X]."""
        return self.weights.mean()

    def sd(self) -> Array:
        """Standard deviation of relu X."""
        return self.weights.sd()

    def quantile(self, q: float) -> Array:
        """Quantile of relu X."""
        return self.weights.quantile(q)

    def zero_probability(self) -> NDArray[np.float64]:
        """P(X <= 0)."""
        return self.weights.zero_probability()

    def marginals(self) -> tuple[Array, Array]:
        """Centre of every entry of X, and its scale on the line on which guides live."""
        return self.weights.marginals()

    def draws(self, n: int, seed: int) -> Array:
        """Rectified draws of X, shape (n, m, d)."""
        return self.weights.draws(n, seed)

    def sites(self, n: int, seed: int) -> dict[str, NDArray[Any]]:
        """Draws of every site, (n, ...); X is rectified and the same as by :meth:`draws`."""
        drawn: dict[str, NDArray[Any]] = {"X": self.draws(n, seed)}
        for name, site in self.others.items():
            have = len(site.pooled)
            # Draws that belong to those of X are chosen with them.
            drawn[name] = site.pooled[chosen_draws(have, n, seed)]
        return drawn

    def each(self, n: int, seed: int) -> Iterator[dict[str, Tensor]]:
        """The same one draw after the other, as tensors."""
        drawn = self.sites(n, seed)
        for i in range(n):
            yield {name: torch.as_tensor(values[i]) for name, values in drawn.items()}

    def select(self, columns: Sequence[int] | NDArray[np.intp]) -> Posterior:
        """The posterior of some dimensions."""
        others = {name: site.select(columns) for name, site in self.others.items()}
        return replace(self, weights=self.weights.select(columns), others=others)

    def arrays(self) -> dict[str, Array]:
        """What to save of X, by name."""
        return self.weights.arrays()


def quick_posterior(guide: Guide, model: Model, draws: int = MANY_DRAWS) -> Posterior:
    """The posterior of X and of what the choice needs, as far as a guide knows them."""
    weights = closed_form(guide)
    structure = model.structure
    if weights is not None:
        if not structure.of_choice:
            return Posterior(weights)
        drawn = draw_apart(guide, structure.of_choice, draws)
    else:
        entries = draw_sites(guide, model, 1)["X"].numel()
        drawn = draw_sites(guide, model, min(draws, max(ENOUGH_DRAWS, MOST_DRAWN // entries)))
        X = array_of(drawn["X"])
        # Autoguides can be points too.
        weights = PointWeights(X[0]) if (X[0] == X).all() else DrawnWeights(X[None])
    return Posterior(weights, _others(drawn, model, structure.of_choice))


def posterior_of(
    guide: Guide, model: Model, drawn: Mapping[str, Tensor] | None = None
) -> Posterior:
    """What a guide knows of every site, and what follows from it about the prior's own.

    `drawn` are better joint draws of all sites than the guide's, if there are any.
    """
    if drawn:
        others = {*model.structure.latent} - {"X"}
        return Posterior(DrawnWeights(array_of(drawn["X"])[None]), _others(drawn, model, others))
    known = _with_prior_sites(quick_posterior(guide, model), guide, model)
    people = redraw_people(guide, model, MANY_DRAWS)
    return replace(known, others={**known.others, **_others(people, model, {*people})})


def _with_prior_sites(quick: Posterior, guide: Guide, model: Model) -> Posterior:
    above = model.structure.above
    if not above:
        return quick
    entries = model.n_objects * model.dimensions
    most = MANY_DRAWS if quick.is_joint else DRAWS_OF_OTHERS
    drawn = draw_sites(guide, model, min(most, max(ENOUGH_DRAWS, MOST_DRAWN // entries)))
    others = _others(drawn, model, {*above, *model.structure.of_choice})
    if quick.is_point:
        return replace(quick, others=others)
    if quick.is_joint:
        redrawn = _redrawn(model, drawn)
    else:
        few = max(2, min(DRAWS_OF_X, MOST_ENTRIES_OF_X // entries))
        first = {name: values[:few] for name, values in drawn.items()}
        redrawn = _redrawn(model, first, each=min(DRAWS_OF_OTHERS // few, MOST_FOR_EACH))
    return replace(quick, others=others | _others(redrawn, model, {*above}))


def _redrawn(model: Model, drawn: Mapping[str, Tensor], each: int = 1) -> Mapping[str, Tensor]:
    """New draws of the prior's own sites; none if its code fails, so that no fit is lost."""
    try:
        return redraw_prior_sites(model, drawn, each=each)
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        tell(
            f"The prior's own sites could not be drawn given X ({reason}). fit.site(...) has the "
            "guide's draws of them, which are too sure."
        )
        return {}


def _others(
    drawn: Mapping[str, Tensor], model: Model, names: frozenset[str] | set[str]
) -> dict[str, SiteDraws]:
    sites = model.structure.sites
    return {
        name: SiteDraws(array_of(values)[None], sites[name].axes(tuple(values.shape[1:])))
        for name, values in model.relative(drawn).items()
        if name in names
    }
