"""The sampler against densities that are known, and the traced potential against Pyro's own."""

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro.infer.mcmc.util import initialize_model
from scipy import stats

import pyrovice as pv
from pyrovice.inference.no_u_turn import Bend, Sampler, Scale, advance_together, windows
from pyrovice.inference.potential import Potential
from pyrovice.model.model import Model
from tests.contract.own_priors import correlated, non_centred, regression, two_levels

DATA = pv.simulate(np.eye(2).repeat(5, axis=0), 200, seed=0)


def sampled(potential, rectified, warmup=150, draws=500, chains=4):
    starts = np.random.default_rng(0).normal(size=(chains, len(rectified)))
    made = [
        Sampler(rectified, seed).run(start, warmup, draws, lambda: None)
        for seed, start in enumerate(starts)
    ]
    return zip(*advance_together(made, potential), strict=True)


def test_a_correlated_normal_has_its_covariance():
    covariance = np.array([[4.0, 1.8, 0.0], [1.8, 1.0, 0.0], [0.0, 0.0, 0.01]])
    precision = np.linalg.inv(covariance)

    def potential(z):
        return 0.5 * np.einsum("ci,ij,cj->c", z, precision, z), z @ precision

    positions, rows = sampled(potential, np.zeros(3, bool), draws=1000)
    found = np.concatenate(positions)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.mean(0) / sd, 0, atol=0.12)
    unit = np.outer(sd, sd)
    np.testing.assert_allclose(np.cov(found.T) / unit, covariance / unit, atol=0.18)
    assert not any(row["diverging"].any() for row in rows)
    # With its scale known, a path is short, however long and thin the density.
    assert np.mean([row["n_steps"] for row in rows]) < 10


def test_a_wall_at_zero_has_its_density_on_both_sides():
    """Below zero a Normal, above it a steep exponential, as under the rectifier."""
    rate = 20.0

    def potential(z):
        value = 0.5 * z**2 + rate * np.maximum(z, 0)
        return value.sum(1), z + rate * (z > 0)

    positions, _ = sampled(potential, np.ones(4, bool))
    found = np.concatenate(positions)
    grid = np.linspace(-6, 2, 200_001)
    density = np.exp(-potential(grid[:, None])[0])
    distribution = np.cumsum(density) / density.sum()
    for q in (0.1, 0.5, 0.9, 0.97):
        at = grid[np.searchsorted(distribution, q)]
        assert (found < at).mean() == pytest.approx(q, abs=0.03)


def test_bent_coordinates_are_a_change_of_variables():
    bend = Bend(np.array([5.0, 30.0, 0.0]))
    u = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_allclose(bend.coordinates(bend.position(u)), u, atol=1e-12)
    h = 1e-6
    for at in u:
        x = bend.position(at)
        stretched = (bend.position(at + h) - bend.position(at - h)) / (2 * h)
        value, slope = bend.density(at, -stats.norm.logpdf(x).sum(), x)
        expected = -(stats.norm.logpdf(x) + np.log(stretched)).sum()
        assert value == pytest.approx(expected, rel=1e-6)
        for i in range(3):
            step = h * np.eye(3)[i]
            around = [
                bend.density(b, -stats.norm.logpdf(bend.position(b)).sum(), x)[0]
                for b in (at + step, at - step)
            ]
            assert slope[i] == pytest.approx((around[0] - around[1]) / (2 * h), rel=1e-4, abs=1e-5)


def test_few_draws_give_no_covariances():
    draws = np.random.default_rng(0).normal(size=(30, 20))
    assert Scale.of(draws).factor.shape == (20,)
    assert Scale.of(draws[:, :10]).factor.shape == (10, 10)


@pytest.mark.parametrize("warmup", [0, 5, 40, 149, 150, 600, 1000])
def test_windows_end_before_the_last_steps(warmup):
    ends = windows(warmup)
    assert ends == sorted(set(ends))
    assert not ends or (ends[0] > 0 and ends[-1] < warmup)
    assert bool(ends) == (warmup > 5)


def untraceable(n_objects, dimensions):
    scale = pyro.sample("scale", dist.LogNormal(0.0, 1.0))
    with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
        return pyro.sample("X", dist.Normal(0.0, 1.0 if scale > 1 else 0.5))


@pytest.mark.parametrize(
    "prior",
    [pv.SpikeSlab(), dist.Exponential(2.0), pv.Horseshoe(0.3), regression, two_levels, correlated,
     non_centred, untraceable],
    ids=lambda prior: getattr(prior, "__name__", type(prior).__name__),
)  # fmt: skip
def test_potentials_of_several_chains_are_those_of_pyro(prior):
    model = Model(prior, 10, 2, DATA)
    with pyro.validation_enabled(False):
        potential = Potential(model)
        size = sum(shape.numel() for shape in potential.shapes.values())
        z = 0.5 * np.random.default_rng(0).normal(size=(3, size))
        values, slopes = potential(z)
        _, of_pyro, _, _ = initialize_model(model)
        for at, value, slope in zip(z, values, slopes, strict=True):
            free = torch.from_numpy(at).float().requires_grad_()
            expected = of_pyro(potential._line(free))
            expected.backward()
            assert value == pytest.approx(expected.item(), rel=1e-5)
            np.testing.assert_allclose(slope, free.grad, rtol=1e-3, atol=1e-3)
    traced = potential._traced[3] != potential._one_by_one
    assert traced == (prior is not untraceable)
    # Where X is positive anyway, or computed, there is nothing to bend.
    bent = not isinstance(prior, dist.Exponential) and prior is not non_centred
    assert potential.rectified.sum() == (20 if bent else 0)


def test_a_path_that_has_run_away_ends_in_silence():
    """Warnings are errors here, and infinite slopes are no reason for one."""
    slope = np.array([np.inf, -np.inf])
    for factor in (np.array([1.0, 0.0]), np.array([[1.0, 1.0], [0.0, 1.0]])):
        assert not np.isfinite(Scale(factor).force(slope)).all()
