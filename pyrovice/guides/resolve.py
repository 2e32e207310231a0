"""One function that turns whatever the user gave into a guide, or says why it cannot."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pyro.distributions as dist
import torch
from pyro.contrib.easyguide import EasyGuide
from pyro.infer.autoguide import (
    AutoDelta,
    AutoDiscreteParallel,
    AutoGuide,
    AutoIAFNormal,
    AutoLaplaceApproximation,
    AutoLowRankMultivariateNormal,
    AutoMessenger,
    AutoMultivariateNormal,
    AutoNormalizingFlow,
    init_to_median,
)
from torch import Tensor
from torch.distributions import constraints

from pyrovice.errors import GuideError
from pyrovice.guides.low_rank import LowRank, LowRankGuide
from pyrovice.guides.mean_field import MeanField
from pyrovice.guides.point import MAP, PointGuide
from pyrovice.guides.sites import Guide, SiteGuide
from pyrovice.model.model import Model
from pyrovice.model.parameters import OwnParameters
from pyrovice.model.structure import Site

Start = Callable[[], Tensor]
"""Gives a first value of X."""

SQUARE = (AutoMultivariateNormal, AutoLaplaceApproximation, AutoIAFNormal)
# Entries of X whose square matrix in float32 takes about a gigabyte.
MOST_ENTRIES_SQUARED = 2**14
# Slopes of smooth densities differ by less over the distance at which they are compared.
EDGE = 0.1


class FunctionGuide:
    """A guide written as a function, with the ``pyro.param`` values that belong to it."""

    def __init__(self, function: Guide) -> None:
        self.function = function
        self.parameters = OwnParameters()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self.parameters.in_use():
            return self.function(*args, **kwargs)


def guide_family(guide: Any) -> Callable[[Model], Guide]:
    """What makes a guide for a model, for whatever the user gave."""
    if isinstance(guide, AutoGuide | AutoMessenger | EasyGuide | SiteGuide):
        name = type(guide).__name__
        raise GuideError(
            f"guide={name}(...) is a guide that was built for another model; pyrovice.fit makes "
            f"the model and then the guide. Give the class, guide={name}, or a function, "
            f"guide=lambda model: {name}(model, ...)."
        )
    if guide is MeanField or guide is MAP:
        return guide()
    if not callable(guide) or guide is LowRank:
        raise GuideError(
            f"guide={guide!r} is not a guide; expected MeanField(), MAP(), LowRank(10), a class "
            "such as pyro.infer.autoguide.AutoNormal, or a callable that takes the Pyro model "
            "and returns a guide."
        )
    return guide


def resolve_guide(
    guide: Callable[[Model], Guide],
    model: Model,
    start: Start | None = None,
    *,
    must_start_there: bool = False,
) -> Guide:
    """The guide for `model` that the user asked for.

    Parameters
    ----------
    guide : callable
        From the Pyro model to a guide.
    model : Model
        The model.
    start : callable, optional
        Where autoguides given by their class start; the guides of pyrovice are
        told when training begins.
    must_start_there : bool
        Whether to refuse guides that start where they like.
    """
    structure = model.structure
    guide = guide_family(guide)
    willing = start is not None and _starts_anywhere(guide)
    if start is not None and willing:
        guide = partial(cast("Callable[..., Guide]", guide), init_loc_fn=starting(start))
    made = guide(model)
    if not callable(made):
        raise GuideError(
            f"guide={guide!r} returned a {type(made).__name__} for the model; expected a Pyro "
            "guide, i.e. a callable that samples the site 'X'."
        )
    refuse(made, model, structure.latent["X"]["fn"] if structure.entrywise else None)
    if must_start_there and not willing and not isinstance(made, SiteGuide):
        raise GuideError(
            "init= says where to start, and a guide that was given as code starts where its code "
            "says. Use guide=MeanField(), LowRank(rank), MAP(), or an autoguide by its class."
        )
    # An EasyGuide has its parameters where pyro.param puts them, as a function does.
    plain = not isinstance(made, torch.nn.Module) or isinstance(made, EasyGuide)
    return FunctionGuide(made) if plain else made


def refuse(guide: Guide, model: Model, prior_of_x: dist.TorchDistribution | None) -> None:
    """Say why a guide cannot work with a model, if it is known not to."""
    name = "MAP()" if isinstance(guide, PointGuide) else type(guide).__name__
    entries = model.n_objects * model.dimensions
    if isinstance(guide, LowRankGuide) and not model.structure.entrywise:
        raise GuideError(
            "LowRank(...) is about the entries of X, and this prior does not sample them one by "
            "one; use guide=MeanField(), or Pyro's AutoLowRankMultivariateNormal."
        )
    reason = getattr(model.prior, "no_mode", None)
    if reason and isinstance(guide, PointGuide | AutoDelta | AutoLaplaceApproximation):
        raise GuideError(
            f"{name} looks for the most probable value, and {model.prior} has none: {reason}. "
            "Use guide=MeanField(), which fits a distribution."
        )
    if isinstance(guide, AutoLaplaceApproximation) and _has_edge(prior_of_x):
        raise GuideError(
            f"{name} needs the curvature of the density at its peak, and {model.prior} has an "
            "edge at zero, where it has none. Use guide=MeanField()."
        )
    if isinstance(guide, AutoDiscreteParallel):
        raise GuideError(
            f"{name} is for discrete sites, and the embedding is continuous; use guide=MeanField()."
        )
    if isinstance(guide, SQUARE) and entries > MOST_ENTRIES_SQUARED:
        raise GuideError(
            f"{name} needs a matrix of {entries:,} x {entries:,} numbers for the entries of this "
            "embedding; use guide=LowRank(10), or fewer dimensions."
        )


def _has_edge(prior_of_x: dist.TorchDistribution | None) -> bool:
    """Whether the slope of a density of real numbers jumps at zero."""
    if prior_of_x is None or prior_of_x.support is not constraints.real:
        return False
    h = 1e-4
    around = [prior_of_x.log_prob(torch.full(prior_of_x.shape(), x)) for x in (-h, 0.0, h)]
    jump = (around[0] + around[2] - 2 * around[1]) / h
    return bool((jump.abs() > EDGE).any())


def contains_mean_field(guide: Callable[[Model], Guide]) -> bool:
    """Whether independent Normals are a special case of what this guide can become."""
    cls = guide.func if isinstance(guide, partial) else guide
    joint = cls in (AutoMultivariateNormal, AutoLowRankMultivariateNormal)
    return isinstance(guide, LowRank) or (joint and _starts_anywhere(guide))


def steadiest_rate(guide: Guide) -> float:
    """The largest learning rate at which a guide is known to be trained without accidents."""
    if isinstance(guide, SiteGuide):
        return math.inf
    # Whole matrices and networks of parameters act together, where entries act alone.
    return 0.003 if isinstance(guide, AutoIAFNormal | AutoNormalizingFlow) else 0.03


def finished(guide: Guide) -> Guide:
    """The guide after its training, which for a Laplace approximation only begins it."""
    if not isinstance(guide, AutoLaplaceApproximation):
        return guide
    try:
        return guide.laplace_approximation()
    except (torch.linalg.LinAlgError, RuntimeError, ValueError) as error:
        raise GuideError(
            "AutoLaplaceApproximation found no peak of the posterior: its curvature there is not "
            "that of a maximum. The density may have edges (a Laplace prior, the rectifier), or "
            "training was too short; use guide=MeanField()."
        ) from error


def _starts_anywhere(guide: Callable[[Model], Guide]) -> bool:
    """Whether this is an autoguide that was not told where to start."""
    cls, given = guide, {}
    if isinstance(guide, partial):
        cls, given = guide.func, guide.keywords
    return (
        isinstance(cls, type)
        and issubclass(cls, AutoGuide | AutoMessenger)
        # Takes the argument and warns that it makes no use of it.
        and not issubclass(cls, AutoIAFNormal)
        and "init_loc_fn" in inspect.signature(cls).parameters
        and "init_loc_fn" not in given
    )


def starting(start: Start) -> Callable[..., Tensor]:
    """An ``init_loc_fn`` of Pyro: X from `start`, everything else from its prior median."""

    def init(site: dict[str, Any] | None = None) -> Any:
        if site is None:
            return init
        if site["name"] != "X":
            return init_to_median(site)
        at = Site("X", site["fn"].support, 0, ()).inside(start())
        return at.expand(site["fn"].shape())

    return init
