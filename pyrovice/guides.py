"""Variational distributions (paper, "Variational Inference").

:class:`MeanField` is the paper's: one Normal per entry of X. :class:`MAP` is a
point. Whatever callable takes the Pyro model and returns a guide serves as well.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
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

from pyrovice.errors import GuideError, PriorError
from pyrovice.model import Model

Guide = Callable[..., Any]


@dataclass(frozen=True)
class MeanField:
    """Independent Normals, LogNormals where the prior has positive support.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> guide = pv.guides.MeanField()(pv.Model(pv.SpikeSlab(), 80, 7, example.triplets))
    >>> guide()["X"].shape
    torch.Size([80, 7])
    """

    def __call__(self, model: Model) -> MeanFieldGuide:
        return MeanFieldGuide(model)


@dataclass(frozen=True)
class MAP:
    """A point: the most probable value, with no uncertainty.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> guide = pv.guides.MAP()(pv.Model(pv.SpikeSlab(), 80, 7, example.triplets))
    >>> bool((guide()["X"] == guide()["X"]).all())
    True
    """

    def __call__(self, model: Model) -> PointGuide:
        return PointGuide(model)


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

    @property
    def is_positive(self) -> bool:
        """Whether the support is the positive half-line, zero included or not."""
        bounds = vars(self.support)
        return bounds.get("lower_bound") == 0 and "upper_bound" not in bounds


class SiteGuide(PyroModule):
    """A guide with parameters of its own for each latent site.

    They are called ``<holder>.<site>``, for each of `holders`, and live on the
    unconstrained line. Subclasses say what distribution they stand for.
    """

    holders: tuple[str, ...]

    def __init__(self, model: Model) -> None:
        super().__init__()
        for holder in self.holders:
            setattr(self, holder, PyroModule())
        self.sites: list[Site] = []
        for name, node in latent_sites(model).items():
            site = Site(
                name,
                node["fn"].support,
                node["fn"].event_dim,
                tuple((f.name, f.size, f.dim) for f in node["cond_indep_stack"]),
            )
            self.sites.append(site)
            start = biject_to(site.support).inv(node["value"].detach())
            for holder in self.holders:
                value = torch.full_like(start, -2.0) if holder == "log_scale" else start.clone()
                setattr(getattr(self, holder), name, Parameter(value))

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Draw every latent site; the model's arguments are not needed."""
        drawn = {}
        frames = {frame for site in self.sites for frame in site.plates}
        plates = {name: pyro.plate(name, size, dim=dim) for name, size, dim in sorted(frames)}
        for site in self.sites:
            with ExitStack() as stack:
                for name, _, _ in site.plates:
                    stack.enter_context(plates[name])
                drawn[site.name] = pyro.sample(site.name, self.marginal(site))
        return drawn

    def marginal(self, site: Site) -> dist.TorchDistribution:
        """The guide's distribution of one site."""
        raise TypeError(f"{type(self).__name__} does not say what it stands for.")

    def site(self, name: str) -> Site:
        """What is known of the site of that name."""
        return next(site for site in self.sites if site.name == name)

    @torch.no_grad()
    def start_at(self, loc: Tensor, scale: Tensor) -> None:
        """Set the distribution of ``"X"`` to these means and scales."""
        if self.site("X").support is not constraints.real:
            # A positive X has its scale in proportion; near zero it would start at -inf.
            loc = biject_to(self.site("X").support).inv(loc.clamp(min=0.05))
        for holder in self.holders:
            start = scale.log() if holder == "log_scale" else loc
            getattr(self, holder).X.copy_(start)

    def column_dims(self) -> dict[str, int | None]:
        """For each parameter, the dim that runs over embedding dimensions, if one does."""
        return {
            f"{holder}.{site.name}": site.column_dim()
            for holder in self.holders
            for site in self.sites
        }

    def select(self, columns: ArrayLike) -> Self:
        """A guide of the given embedding dimensions only, in the given order."""
        chosen = torch.as_tensor(columns, dtype=torch.long, device=next(self.parameters()).device)
        new = type(self).__new__(type(self))
        PyroModule.__init__(new)
        for holder in self.holders:
            setattr(new, holder, PyroModule())
        new.sites = []
        for name, dim in self.column_dims().items():
            value = self.get_parameter(name).detach()
            value = value.clone() if dim is None else value.index_select(dim, chosen)
            holder, site_name = name.split(".")
            setattr(getattr(new, holder), site_name, Parameter(value))
        for site in self.sites:
            plates = tuple(
                (name, len(chosen) if name == "dimension" else size, at)
                for name, size, at in site.plates
            )
            new.sites.append(Site(site.name, site.support, site.event_dim, plates))
        return new


class MeanFieldGuide(SiteGuide):
    """The Pyro guide that :class:`MeanField` makes for one model."""

    holders = ("loc", "log_scale")

    def marginal(self, site: Site) -> dist.TorchDistribution:
        loc, log_scale = getattr(self.loc, site.name), getattr(self.log_scale, site.name)
        return site.distribution(loc, log_scale.exp())


class PointGuide(SiteGuide):
    """The Pyro guide that :class:`MAP` makes for one model."""

    holders = ("point",)

    def marginal(self, site: Site) -> dist.TorchDistribution:
        value = biject_to(site.support)(getattr(self.point, site.name))
        return dist.Delta(value, event_dim=site.event_dim)


class FunctionGuide:
    """A guide written as a function, with the ``pyro.param`` values that belong to it.

    They are kept apart from Pyro's global store, where those of several fits would meet.
    """

    def __init__(self, function: Guide) -> None:
        self.function = function
        self.parameters = pyro.get_param_store().__class__().get_state()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with pyro.get_param_store().scope(self.parameters) as self.parameters:
            return self.function(*args, **kwargs)


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


def resolve_guide(guide: Callable[[Model], Guide], model: Model) -> Guide:
    """The guide for `model` that the user asked for."""
    latent_sites(model)
    if guide is MeanField or guide is MAP:
        guide = MeanField() if guide is MeanField else MAP()
    if not callable(guide):
        raise GuideError(
            f"guide={guide!r} is no guide; expected MeanField() or a callable that takes the "
            "Pyro model and returns a guide, such as pyro.infer.autoguide.AutoNormal."
        )
    made = guide(model)
    if not callable(made):
        raise GuideError(
            f"guide={guide!r} returned a {type(made).__name__} for the model; expected a Pyro "
            "guide, i.e. a callable that samples the site 'X'."
        )
    return made if isinstance(made, torch.nn.Module) else FunctionGuide(made)
