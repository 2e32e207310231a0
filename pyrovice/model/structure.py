"""What a model is made of: its latent sites, and what dropping a dimension means for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.poutine.util import prune_subsample_sites
from torch import Tensor
from torch.distributions import biject_to, constraints

from pyrovice.errors import PriorError
from pyrovice.model.distributions import LogitNormal
from pyrovice.model.judgments import UNKNOWN_PERSON, Judgments
from pyrovice.model.pyro_lock import pyro_locked

if TYPE_CHECKING:
    from pyrovice.model.model import Model

Node = dict[str, Any]

# Sites of the model itself.
RESERVED = {"odd", "X_rectified", "triplet"}
# Relative difference of log-densities that rounding does not explain.
SAME_DENSITY = 1e-4
# Draws whose median is a site's typical value.
TYPICAL_DRAWS = 101
# Fewer of a site with very many entries, so that they fit into 130 MB.
MOST_TYPICAL = 2**25


@dataclass(frozen=True)
class Site:
    """What there is to know of one latent site of a model."""

    name: str
    support: constraints.Constraint
    event_dim: int
    plates: tuple[tuple[str, int, int], ...]
    event_axes: tuple[str, ...] = ()

    @classmethod
    def of(cls, node: Node) -> Site:
        """The site of a traced node."""
        frames = tuple((f.name, f.size, f.dim) for f in node["cond_indep_stack"])
        # What the dims of an event run over, where the model says so.
        axes = tuple(node["infer"].get("event_axes", ()))
        return cls(node["name"], node["fn"].support, node["fn"].event_dim, frames, axes)

    def column_dim(self) -> int | None:
        """The dim of this site's values that runs over embedding dimensions."""
        dims = [dim - self.event_dim for name, _, dim in self.plates if name == "dimension"]
        if "dimension" in self.event_axes:
            dims.append(self.event_axes.index("dimension") - self.event_dim)
        return dims[0] if dims else None

    def axes(self, shape: tuple[int, ...]) -> tuple[str, ...]:
        """A name for every axis of this site's values: its plate, or ``<site>_dim_<i>``."""
        names = [f"{self.name}_dim_{i}" for i in range(len(shape))]
        for plate, _, dim in self.plates:
            names[dim - self.event_dim] = plate
        for i, axis in enumerate(self.event_axes):
            names[i - self.event_dim] = axis
        return tuple(names)

    def distribution(self, loc: Tensor, scale: Tensor) -> dist.TorchDistribution:
        """Normal on the real line, carried to the support of the site."""
        if self.is_real:
            return dist.Normal(loc, scale).to_event(self.event_dim)
        if self.is_positive:
            return dist.LogNormal(loc, scale).to_event(self.event_dim)
        if self.is_probability:
            return LogitNormal(loc, scale).to_event(self.event_dim)
        to_support = biject_to(self.support)
        base = dist.Normal(loc, scale).to_event(to_support.domain.event_dim)
        return dist.TransformedDistribution(base, [to_support]).to_event(
            self.event_dim - to_support.codomain.event_dim
        )

    def of_dimensions(self, dimensions: int) -> Site:
        """The same site of a model with another number of embedding dimensions."""
        plates = tuple(
            (name, dimensions if name == "dimension" else size, dim)
            for name, size, dim in self.plates
        )
        return replace(self, plates=plates)

    def inside(self, values: Tensor) -> Tensor:
        """The values, moved well inside the support where they are not."""
        bounds = vars(self.support)
        low, high = bounds.get("lower_bound"), bounds.get("upper_bound")
        # At a bound itself the unconstrained value would be infinite.
        if high is not None and low is not None:
            margin = 0.05 * (high - low)
            return values.clamp(low + margin, high - margin)
        return values if low is None else values.clamp(min=low + 0.05)

    @property
    def is_entrywise(self) -> bool:
        """Whether this site has a value of its own for every object and dimension."""
        plates = {name: dim for name, _, dim in self.plates}
        return self.event_dim == 0 and plates == {"object": -2, "dimension": -1}

    @property
    def is_real(self) -> bool:
        """Whether every entry can be any real number."""
        return _entry(self.support) is constraints.real

    @property
    def is_positive(self) -> bool:
        """Whether the support is the positive half-line, zero included or not."""
        bounds = vars(_entry(self.support))
        return bounds.get("lower_bound") == 0 and "upper_bound" not in bounds

    @property
    def is_probability(self) -> bool:
        """Whether every entry is between 0 and 1."""
        return _entry(self.support) is constraints.unit_interval


