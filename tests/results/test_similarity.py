import numpy as np
import pytest
import torch
from scipy.special import softmax

import pyrovice as pv
from pyrovice.model.choices import DotProduct, kept_pairs, similarities


def pair_probability(X, thirds=None, choice=None):
    model = pv.Model(pv.SpikeSlab(), len(X), X.shape[1], choice=choice or DotProduct())
    some = torch.arange(len(X)) if thirds is None else torch.tensor(thirds)
    return model.kept_probability({"X": torch.tensor(X, dtype=torch.float32)}, some).numpy()


def dot_products(X, judgments):
    """The paper's choice as a user would write it, without its short cut."""
    return similarities(X, judgments).log_softmax(-1)


def by_hand(X):
    S, m = X @ X.T, len(X)
    kept = np.full((m, m), np.nan)
    for i in range(m):
        for j in range(m):
            if i != j:
                thirds = [k for k in range(m) if k not in (i, j)]
                kept[i, j] = np.mean([softmax([S[i, j], S[i, k], S[j, k]])[0] for k in thirds])
    return kept


@pytest.mark.parametrize("block", [1, 200, 2**24])
def test_against_the_definition(monkeypatch, block):
    monkeypatch.setattr(kept_pairs, "BLOCK_ENTRIES", block)
    X = np.random.default_rng(0).gamma(1, 0.8, (9, 3))
    np.testing.assert_allclose(pair_probability(X), by_hand(X), rtol=1e-4)


def test_large_dot_products_stay_finite():
    X = np.random.default_rng(0).random((6, 2)) * 70
    kept = pair_probability(X)
    assert np.isfinite(kept[~np.eye(6, dtype=bool)]).all()


def test_of_a_fit(small_fit):
    mean, sd = (small_fit.similarity(s, draws=8) for s in ("mean", "sd"))
    assert list(mean.index) == list(mean.columns) == list(small_fit.names)
    np.testing.assert_allclose(mean, mean.T, atol=1e-6)
    each = np.stack([pair_probability(X) for X in small_fit.draws(8, seed=0)])
    off = ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(mean.to_numpy()[off], each.mean(0)[off], atol=1e-6)
    np.testing.assert_allclose(sd.to_numpy()[off], each.std(0)[off], atol=1e-4)


def test_some_third_objects_and_any_scale():
    X = np.random.default_rng(3).gamma(1.0, 1.0, (9, 2))
    S = X @ X.T
    some = np.array([1, 4, 5, 8])
    kept = pair_probability(X, some)
    for i in range(9):
        for j in range(9):
            p = [
                1 / (1 + np.exp(S[i, k] - S[i, j]) + np.exp(S[j, k] - S[i, j]))
                for k in some
                if k not in (i, j)
            ]
            assert i == j or abs(kept[i, j] - np.mean(p)) < 1e-5
    large = pair_probability(30 * X)
    assert np.isfinite(large[~np.eye(9, dtype=bool)]).all()


def test_few_third_objects_say_nearly_the_same(small_fit):
    every, some = (small_fit.similarity(draws=3, thirds=n) for n in (None, 12))
    assert every.equals(small_fit.similarity(draws=3, thirds=20))
    assert 0 < np.nanmax(np.abs(every - some)) < 0.25


@pytest.mark.parametrize("thirds", [None, [1, 4, 5, 8]])
def test_asking_triplet_by_triplet_is_the_same(thirds):
    X = np.random.default_rng(3).gamma(1.0, 1.0, (9, 2))
    np.testing.assert_allclose(
        pair_probability(X, thirds, dot_products), pair_probability(X, thirds), rtol=1e-4
    )
