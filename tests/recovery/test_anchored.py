"""Anchored judgments and mixtures go the whole way: fitted, predicted, scored and checked.

40 objects, 4 sparse dimensions, 20,000 judgments: all plain, all anchored, or half of each.
"""

import numpy as np
import pytest
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.model.simulation import choice_probabilities
from pyrovice.results.scores import evaluate

SHARES = {"plain": 0.0, "anchored": 1.0, "half and half": 0.5}
X = sparse_embedding(40, 4, seed=2)


@pytest.fixture(scope="module", params=SHARES.values(), ids=SHARES)
def recovered(request):
    data = pv.simulate(X, 20_000, seed=2, anchored=request.param)
    return request.param, data, pv.fit(data, dimensions=10, progress=False)


def test_the_truth_comes_back(recovered):
    _, _, fit = recovered
    assert fit.converged
    assert fit.n_dimensions == 4
    r = np.corrcoef(X.T, fit.embedding().T)[:4, 4:]
    assert r.max(axis=1).min() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("seed", range(4))
def test_other_truths_come_back_as_well_by_either_task(seed, share):
    truth = sparse_embedding(40, 4, seed=seed)
    fit = pv.fit(
        pv.simulate(truth, 20_000, seed=seed, anchored=share), dimensions=10, progress=False
    )
    # In three of these twelve, one of each kind, a dimension is found in two parts.
    assert fit.n_dimensions in (4, 5)
    r = np.corrcoef(truth.T, fit.embedding().T)[:4, 4:]
    assert r.max(axis=1).min() > 0.93
    test = pv.simulate(truth, 20_000, seed=100 + seed)
    best = evaluate(choice_probabilities(truth, test.objects), test)
    assert fit.evaluate(test).cross_entropy - best.cross_entropy < 0.01


def test_the_other_task_is_predicted_too(recovered):
    _, _, fit = recovered
    for share in (0.0, 1.0):
        test = pv.simulate(X, 20_000, seed=1, anchored=share)
        best = evaluate(choice_probabilities(X, test.objects, test.anchor), test)
        scores = fit.evaluate(test)
        assert scores.cross_entropy - best.cross_entropy < 0.01
        assert scores.chance_accuracy == pytest.approx(1 / 2 if share else 1 / 3)


def test_two_options_sum_to_one_and_the_anchor_is_never_odd(recovered):
    share, data, fit = recovered
    p = fit.predict(data)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    at = np.flatnonzero(data.anchored)
    assert len(at) == pytest.approx(share * len(data), abs=300)
    assert np.all(p[at, data.anchor[at]] == 0)
    assert np.all(np.sort(p[~data.anchored], axis=1)[:, 0] > 0)


def test_repeats_of_both_tasks_are_scored():
    data = pv.simulate(X[:6], 3_000, seed=0, anchored=0.5)
    p = choice_probabilities(X[:6], data.objects, data.anchor)
    scores = evaluate(p, data)
    # Guessing between two has 0.69 nats, among three 1.10; people are between them and the truth.
    assert scores.kl_divergence < 0.05 < scores.chance_kl
    assert scores.chance_accuracy == pytest.approx((1 / data.options).mean())


def test_nothing_is_flagged_and_a_bias_is(recovered):
    share, _, fit = recovered
    fresh = pv.simulate(X, 4_000, seed=2, anchored=share)
    assert pv.checks.report(fit, fresh).flagged == []
    # Somebody who answers at random in every fourth judgment.
    rng = np.random.default_rng(0)
    careless = rng.random(len(fresh)) < 0.25
    drawn = np.argmax(rng.random((len(fresh), 3)) * (np.arange(3) != fresh.anchor[:, None]), axis=1)
    noisy = pv.Triplets(
        fresh.objects,
        np.where(careless, drawn, fresh.odd),
        names=fresh.names,
        anchor=fresh.anchor,
    )
    assert "surprises" in pv.checks.report(fit, noisy).flagged


def test_bad_shares():
    with pytest.raises(pv.DataError, match="a share from 0 to 1"):
        pv.simulate(X, 10, seed=0, anchored=1.5)
