"""Dimensions that are ever more probably none."""

import numpy as np
import pytest
import torch
from pyro import poutine
from scipy import stats

import pyrovice as pv
from pyrovice.model.distributions import PositiveSpikeAndSlab


def test_density_of_positive_spike_and_slab():
    x = torch.linspace(0.01, 3, 50)
    found = PositiveSpikeAndSlab(0.1, 0.8, 0.3)
    expected = 0.3 * stats.halfnorm(scale=0.1).pdf(x) + 0.7 * stats.halfnorm(scale=0.8).pdf(x)
    np.testing.assert_allclose(found.log_prob(x).exp(), expected, rtol=1e-5)
    below = 0.3 * stats.halfnorm(scale=0.1).cdf(x) + 0.7 * stats.halfnorm(scale=0.8).cdf(x)
    np.testing.assert_allclose(found.cdf(x), below, rtol=1e-4)
    torch.manual_seed(0)
    drawn = found.sample((100_000,))
    assert drawn.mean() == pytest.approx(float(found.mean), rel=0.02)
    assert drawn.var() == pytest.approx(float(found.variance), rel=0.03)


def test_the_log_density_is_that_of_the_formula():
    prior = pv.CumulativeShrinkage(expected=3.0, slab=0.7, spike=0.05)
    torch.manual_seed(0)
    trace = poutine.trace(prior).get_trace(6, 4)
    trace.compute_log_prob()
    stick, scale, X = (trace.nodes[name]["value"].numpy() for name in ("stick", "scale", "X"))
    none = [1 - np.prod(1 - stick[: h + 1]) for h in range(4)]
    expected = stats.beta(1, 3).logpdf(stick).sum() + stats.norm(0, scale).logpdf(X).sum()
    for h in range(4):
        wide, narrow = (
            stats.halfnorm(scale=0.7).pdf(scale[h]),
            stats.halfnorm(scale=0.05).pdf(scale[h]),
        )
        expected += np.log((1 - none[h]) * wide + none[h] * narrow)
    assert float(trace.log_prob_sum()) == pytest.approx(expected, rel=1e-4)


def test_as_many_dimensions_are_expected_as_it_says():
    torch.manual_seed(0)
    stick = torch.distributions.Beta(1.0, 4.0).sample((20_000, 100))
    active = (1 - stick).cumprod(-1).sum(-1)
    assert active.mean() == pytest.approx(4.0, rel=0.03)


def test_order_matters_so_nothing_is_dropped(small):
    model = pv.Model(pv.CumulativeShrinkage(), 20, 5)
    assert not model.structure.separable
    assert not model.structure._order_is_indifferent()
    quick = pv.Training(schedule=pv.Anneal(steps=200), stop=pv.MaxEpochs(200))
    fit = pv.fit(
        small, prior=pv.CumulativeShrinkage(), dimensions=9, training=quick, progress=False
    )
    assert fit.model.dimensions == 9
    assert fit.prune().columns == tuple(fit.kept_positions().tolist())


def test_nonsense_is_refused():
    with pytest.raises(pv.PriorError, match="narrower than the slab"):
        pv.CumulativeShrinkage(spike=1.0, slab=0.5)
    with pytest.raises(pv.PriorError, match="not positive"):
        pv.CumulativeShrinkage(expected=-1)
