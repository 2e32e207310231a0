"""What the latent sites of a model are, and guides with parameters for each of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Self

import pyro
import pyro.distributions as dist
import torch
from numpy.typing import ArrayLike
from pyro import poutine
from pyro.nn import PyroModule
from pyro.poutine.util import prune_subsample_sites
from torch import Tensor
from torch.distributions import biject_to, constraints
from torch.nn import Parameter

from pyrovice.errors import PriorError
from pyrovice.model.model import Model

Guide = Callable[..., Any]

# Standard deviation, on the unconstrained line, of what training gives no other start.
FIRST_SCALE = 0.135


@dataclass(frozen=True)
class Site:
    """What the guide has to know of one latent site of the model."""

    name: str
    support: constraints.Constraint
    event_dim: int
    plates: tuple[tuple[str, int, int], ...]

    def column_dim(self) -> int | None:
        """The dim of this site's values that runs over embedding dimensions."""
        dims = [dim - self.event_dim for name, _, dim in self.plates if name == "dimension"]
        return dims[0] if dims else None

    def distribution(self, loc: Tensor, scale: Tensor) -> dist.TorchDistribution:
        """Normal on the real line, carried to the support of the site."""
        if self.support is constraints.real:
            return dist.Normal(loc, scale)
        if self.is_positive:
            return dist.LogNormal(loc, scale)
        base = dist.Normal(loc, scale).to_event(self.event_dim)
        return dist.TransformedDistribution(base, [biject_to(self.support)])

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
    def is_positive(self) -> bool:
        """Whether the support is the positive half-line, zero included or not."""
        bounds = vars(self.support)
        return bounds.get("lower_bound") == 0 and "upper_bound" not in bounds


class SiteGuide(PyroModule):
    """A guide with parameters of its own for each latent site.

    They are called ``<holder>.<site>``, for instance ``loc.X``, and live on the
    unconstrained line. Subclasses say what they are and what distribution they
    stand for.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.sites: list[Site] = []
        for name, node in latent_sites(model).items():
            site = Site(
                name,
                node["fn"].support,
                node["fn"].event_dim,
                tuple((f.name, f.size, f.dim) for f in node["cond_indep_stack"]),
            )
            self.sites.append(site)
            start = biject_to(site.support).inv(_typical(node))
            for holder, value in self.around(start, torch.full_like(start, FIRST_SCALE)).items():
                self.put(f"{holder}.{name}", value)

    def around(self, loc: Tensor, scale: Tensor) -> dict[str, Tensor]:
        """The parameters, by holder, of a distribution around `loc` on the unconstrained line."""
        raise TypeError(f"{type(self).__name__} does not say what parameters it has.")

    def marginal(self, site: Site) -> dist.TorchDistribution:
        """The guide's distribution of one site."""
        raise TypeError(f"{type(self).__name__} does not say what it stands for.")

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Draw every latent site; the model's arguments are not needed."""
        frames = {frame for site in self.sites for frame in site.plates}
        plates = {name: pyro.plate(name, size, dim=dim) for name, size, dim in sorted(frames)}
        return {site.name: self.draw(site, plates) for site in self.sites}

    def draw(self, site: Site, plates: dict[str, pyro.plate]) -> Tensor:
        """Draw one site in those of the plates that are its own."""
        with ExitStack() as stack:
            for name, _, _ in site.plates:
                stack.enter_context(plates[name])
            return pyro.sample(site.name, self.marginal(site))

    def site(self, name: str) -> Site:
        """What is known of the site of that name."""
        return next(site for site in self.sites if site.name == name)

    @torch.no_grad()
    def start_at(self, loc: Tensor, scale: Tensor) -> None:
        """Set the distribution of ``"X"`` to these means and scales."""
        site = self.site("X")
        start = biject_to(site.support).inv(site.inside(loc))
        for holder, value in self.around(start, scale).items():
            getattr(self, holder).X.copy_(value)

    def put(self, name: str, value: Tensor) -> None:
        """Have a parameter ``<holder>.<site>`` of this value."""
        holder, site = name.split(".")
        if not hasattr(self, holder):
            setattr(self, holder, PyroModule())
        setattr(getattr(self, holder), site, Parameter(value.detach().clone()))

    def column_dims(self) -> dict[str, int | None]:
        """For each parameter, the dim that runs over embedding dimensions, if one does."""
        return {
            name: self.site(name.split(".")[1]).column_dim() for name, _ in self.named_parameters()
        }

    def select(self, columns: ArrayLike) -> Self:
        """A guide of the given embedding dimensions only, in the given order."""
        chosen = torch.as_tensor(columns, dtype=torch.long, device=next(self.parameters()).device)
        new = type(self).__new__(type(self))
        PyroModule.__init__(new)
        new.sites = [site.of_dimensions(len(chosen)) for site in self.sites]
        for name, dim in self.column_dims().items():
            value = self.get_parameter(name)
            new.put(name, value if dim is None else value.index_select(dim, chosen))
        return new


def typical_weights(model: Model) -> Tensor:
    """A draw of X from the prior with everything above it at its median."""
    sites = latent_sites(model)
    above = {name: _typical(node) for name, node in sites.items() if name != "X"}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        return poutine.condition(model.prior, above)(model.n_objects, model.dimensions)


def _typical(node: dict[str, Any]) -> Tensor:
    """A value to start from: a draw of X, and the prior median of anything above it."""
    if node["name"] == "X":
        return node["value"].detach()
    # One draw of a heavy-tailed scale may be anywhere.
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return node["fn"].sample((101,)).median(0).values


def latent_sites(model: Model) -> dict[str, dict[str, Any]]:
    """The latent sites of a model, checked for what every guide relies on."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        trace = poutine.trace(model.prior).get_trace(model.n_objects, model.dimensions)
    sites = dict(prune_subsample_sites(trace).iter_stochastic_nodes())
    if "X" not in sites:
        raise PriorError(
            f"The prior {model.prior} samples no site 'X'; it samples "
            f"{', '.join(map(repr, sites)) or 'nothing'}. Name the embedding pyro.sample('X', ...)."
        )
    shape = tuple(sites["X"]["value"].shape)
    if shape != (model.n_objects, model.dimensions):
        raise PriorError(
            f"The prior's site 'X' has shape {shape}, expected "
            f"({model.n_objects}, {model.dimensions}): open pyro.plate('object', n_objects, "
            "dim=-2) and pyro.plate('dimension', dimensions, dim=-1) around it."
        )
    plates = {frame.name: frame.dim for frame in sites["X"]["cond_indep_stack"]}
    if plates != {"object": -2, "dimension": -1}:
        raise PriorError(
            f"The prior's site 'X' is in the plates {plates or 'none'}; expected "
            "pyro.plate('object', n_objects, dim=-2) and pyro.plate('dimension', dimensions, "
            "dim=-1), by these names."
        )
    if trace.nodes["_RETURN"]["value"] is not sites["X"]["value"]:
        raise PriorError(
            "The prior must return what it sampled as 'X', unchanged; transform inside the "
            "distribution instead, and end with return X."
        )
    for name, node in sites.items():
        if node["fn"].support.is_discrete:
            raise PriorError(
                f"The prior's site {name!r} is discrete, which no guide here can follow; sum it "
                "out, as SpikeSlab does with the choice between spike and slab."
            )
    return sites
