"""Dot products of few pairs, by a sparse pattern, are those of the dense matrix."""

import numpy as np
import pytest
import torch

import pyrovice as pv
from pyrovice.model.choices import pairs as room
from pyrovice.model.choices.pairs import judged_similarity, pair_similarity
from pyrovice.model.judgments import Judgments
from pyrovice.model.pair_pattern import PairPattern, worth_a_pattern
from pyrovice.model.simulation import random_triplets

M = 400


@pytest.fixture(scope="module")
def judgments():
    rng = np.random.default_rng(0)
    objects = random_triplets(M, 3_000, rng)
    # Some questions stand twice, so that pairs do too.
    objects = np.concatenate([objects, objects[:500]])
    data = pv.Triplets(objects, rng.integers(0, 3, len(objects)), names=range(M))
    return Judgments.of(data).coming_again()


@pytest.fixture(scope="module")
def X():
    return torch.rand(M, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_products_are_those_of_the_rows(judgments, X):
    found = judgments.pattern.products(X).unflatten(0, judgments.pairs.shape)
    rows = X.numpy()
    first, second = judgments.pairs.numpy() // M, judgments.pairs.numpy() % M
    np.testing.assert_allclose(found, (rows[first] * rows[second]).sum(-1), rtol=1e-12)


def test_gradient_is_that_of_the_dense_matrix(judgments, X):
    slope = torch.randn(judgments.pairs.shape, dtype=X.dtype).flatten()
    sparse, dense = X.clone().requires_grad_(), X.clone().requires_grad_()
    judgments.pattern.products(sparse).backward(slope)
    (dense @ dense.mT).flatten()[judgments.pairs.flatten()].backward(slope)
    torch.testing.assert_close(sparse.grad, dense.grad, rtol=1e-11, atol=1e-11)


def test_second_derivatives():
    pattern = PairPattern.of(torch.tensor([1, 2, 7, 1]), 5)
    X = torch.rand(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(pattern.products, (X,))
    assert torch.autograd.gradgradcheck(pattern.products, (X,))


def test_only_what_comes_again_gets_a_pattern(judgments, X, monkeypatch):
    assert worth_a_pattern(M, judgments.pairs)
    torch.testing.assert_close(judged_similarity(X, judgments), pair_similarity(X, judgments.pairs))
    monkeypatch.setattr(room, "pair_similarity", lambda *_: pytest.fail("all pairs were computed"))
    judged_similarity(X, judgments)
    assert not judgments[:10].comes_again


@pytest.mark.parametrize(("m", "n"), [(36, 10), (400, 20_000)], ids=["few objects", "many pairs"])
def test_where_a_pattern_does_not_pay(m, n):
    assert not worth_a_pattern(m, torch.zeros(3, n, dtype=torch.long))


def test_a_fit_is_the_same_either_way(monkeypatch):
    rng = np.random.default_rng(1)
    truth = rng.gamma(1.5, 0.6, (M, 4)) * (rng.random((M, 4)) < 0.3)
    data = pv.simulate(truth, 8_000, seed=0)
    short = {"training": pv.Training(stop=pv.MaxEpochs(20)), "dimensions": 6, "progress": False}
    sparse = pv.fit(data, **short)
    monkeypatch.setattr(room, "worth_a_pattern", lambda *_: False)
    dense = pv.fit(data, **short)
    np.testing.assert_allclose(sparse.history.loss, dense.history.loss, rtol=1e-4)