@dataclass(frozen=True, eq=False)
class Structure:
    """The latent sites of a model and how they are arranged.

    Attributes
    ----------
    model : Model
        Whose structure it is.
    latent : dict of str to node
        Traced nodes of the latent sites, in the order in which they are sampled.
    of_choice : frozenset of str
        Those that the choice samples; all others are the prior's.
    entrywise : bool
        Whether ``"X"`` is a latent site in the plates ``"object"`` and ``"dimension"``, as in
        the paper. Otherwise its posterior is known by draws only.
    """

    model: Model
    latent: dict[str, Node]
    of_choice: frozenset[str]
    entrywise: bool

    @property
    def sites(self) -> dict[str, Site]:
        """The latent sites by name."""
        return {name: Site.of(node) for name, node in self.latent.items()}

    @property
    def above(self) -> dict[str, Node]:
        """The latent sites of the prior other than X."""
        return {
            name: node
            for name, node in self.latent.items()
            if name != "X" and name not in self.of_choice
        }

    @property
    def max_plate_nesting(self) -> int:
        """How many dims of a batch plates may take; particles are left of them."""
        dims = [-dim for site in self.sites.values() for _, _, dim in site.plates]
        return max([2, *dims])

    @cached_property
    def separable(self) -> bool:
        """Whether a dimension can be dropped and leave the others as they were.

        It can if every site that has to do with dimensions is in the plate ``"dimension"``, and
        if the prior is the same in whatever order the dimensions come. In a matrix of
        correlations between dimensions, or in a sequence in which each one is shrunk more than
        the one before, none can be dropped without changing what the others mean.
        """
        if self.model.dimensions < 2:
            return True
        if not self.model.is_code:
            # Values of this package say so themselves.
            return not getattr(self.model.prior, "ordered", False)
        return (
            not self.model.parameters
            and self._shapes_follow_the_plate()
            and self._order_is_indifferent()
        )

    def _shapes_follow_the_plate(self) -> bool:
        try:
            fewer = self.model.with_dimensions(self.model.dimensions - 1).structure
        except (PriorError, RuntimeError, ValueError):
            # Written for one number of dimensions only.
            return False
        for name, site in self.sites.items():
            now = list(self.latent[name]["value"].shape)
            column = site.column_dim()
            if column is not None:
                now[column] -= 1
            if list(fewer.latent[name]["value"].shape) != now:
                return False
        return True

    @torch.no_grad()
    def _order_is_indifferent(self) -> bool:
        values = {name: node["value"] for name, node in self.latent.items()}
        flipped = {
            name: value if (dim := self.sites[name].column_dim()) is None else value.flip(dim)
            for name, value in values.items()
        }
        as_is, other = (self._log_prior(each) for each in (values, flipped))
        return bool((as_is - other).abs() <= SAME_DENSITY * as_is.abs().clamp(min=1.0))

    def _log_prior(self, values: dict[str, Tensor]) -> Tensor:
        with pyro_locked(), torch.random.fork_rng(devices=[]):
            conditioned = poutine.condition(self.model.embedding, data=values)
            return poutine.trace(conditioned).get_trace().log_prob_sum()


def _entry(support: constraints.Constraint) -> constraints.Constraint:
    """The support of every entry of an event whose entries are independent."""
    while isinstance(support, constraints.independent):
        support = support.base_constraint
    return support


def trace_prior(model: Model) -> tuple[poutine.Trace, poutine.Trace]:
    """Draw everything before the answers: what the prior samples, and what the choice does."""
    of_prior = poutine.trace(model.embedding).get_trace()
    X = _checked(of_prior, model)
    with poutine.trace() as chosen, model.parameters_in_use():
        model.answers(X.relu(), _a_question(model, X.device))
    return of_prior, chosen.trace


def structure_of(model: Model) -> Structure:
    """Trace a model, and refuse a prior that does not keep to what every guide relies on."""
    # Whoever is tracing the model meanwhile must not see this.
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]), poutine.block():
        latent, of_choice = (_latent(trace) for trace in trace_prior(model))
        model.parameters.settle()
    for name in {*latent} & {*of_choice}:
        raise PriorError(
            f"The prior and the choice both sample a site {name!r}; give one of them another name."
        )
    for name in {*latent, *of_choice} & RESERVED:
        raise PriorError(
            f"The prior or the choice samples a site {name!r}, which is the name of the answers or "
            "of what the model computes; give it another name."
        )
    for name, node in (latent | of_choice).items():
        if node["fn"].support.is_discrete:
            what = "choice" if name in of_choice else "prior"
            raise PriorError(
                f"The {what}'s site {name!r} is discrete, which no guide here can follow; sum it "
                "out, as SpikeSlab does with the choice between spike and slab."
            )
    entrywise = "X" in latent and Site.of(latent["X"]).is_entrywise
    return Structure(model, latent | of_choice, frozenset(of_choice), entrywise)


