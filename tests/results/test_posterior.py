import numpy as np
import pytest
from scipy import integrate, stats

import pyrovice as pv
from pyrovice.results.weights import (
    DrawnWeights,
    LogNormalWeights,
    NormalWeights,
    PointWeights,
)

MU = np.array([[-1.0, 0.0, 0.3], [2.0, -0.2, 1.0]], dtype=np.float32)
SIGMA = np.array([[0.5, 1.0, 0.1], [0.3, 0.4, 2.0]], dtype=np.float32)


def moment(power, mu, sigma):
    return integrate.quad(
        lambda x: x**power * stats.norm.pdf(x, mu, sigma), 0, mu + 15 * sigma, limit=200
    )[0]


@pytest.fixture
def normal():
    return NormalWeights(MU, SIGMA)


def test_closed_forms_against_quadrature(normal):
    mean = np.vectorize(lambda m, s: moment(1, m, s))(MU, SIGMA)
    second = np.vectorize(lambda m, s: moment(2, m, s))(MU, SIGMA)
    np.testing.assert_allclose(normal.mean(), mean, atol=1e-5)
    np.testing.assert_allclose(normal.sd(), np.sqrt(second - mean**2), atol=1e-4)
    np.testing.assert_allclose(normal.zero_probability(), stats.norm.cdf(0, MU, SIGMA), rtol=1e-5)
    np.testing.assert_array_equal(normal.loc(), np.maximum(MU, 0))


def test_draws_agree_with_the_closed_forms(normal):
    draws = normal.draws(40_000, seed=0)
    assert draws.min() == 0
    # Four standard errors of a mean of 40,000 draws whose sd is below 2.
    np.testing.assert_allclose(draws.mean(0), normal.mean(), atol=4 * 2 / 200)
    np.testing.assert_allclose(draws.std(0), normal.sd(), atol=4 * 2 / 200)
    drawn = DrawnWeights(
        np.random.default_rng(0).normal(MU, SIGMA, (4, 10_000, 2, 3)).astype(np.float32)
    )
    np.testing.assert_allclose(drawn.mean(), normal.mean(), atol=0.04)
    np.testing.assert_allclose(drawn.sd(), normal.sd(), atol=0.04)
    np.testing.assert_allclose(drawn.loc(), normal.loc(), atol=0.06)
    np.testing.assert_allclose(drawn.zero_probability(), normal.zero_probability(), atol=0.02)


def test_seeds(normal):
    assert np.array_equal(normal.draws(3, seed=1), normal.draws(3, seed=1))
    assert not np.array_equal(normal.draws(3, seed=1), normal.draws(3, seed=2))


def test_select(normal):
    assert np.array_equal(normal.select([2, 0]).mu, MU[:, [2, 0]])
    drawn = DrawnWeights(normal.draws(10, seed=0)[None])
    assert drawn.select([1]).shape == (2, 1)
    assert drawn.draws(25, seed=0).shape == (25, 2, 3)


def test_lognormal_against_scipy():
    posterior = LogNormalWeights(MU, SIGMA)
    law = stats.lognorm(s=SIGMA, scale=np.exp(MU))
    np.testing.assert_allclose(posterior.loc(), law.median(), rtol=1e-5)
    np.testing.assert_allclose(posterior.mean(), law.mean(), rtol=1e-5)
    np.testing.assert_allclose(posterior.sd(), law.std(), rtol=1e-4)
    draws = np.log(posterior.draws(20_000, seed=0))
    # Four standard errors of a mean of 20,000 draws whose sd is at most 2.
    np.testing.assert_allclose(draws.mean(0), MU, atol=4 * 2 / 20_000**0.5)
    assert not posterior.can_be_zero
    assert posterior.select([1]).shape == (2, 1)


def test_a_point_has_no_uncertainty():
    point = PointWeights(MU)
    assert np.array_equal(point.draws(3, seed=0), np.repeat(np.maximum(MU, 0)[None], 3, axis=0))
    assert (point.sd() == 0).all()
    assert point.select([0, 2]).shape == (2, 2)


def test_quantiles_are_those_of_the_rectified_weight(small_fit):
    normal = small_fit.posterior.weights
    exact = np.maximum(stats.norm.ppf(0.9, normal.mu, normal.sigma), 0)
    np.testing.assert_allclose(normal.quantile(0.9), exact, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(small_fit.quantile(0.9, pruned=False), exact, rtol=1e-5, atol=1e-6)
    drawn = DrawnWeights(normal.draws(4000, seed=0)[None])
    np.testing.assert_allclose(drawn.quantile(0.9), exact, atol=0.06)
    positive = LogNormalWeights(normal.mu, normal.sigma)
    lognormal = stats.lognorm.ppf(0.2, normal.sigma, scale=np.exp(normal.mu))
    np.testing.assert_allclose(positive.quantile(0.2), lognormal, rtol=1e-4)
    with pytest.raises(pv.PyroviceError, match=r"quantile\(95\)"):
        small_fit.quantile(95)
