"""Priors that a modeller may write, each with more than one entry's worth of structure."""

import pyro
import pyro.distributions as dist
import torch
from pyro.nn import PyroModule
from torch.distributions import constraints

FEATURES = torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
KINDS = torch.arange(10) % 3


def objects_and_dimensions(n_objects, dimensions):
    return (
        pyro.plate("object", n_objects, dim=-2),
        pyro.plate("dimension", dimensions, dim=-1),
    )


def regression(n_objects, dimensions):
    """X = F W + b and a residual of one learned size."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    spread = pyro.sample("spread", dist.HalfNormal(0.5))
    with dims:
        b = pyro.sample("b", dist.Normal(0.0, 0.5))
        with pyro.plate("feature", FEATURES.shape[1], dim=-2):
            W = pyro.sample("W", dist.Normal(0.0, 0.5))
    with objects, dims:
        return pyro.sample("X", dist.Normal(FEATURES @ W + b, spread))


def categories(n_objects, dimensions):
    """Objects of one kind are alike."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    with pyro.plate("kind", 3, dim=-2), dims:
        mean = pyro.sample("mean", dist.Normal(0.0, 1.0))
    with objects, dims:
        return pyro.sample("X", dist.Normal(mean[..., KINDS, :], 0.4))


def two_levels(n_objects, dimensions):
    """Scales of dimensions around a scale of them all."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    overall = pyro.sample("overall", dist.LogNormal(0.0, 1.0))
    with dims:
        scale = pyro.sample("scale", dist.LogNormal(overall.log(), 0.05))
        with objects:
            return pyro.sample("X", dist.Normal(0.0, scale))


def cumulative(n_objects, dimensions):
    """Each dimension is shrunk more than the one before."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    with dims:
        share = pyro.sample("share", dist.Beta(4.0, 1.0))
        with objects:
            return pyro.sample("X", dist.Normal(0.0, share.cumprod(-1)))


def correlated(n_objects, dimensions):
    """Dimensions that go together, by a matrix of correlations."""
    L = pyro.sample("L", dist.LKJCholesky(dimensions, 2.0))
    with pyro.plate("object", n_objects, dim=-1):
        return pyro.sample(
            "X", dist.MultivariateNormal(torch.zeros(dimensions), scale_tril=0.7 * L)
        )


def smooth(n_objects, dimensions):
    """A Gaussian process over objects in a row."""
    place = torch.arange(float(n_objects))
    covariance = torch.exp(-((place[:, None] - place) ** 2) / 8) + 0.1 * torch.eye(n_objects)
    with pyro.plate("dimension", dimensions, dim=-1):
        f = pyro.sample("f", dist.MultivariateNormal(torch.zeros(n_objects), covariance))
    return pyro.deterministic("X", f.mT)


def non_centred(n_objects, dimensions):
    """Scales times standard Normals."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    with dims:
        scale = pyro.sample("scale", dist.HalfNormal(1.0))
        with objects:
            z = pyro.sample("z", dist.Normal(0.0, 1.0))
    return pyro.deterministic("X", scale * z)


def empirical(n_objects, dimensions):
    """A scale that is optimised, not sampled."""
    objects, dims = objects_and_dimensions(n_objects, dimensions)
    scale = pyro.param("scale", torch.tensor(0.5), constraint=constraints.positive)
    with objects, dims:
        return pyro.sample("X", dist.Normal(0.0, scale))


class Network(PyroModule):
    """A prior mean from a small network on features, with parameters of its own."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.layer = torch.nn.Linear(FEATURES.shape[1], 1)

    def forward(self, n_objects, dimensions):
        objects, dims = objects_and_dimensions(n_objects, dimensions)
        with objects, dims:
            return pyro.sample("X", dist.Normal(self.layer(FEATURES), 0.5))


OWN_PRIORS = {
    "regression": regression,
    "categories": categories,
    "two levels": two_levels,
    "cumulative": cumulative,
    "correlated": correlated,
    "smooth": smooth,
    "non-centred": non_centred,
    "empirical": empirical,
    "network": Network(),
}
