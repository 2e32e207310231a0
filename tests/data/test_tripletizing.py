import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import softmax

import pyrovice as pv
from pyrovice import DataError
from pyrovice.data.tripletizing import balanced_triplets

FEATURES = np.random.default_rng(0).normal(size=(30, 8)) + 0.3
SIMILARITIES = {
    "dot": FEATURES @ FEATURES.T,
    "cosine": 1 - cdist(FEATURES, FEATURES, "cosine"),
    "euclidean": -cdist(FEATURES, FEATURES),
}


def of_pairs(S, objects):
    i, j, k = objects.T
    return np.column_stack([S[j, k], S[i, k], S[i, j]])


@settings(max_examples=60, deadline=None)
@given(m=st.integers(3, 40), share=st.floats(0, 1), seed=st.integers(0, 100))
def test_triplets_differ_and_objects_are_balanced(m, share, seed):
    n = max(1, round(share * math.comb(m, 3)))
    rows = balanced_triplets(m, n, np.random.default_rng(seed))
    assert len(np.unique(rows, axis=0)) == n
    assert np.all(np.diff(rows, axis=1) > 0)
    assert rows.min() >= 0
    assert rows.max() < m
    times = np.bincount(rows.ravel(), minlength=m)
    assert times.max() - times.min() <= 1


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_most_similar_pair_is_kept(similarity):
    t = pv.tripletize(FEATURES, 2000, similarity=similarity, seed=0)
    assert np.array_equal(t.odd, np.argmax(of_pairs(SIMILARITIES[similarity], t.objects), axis=1))


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_choices_follow_the_softmax(similarity):
    n = math.comb(30, 3)
    t = [
        pv.tripletize(FEATURES, n, similarity=similarity, temperature=0.7, seed=s)
        for s in range(20)
    ]
    p = [softmax(of_pairs(SIMILARITIES[similarity], one.objects) / 0.7, axis=1) for one in t]
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1)):
        within = [(q >= low) & (q < high) for q in p]
        expected = sum(q[at].sum() for q, at in zip(p, within, strict=True))
        variance = sum((q * (1 - q))[at].sum() for q, at in zip(p, within, strict=True))
        observed = sum(
            (one.odd[:, None] == np.arange(3))[at].sum() for one, at in zip(t, within, strict=True)
        )
        assert abs(observed - expected) < 4 * np.sqrt(variance)


def test_ties_are_broken_at_random():
    t = pv.tripletize(np.ones((20, 2)), 1000, seed=0)
    assert np.all(np.bincount(t.odd) > 280)


def test_names_and_seeds():
    frame = pd.DataFrame(FEATURES, index=[f"object {i}" for i in range(30)])
    t = pv.tripletize(frame, 100, seed=0)
    assert t.names[3] == "object 3"
    assert t == pv.tripletize(frame, 100, seed=0)
    assert t != pv.tripletize(frame, 100, seed=1)
    assert pv.tripletize(FEATURES, 5, seed=0).names[3] == "3"


def test_many_objects_are_multiplied_in_blocks(monkeypatch):
    whole = pv.tripletize(FEATURES, 500, similarity="euclidean", seed=0)
    monkeypatch.setattr("pyrovice.data.tripletizing.MOST_OBJECTS", 10)
    monkeypatch.setattr("pyrovice.data.tripletizing.BLOCK", 7)
    assert pv.tripletize(FEATURES, 500, similarity="euclidean", seed=0) == whole


@pytest.mark.parametrize(
    ("features", "arguments", "sentence"),
    [
        (FEATURES, {"n": 5000}, "30 objects have only 4,060"),
        (FEATURES, {"similarity": "manhattan"}, "'dot', 'cosine', 'euclidean'"),
        (FEATURES, {"temperature": 0}, "expected a positive number"),
        (FEATURES[:2], {}, "at least three objects"),
        (FEATURES[0], {}, r"shape \(8,\)"),
        ([["a"], ["b"], ["c"]], {}, "not numbers"),
        (np.where(np.arange(8) == 3, np.nan, FEATURES), {}, "object 0 hold a value that is not"),
        (FEATURES * (np.arange(30) != 4)[:, None], {"similarity": "cosine"}, "object 4 are all"),
    ],
)
def test_bad_features(features, arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        pv.tripletize(features, **({"n": 1, "seed": 0} | arguments))