def surplus_dims(model: Model) -> int:
    """How many dims a prior's X has too many between particles and objects."""
    # Far to the left of any plate that a prior opens.
    left = 8
    try:
        with (
            pyro_locked(),
            torch.no_grad(),
            torch.random.fork_rng(devices=[]),
            poutine.block(),
            model.parameters_in_use(),
            pyro.plate("particles", 2, dim=-left),
        ):
            X = model.prior(model.n_objects, model.dimensions)
    except (RuntimeError, ValueError, IndexError):
        # Not for several particles at once, and so never asked.
        return 0
    return max(0, X.dim() - left)


def draw_prior(model: Model) -> dict[str, Tensor]:
    """One draw of every latent site, and of X, from the prior."""
    with pyro_locked(), torch.no_grad():
        of_prior, of_choice = trace_prior(model)
    drawn = {"X": of_prior.nodes["X"]} | _latent(of_prior) | _latent(of_choice)
    return {name: node["value"] for name, node in drawn.items()}


def typical_value(node: Node) -> Tensor:
    """A value to start from: a draw of X, and the prior median of anything else."""
    if node["name"] == "X":
        return node["value"].detach()
    # One draw of a heavy-tailed scale may be anywhere.
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        entries = max(1, node["value"].numel())
        drawn = node["fn"].sample((max(3, min(TYPICAL_DRAWS, MOST_TYPICAL // entries)),))
        middle = drawn.median(0).values
    # The median of matrices, entry by entry, need not be one of them.
    inside = node["fn"].support.check(middle).all()
    return middle if inside else drawn[0]


def typical_weights(model: Model) -> Tensor:
    """A draw of X from the prior with everything above it at its median."""
    above = {name: typical_value(node) for name, node in model.structure.above.items()}
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        return poutine.condition(model.embedding, data=above)()


def _latent(trace: poutine.Trace) -> dict[str, Node]:
    return dict(prune_subsample_sites(trace).iter_stochastic_nodes())


def _a_question(model: Model, device: torch.device) -> Judgments:
    """One question, to see which sites a choice samples."""
    first = torch.tensor([[model.n_objects + 2], [2], [1]], device=device)
    zero = torch.zeros(1, dtype=torch.long, device=device)
    person = None if model.known_people is None else zero + UNKNOWN_PERSON
    return Judgments(first, zero, None, None, model.n_objects, 1, person=person)


def _checked(trace: poutine.Trace, model: Model) -> Tensor:
    """The embedding that a prior returned, if it is what it must be."""
    shape = (model.n_objects, model.dimensions)
    returned = trace.nodes["_RETURN"]["value"]
    node = trace.nodes.get("X")
    if node is None or node["type"] != "sample":
        others = ", ".join(map(repr, _latent(trace))) or "nothing"
        raise PriorError(
            f"The prior {model.prior} samples no site 'X'; it samples {others}. Name the "
            "embedding pyro.sample('X', ...), or pyro.deterministic('X', ...) if it is computed."
        )
    if returned is None:
        raise PriorError(
            f"The prior {model.prior} returned nothing; end it with return X, the embedding."
        )
    value = node["value"]
    if tuple(value.shape) != shape:
        raise PriorError(
            f"The prior's site 'X' has shape {tuple(value.shape)}, expected {shape}: open "
            "pyro.plate('object', n_objects, dim=-2) and pyro.plate('dimension', dimensions, "
            "dim=-1) around it, or give what is sampled another name and end with "
            "return pyro.deterministic('X', ...)."
        )
    plates = {frame.name: frame.dim for frame in node["cond_indep_stack"]}
    sampled = node["fn"].event_dim == 0 and not node["infer"].get("_deterministic")
    if sampled and plates != {"object": -2, "dimension": -1}:
        raise PriorError(
            f"The prior's site 'X' is in the plates {plates or 'none'}; expected "
            "pyro.plate('object', n_objects, dim=-2) and pyro.plate('dimension', dimensions, "
            "dim=-1), by these names."
        )
    if returned is not value:
        raise PriorError(
            "The prior must return what it sampled as 'X', unchanged; transform inside the "
            "distribution instead, or end with return pyro.deterministic('X', transformed)."
        )
    return returned
