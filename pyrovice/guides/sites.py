"""Guides with parameters for each latent site of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

import pyro
import pyro.distributions as dist
import torch
from numpy.typing import ArrayLike
from pyro import poutine
from pyro.nn import PyroModule
from torch import Tensor
from torch.distributions import biject_to
from torch.nn import Parameter

from pyrovice.model.model import Model
from pyrovice.model.structure import Site, typical_value

Guide = Callable[..., Any]

# Standard deviation, on the unconstrained line, of what training gives no other start.
FIRST_SCALE = 0.135
# How a computed X is brought near its start, before training begins.
NEAR_STEPS, NEAR_RATE = 300, 0.05


class SiteGuide(PyroModule):
    """A guide with parameters of its own for each latent site.

    They are called ``<holder>.<site>``, for instance ``loc.X``, and live on the
    unconstrained line. Subclasses say what they are and what distribution they
    stand for.
    """

    # The holder of the parameters that say where a distribution is.
    centre = "loc"

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.sites: list[Site] = []
        for name, node in model.structure.latent.items():
            site = Site.of(node)
            self.sites.append(site)
            start = biject_to(site.support).inv(typical_value(node))
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
        """Set the distribution of the latent site ``"X"`` to these means and scales."""
        site = self.site("X")
        start = biject_to(site.support).inv(site.inside(loc))
        for holder, value in self.around(start, scale).items():
            getattr(self, holder).X.copy_(value)

    @torch.no_grad()
    def start_others(self, values: Mapping[str, Tensor]) -> None:
        """Centre the distributions of further sites on these values; their scales stay."""
        for name, value in values.items():
            centre = getattr(getattr(self, self.centre), name)
            centre.copy_(biject_to(self.site(name).support).inv(value))

    def start_near(self, loc: Tensor, model: Model) -> None:
        """Set the means of all sites so that a computed ``"X"`` comes near these values."""
        means = [p for name, p in self.named_parameters() if name.split(".")[0] == self.centre]
        optimizer = torch.optim.Adam(means, lr=NEAR_RATE)
        for _ in range(NEAR_STEPS):
            optimizer.zero_grad()
            # Compared as the choice sees it: below zero anything will do.
            X = poutine.condition(model.embedding, data=self.centres())()
            (X.relu() - loc.relu()).square().sum().backward()
            optimizer.step()

    def centres(self) -> dict[str, Tensor]:
        """The value of every site at the centre of its distribution."""
        holder = getattr(self, self.centre)
        return {
            site.name: biject_to(site.support)(getattr(holder, site.name)) for site in self.sites
        }

    @torch.no_grad()
    def median(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """The median of every latent site, as Pyro's autoguides give it."""
        return self.centres()

    @torch.no_grad()
    def quantiles(
        self, quantiles: Sequence[float] | Tensor, *args: Any, **kwargs: Any
    ) -> dict[str, Tensor]:
        """Quantiles of every latent site, the first dim running over `quantiles`."""
        found = {}
        for site in self.sites:
            loc, scale = self.line(site)
            at = torch.as_tensor(quantiles, dtype=loc.dtype, device=loc.device)
            at = at.reshape((-1,) + (1,) * loc.dim())
            found[site.name] = biject_to(site.support)(loc + scale * torch.special.ndtri(at))
        return found

    def line(self, site: Site) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of a site on the unconstrained line."""
        raise TypeError(f"{type(self).__name__} does not say how far its sites spread.")

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

    def with_rows(self, model: Model, loc: Tensor, scale: Tensor) -> Self:
        """A guide of `model`, which has further objects, with these means and scales of theirs."""
        new = type(self).__new__(type(self))
        PyroModule.__init__(new)
        new.sites = [Site.of(node) for node in model.structure.latent.values()]
        of_rows = self.around(loc, scale)
        for name, value in self.named_parameters():
            holder, site = name.split(".")
            if site == "X":
                # What new objects have nothing of, such as directions of covariance, is zero.
                rows = of_rows.get(holder, value.new_zeros(*value.shape[:-2], *loc.shape))
                value = torch.cat([value, rows.to(value)], dim=-2)
            new.put(name, value)
        return new
