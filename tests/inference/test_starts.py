import warnings

import numpy as np
import pytest
import torch
from helpers.embeddings import sparse_embedding
from pyro.infer.autoguide import AutoDelta

import pyrovice as pv
from pyrovice.inference.starts import (
    from_clear_pair_counts,
    from_noise,
    from_pair_counts,
    pair_counts,
    varimax,
)
from pyrovice.model.choices import DotProduct
from pyrovice.model.judgments import Judgments


def log_likelihood(X, judgments):
    return DotProduct()(X, judgments).gather(-1, judgments.odd[:, None]).squeeze(-1)


def test_the_papers_start():
    torch.manual_seed(0)
    t = pv.simulate(np.ones((1854, 1)), 10, seed=0)
    loc, scale = from_noise(Judgments.of(t), 100)
    assert loc.shape == scale.shape == (1854, 100)
    # N(0, 2/d): sd 0.1414; log-scale -1/sd gives 8.5e-4.
    np.testing.assert_allclose(loc.std(), np.sqrt(2 / 100), rtol=0.01)
    np.testing.assert_allclose(scale.log(), -1 / loc.std(), rtol=1e-5)


def test_pair_counts_are_the_gradient_at_equal_similarities(small):
    """For the similarity of each pair, with all similarities equal."""
    judgments = Judgments.of(small)
    S = torch.zeros(20, 20, dtype=torch.float64, requires_grad=True)
    i, j, k = torch.tensor(small.objects, dtype=torch.long).T
    logits = torch.stack([S[j, k], S[i, k], S[i, j]], -1)
    logits.log_softmax(-1).gather(1, judgments.odd[:, None]).sum().backward()
    excess, shown = pair_counts(judgments)
    np.testing.assert_allclose(excess.toarray(), S.grad + S.grad.T, atol=1e-10)
    assert shown == 3 * len(small)


def test_pair_counts_of_aggregated_and_anchored_judgments():
    t = pv.Triplets([[0, 1, 2]] * 5, [0, 0, 0, 2, 0], anchor=[-1, -1, -1, 1, 1])
    excess, shown = pair_counts(Judgments.of(t))
    few_excess, few_shown = pair_counts(Judgments.aggregated(t))
    np.testing.assert_allclose(excess.toarray(), few_excess.toarray())
    # Pair (1, 2) leaves out 0, which was odd four times: 3 of 3 options thrice, 1 of 2 twice.
    assert excess[1, 2] == pytest.approx(4 - 3 / 3 - 2 / 2)
    # Three judgments allowed three pairs, two of them two.
    assert shown == few_shown == 3 * 3 + 2 * 2


def test_varimax_undoes_a_rotation():
    simple = np.eye(4).repeat(6, axis=0) + 0.01
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    mixed = simple @ rotation
    found = np.abs(mixed @ varimax(mixed))
    order = found.argmax(0).argsort()
    np.testing.assert_allclose(found[:, order], simple, atol=0.05)
    np.testing.assert_allclose(varimax(mixed) @ varimax(mixed).T, np.eye(4), atol=1e-10)


def test_the_start_from_pair_counts_already_sees_the_dimensions():
    X = sparse_embedding(60, 5, seed=0)
    t = pv.simulate(X, 20_000, seed=0)
    torch.manual_seed(0)
    loc, scale = from_pair_counts(Judgments.of(t), 30)
    assert loc.shape == scale.shape == (60, 30)
    assert loc.min() > 0
    r = np.corrcoef(X.T, loc.T)[:5, 5:]
    # Measured 0.75 to 0.93 over five seeds; the columns of noise reach 0.23.
    assert r[:, :5].max(axis=1).min() > 0.7
    assert log_likelihood(loc[:, :5], Judgments.of(t)).mean() > -np.log(3)


def test_a_point_is_given_nothing_that_could_be_noise():
    X = sparse_embedding(60, 5, seed=0)
    torch.manual_seed(0)
    loc, _ = from_clear_pair_counts(Judgments.of(pv.simulate(X, 20_000, seed=0)), 30)
    r = np.corrcoef(X.T, loc.T)[:5, 5:]
    assert r[:, :5].max(axis=1).min() > 0.7
    # The other dimensions are as in the SPoSE program, N(0.1, 0.01).
    others = loc[:, 5:]
    assert others.mean() == pytest.approx(0.1, abs=0.001)
    assert others.std() == pytest.approx(0.01, abs=0.001)
    nothing, _ = from_clear_pair_counts(Judgments.of(pv.simulate(0 * X, 20_000, seed=0)), 30)
    assert nothing.mean() == pytest.approx(0.1, abs=0.001)


def test_points_start_from_what_is_clear(small):
    for guide, start in (
        (pv.MAP(), from_clear_pair_counts),
        (AutoDelta, from_clear_pair_counts),
        (pv.guides.MeanField(), from_pair_counts),
    ):
        still = pv.Training(learning_rate=1e-9, stop=pv.MaxEpochs(1), schedule=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pv.PyroviceWarning)
            fit = pv.fit(small, guide=guide, dimensions=5, training=still, progress=False)
        torch.manual_seed(0)
        expected, _ = start(Judgments.aggregated(small), 5)
        got = np.sort(fit.posterior.loc().sum(0))
        np.testing.assert_allclose(got, np.sort(expected.numpy().sum(0)), rtol=1e-4)


def test_more_dimensions_than_objects(small):
    loc, _ = from_pair_counts(Judgments.of(small), 50)
    assert loc.shape == (20, 50)
    assert torch.isfinite(loc).all()


def test_features_of_other_objects_leave_the_start_as_it_is_without_them():
    X = sparse_embedding(60, 5, seed=0)
    judgments = Judgments.of(pv.simulate(X, 3_000, seed=0))
    order = np.random.default_rng(1).permutation(60)

    def start(known):
        torch.manual_seed(0)
        return from_pair_counts(judgments, 12, known)[0]

    assert torch.equal(start(X[order]), start(None))
    with_features = start(X)
    r = [
        np.abs(np.corrcoef(X.T, loc.T)[:5, 5:]).max(1).mean()
        for loc in (start(None), with_features)
    ]
    # Measured 0.88 and 0.94; gains of .03 to .09 over four seeds.
    assert r[1] > r[0] + 0.03
