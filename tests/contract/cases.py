"""Every prior and every guide that must keep the same promises."""

import math

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro.infer import autoguide
from scipy import stats
from torch.distributions import constraints

import pyrovice as pv


def students_own_prior(n_objects, dimensions):
    """A user's prior of ten lines: some dimensions matter more than others."""
    with pyro.plate("dimension", dimensions, dim=-1):
        strength = pyro.sample("strength", dist.Gamma(3.0, 4.0))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(0.0, strength))


def students_own_guide(model):
    """A user's guide of ten lines: Normals with one spread per dimension, for real X."""

    def guide(*args, **kwargs):
        m, d = model.n_objects, model.dimensions
        loc = pyro.param("loc", lambda: 0.5 * torch.rand(m, d))
        scale = pyro.param("scale", 0.1 * torch.ones(d), constraint=constraints.positive)
        with pyro.plate("object", m, dim=-2), pyro.plate("dimension", d, dim=-1):
            return pyro.sample("X", dist.Normal(loc, scale))

    return guide


# Univariate distributions of Pyro, and what scipy calls them.
ENTRYWISE = {
    "Normal": (dist.Normal(0.1, 0.5), stats.norm(0.1, 0.5)),
    "Laplace": (dist.Laplace(0.0, 0.3), stats.laplace(0, 0.3)),
    "StudentT": (dist.StudentT(4.0, 0.0, 0.5), stats.t(4, 0, 0.5)),
    "Cauchy": (dist.Cauchy(0.0, 0.2), stats.cauchy(0, 0.2)),
    "Exponential": (dist.Exponential(2.0), stats.expon(scale=1 / 2)),
    "Gamma": (dist.Gamma(1.0, 3.0), stats.gamma(1, scale=1 / 3)),
    "LogNormal": (dist.LogNormal(-1.0, 0.8), stats.lognorm(0.8, scale=math.exp(-1))),
    "HalfNormal": (dist.HalfNormal(0.5), stats.halfnorm(scale=0.5)),
    "HalfCauchy": (dist.HalfCauchy(0.3), stats.halfcauchy(scale=0.3)),
    "Weibull": (dist.Weibull(0.5, 1.5), stats.weibull_min(1.5, scale=0.5)),
    "Uniform": (dist.Uniform(0.0, 2.0), stats.uniform(0, 2)),
}
VALUES = {
    "SpikeSlab": pv.SpikeSlab(),
    "SpikeSlab-laplace": pv.SpikeSlab(family="laplace"),
    "LearnedSpikeSlab": pv.LearnedSpikeSlab(),
    "LearnedSpikeSlab-each": pv.LearnedSpikeSlab(per_dimension=True, family="laplace"),
    "Horseshoe": pv.Horseshoe(),
    "ARD": pv.ARD(),
    "CumulativeShrinkage": pv.CumulativeShrinkage(),
}
PRIORS = {name: prior for name, (prior, _) in ENTRYWISE.items()} | VALUES
PRIORS["own"] = students_own_prior
# Of objects that are known by name: the tests have some of them each.
PRIORS["Features"] = pv.Features(
    np.random.default_rng(1).standard_normal((20, 4)), names=[str(i) for i in range(20)]
)

GUIDES = {
    "MeanField": pv.MeanField(),
    "MAP": pv.MAP(),
    "LowRank": pv.LowRank(2),
    "AutoNormal": autoguide.AutoNormal,
    "AutoDelta": autoguide.AutoDelta,
    "AutoDiagonalNormal": autoguide.AutoDiagonalNormal,
    "AutoMultivariateNormal": autoguide.AutoMultivariateNormal,
    "AutoLowRank": lambda model: autoguide.AutoLowRankMultivariateNormal(model, rank=2),
    "AutoLaplace": autoguide.AutoLaplaceApproximation,
    "AutoStructured": autoguide.AutoStructured,
    "AutoGaussian": autoguide.AutoGaussian,
    "AutoNormalMessenger": autoguide.AutoNormalMessenger,
    "AutoIAFNormal": autoguide.AutoIAFNormal,
    "own": students_own_guide,
}

UNBOUNDED = {
    "LearnedSpikeSlab", "LearnedSpikeSlab-each", "Horseshoe", "ARD", "CumulativeShrinkage",
    "Features",
}  # fmt: skip
LOOK_FOR_A_MODE = {"MAP", "AutoDelta", "AutoLaplace"}
ON_THE_REAL_LINE = {
    name for name in PRIORS if name not in ENTRYWISE or ENTRYWISE[name][1].support()[0] < 0
}


def refusal(prior, guide):
    """The words in which a combination is refused, if it is."""
    if prior in UNBOUNDED and guide in LOOK_FOR_A_MODE:
        return r"has none: .*MeanField"
    if "aplace" in prior and guide == "AutoLaplace":
        return r"has an edge at zero.*MeanField"
    return None


# Guides that differ from others in how Pyro writes them, or that learn slowly: with most priors by
# make test-slow.
LESS_OFTEN = {
    "AutoDiagonalNormal", "AutoLowRank", "AutoLaplace", "AutoStructured", "AutoGaussian",
    "AutoNormalMessenger", "AutoIAFNormal",
}  # fmt: skip
ALWAYS = {"SpikeSlab", "LearnedSpikeSlab", "own", "regression", "correlated"}


def case(prior, guide):
    """The parameters of a test of this prior with this guide."""
    rarely = guide in LESS_OFTEN and prior not in ALWAYS and not refusal(prior, guide)
    return pytest.param(prior, guide, marks=[pytest.mark.slow] if rarely else [])


def pairs():
    """Every prior with every guide; the student's guide is for real X and no other site."""
    for_students_guide = ON_THE_REAL_LINE - UNBOUNDED - {"own"}
    return [
        case(prior, guide)
        for prior in PRIORS
        for guide in GUIDES
        if (guide != "own" or prior in for_students_guide)
        # A prior of a user's that shrinks cumulatively is tried with every guide elsewhere.
        and (prior != "CumulativeShrinkage" or guide in ("MeanField", "MAP", "LowRank"))
    ]
