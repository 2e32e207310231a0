import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pyrovice as pv
from pyrovice.criticism.bounds.retrospective import SCALES, quantized_error
from pyrovice.model.simulation import choice_probabilities, plausible_embedding


def test_the_papers_example():
    assert pv.bounds.sample_size(1854, 45, levels=4, epsilon=0.1, delta=0.001) == 6_714_116


@given(st.integers(3, 3000), st.integers(1, 100), st.integers(1, 60))
def test_sample_size_is_the_smallest_that_satisfies_the_proposition(m, d, k):
    def chance_of_failing(n, epsilon=0.1):
        """log of (k + 1)^(m d) exp(−2 ε² n), the end of the paper's proof."""
        return m * d * math.log(k + 1) - 2 * epsilon**2 * n

    n = pv.bounds.sample_size(m, d, levels=k, delta=0.01)
    assert chance_of_failing(n) <= math.log(0.01) < chance_of_failing(n - 1)


@given(arrays(float, (5, 3), elements=st.floats(-1, 3)), st.floats(0.01, 2))
def test_quantised_weights_are_the_nearest_multiples(X, scale):
    rounded = pv.bounds.quantize(X, scale)
    steps = rounded / scale
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert (rounded >= 0).all()
    assert np.abs(rounded - np.maximum(X, 0)).max() <= scale / 2 + 1e-9
    # As many levels as the bound counts.
    assert np.round(steps).max() <= math.ceil(max(X.max(), 0) / scale)


def test_a_table_stays_a_table():
    frame = pd.DataFrame([[0.2, 0.9]], index=["cat"], columns=[3, 5])
    pd.testing.assert_frame_equal(
        pv.bounds.quantize(frame, 0.5),
        pd.DataFrame([[0.0, 1.0]], index=["cat"], columns=[3, 5]),
    )


def algorithm_2(mu, data, alpha=0.05):
    """The paper's algorithm, line by line; ties for first place share."""
    M = mu.max()
    deltas = [0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70,
              0.75, 0.80, 0.85, 0.90, 0.95, 1.0]  # fmt: skip
    delta = alpha / len(deltas)
    best = None
    for scale in deltas:
        quantised = np.round(mu / scale)
        loss = 0.0
        for objects, odd in zip(data.objects, data.odd, strict=True):
            i, j, k = quantised[objects]
            similarities = [float(j @ k), float(i @ k), float(i @ j)]
            first = [s for s in range(3) if similarities[s] == max(similarities)]
            loss += 1 - (odd in first) / len(first)
        m, d = mu.shape
        n = len(data)
        slack = math.sqrt(
            (m * d * math.log(math.ceil(M / scale) + 1) + math.log(1 / delta)) / 2 / n
        )
        if best is None or loss / n + slack < best[0]:
            best = loss / n + slack, scale, loss / n
    return best


def test_algorithm_2_to_the_letter():
    truth = sparse_embedding(15, 2, seed=0)
    data = pv.simulate(truth, 800, seed=0)
    bound = pv.bounds.generalization(truth, data)
    value, scale, error = algorithm_2(truth, data)
    assert bound.value == pytest.approx(value)
    assert bound.scale == scale
    assert bound.training_error == pytest.approx(error)
    assert bound.table.scale.tolist() == list(SCALES)
    np.testing.assert_allclose(bound.embedding, pv.bounds.quantize(truth, scale))
    assert bound.value == bound.table.bound.min()


def test_what_is_tied_stays_tied():
    # 0.1 + 0.2 is not 0.3 for a computer, but all three pairs are equally alike here.
    X = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
    t = pv.Triplets([[0, 1, 2]] * 3, [0, 1, 2])
    assert quantized_error(X, 0.1, t) == pytest.approx(2 / 3)


def test_test_error_and_anchors():
    truth = sparse_embedding(15, 2, seed=0)
    data = pv.simulate(truth, 800, seed=0)
    bound = pv.bounds.generalization(truth, data, scales=[0.2, 0.5], test=data[:100])
    assert bound.table.test_error.tolist() == [
        quantized_error(truth, scale, data[:100]) for scale in (0.2, 0.5)
    ]
    anchor = np.where(data.odd == 0, 1, 0)
    anchored = pv.Triplets(data.objects, data.odd, names=data.names, anchor=anchor)
    easier = pv.bounds.generalization(truth, anchored)
    assert easier.guessing == 0.5
    assert easier.training_error < bound.training_error


def test_a_bound_that_says_nothing_says_so():
    truth = sparse_embedding(15, 2, seed=0)
    assert "says nothing" in repr(pv.bounds.generalization(truth, pv.simulate(truth, 50, seed=0)))
    assert "says nothing" not in repr(
        pv.bounds.generalization(truth, pv.simulate(truth, 5000, seed=0))
    )


def true_error(embedding, scale, truth):
    """The error on all triplets there are, weighted by their true answers."""
    objects = np.array(list(combinations(range(len(truth)), 3)))
    p = choice_probabilities(truth, objects)
    levels = np.round(np.maximum(embedding, 0) / scale)
    i, j, k = (levels[objects[:, at]] for at in range(3))
    similarity = np.stack([(j * k).sum(1), (i * k).sum(1), (i * j).sum(1)], axis=1)
    first = similarity == similarity.max(axis=1, keepdims=True)
    return 1 - (p * first / first.sum(axis=1, keepdims=True)).sum(axis=1).mean()


def test_the_bound_holds_for_the_embedding_that_fits_best_by_chance():
    """200 data sets of 5 objects: all 243 embeddings with weights 0, 1, 2 are tried on each."""
    alpha = 0.05
    candidates = np.array(list(product([0.0, 1.0, 2.0], repeat=5)))[..., None]
    candidates = candidates[candidates.max(axis=(1, 2)) == 2]
    optimistic, failed = 0, 0
    for seed in range(200):
        truth = np.random.default_rng(seed).gamma(1.0, 0.7, (5, 1))
        data = pv.simulate(truth, 40, seed=seed)
        i, j, k = (candidates[:, data.objects[:, at], 0] for at in range(3))
        similarity = np.stack([j * k, i * k, i * j], axis=2)
        first = similarity == similarity.max(axis=2, keepdims=True)
        hit = np.take_along_axis(first, data.odd[None, :, None].astype(int), axis=2)[..., 0]
        errors = 1 - (hit / first.sum(axis=2)).mean(axis=1)
        best = candidates[errors.argmin()]
        bound = pv.bounds.generalization(best, data, scales=[1.0, 2.0], alpha=alpha)
        true = true_error(best, bound.scale, truth)
        optimistic += true > bound.training_error
        failed += true > bound.value
    # The best of many looks better than it is, and the bound makes up for it.
    assert optimistic > 150
    assert failed <= alpha * 200


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_the_bound_holds_for_fits():
    failed = 0
    short = pv.Training(schedule=pv.Anneal(steps=150))
    for seed in range(200):
        truth = plausible_embedding(12, 2, seed=seed)
        data = pv.simulate(truth, 1500, seed=seed)
        fit = pv.fit(data, dimensions=2, training=short, seed=seed, progress=False)
        embedding = fit.embedding(pruned=False)
        bound = pv.bounds.generalization(embedding, data)
        failed += true_error(embedding.to_numpy(), bound.scale, truth) > bound.value
    assert failed <= 0.05 * 200


def test_design_in_words():
    said = " ".join(repr(pv.bounds.design(100, 10, participants=50)).split())
    assert "For 100 objects and at most 10 dimensions the bound asks for 80,818 judgments" in said
    assert "with 50 participants 1,617 each" in said
    assert pv.bounds.design(100, 10).sample_size == pv.bounds.sample_size(100, 10)
    assert pv.bounds.design(100, 10).enough is None


def test_design_by_simulation():
    short = pv.Training(stop=pv.MaxEpochs(200))
    found = pv.bounds.design(20, 2, judgments=[3000, 30], participants=10, training=short)
    few, many = found.simulated.itertuples()
    assert (few.judgments, many.judgments) == (30, 3000)
    assert few.per_object == pytest.approx(4.5)
    assert few.accuracy < many.accuracy <= many.best
    assert many.accuracy - 1 / 3 > 0.95 * (many.best - 1 / 3)
    assert found.enough == 3000
    assert "reached by 3,000 judgments, with 10 participants 300 each" in " ".join(
        repr(found).split()
    )
    assert len(found.runs) == 4


def test_design_of_an_anchored_task():
    short = pv.Training(stop=pv.MaxEpochs(60))
    found = pv.bounds.design(20, 2, judgments=[1500], anchored=True, training=short)
    row = found.simulated.iloc[0]
    assert 0.5 < row.accuracy <= row.best
    assert found.enough == (1500 if row.accuracy - 0.5 >= 0.95 * (row.best - 0.5) else None)
    for column in found.simulated:
        assert f"\n  {column} " in repr(found)  # what it means


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pv.bounds.sample_size(100, 10, epsilon=0), "epsilon=0; expected a number between"),
        (lambda: pv.bounds.sample_size(100, 9, delta="a"), "delta='a'; expected a number between"),
        (lambda: pv.bounds.quantize([["a"]], 0.5), "Got a list for an embedding"),
        (lambda: pv.bounds.quantize([[1.0]], "a"), "scale='a'; expected a positive number"),
        (lambda: pv.bounds.sample_size(100, 0), "dimensions=0; expected a whole number"),
        (lambda: pv.bounds.quantize([[1.0]], 0), "scale=0; expected a positive number"),
        (lambda: pv.bounds.design(9, 2, judgments=[50], embedding=np.ones((8, 2))), "8 objects"),
        (lambda: pv.bounds.design(9, 2, participants=0), "participants=0; expected"),
    ],
)
def test_bad_arguments(call, sentence):
    with pytest.raises(pv.PyroviceError, match=sentence):
        call()


def test_strangers():
    X = pd.DataFrame(sparse_embedding(15, 2, seed=0)).rename(index=str)
    data = pv.simulate(X, 50, seed=0, names=[f"thing {i}" for i in range(15)])
    with pytest.raises(pv.DataError, match="in another order"):
        pv.bounds.generalization(X, data)
    with pytest.raises(pv.DataError, match="embedding is of 14"):
        pv.bounds.generalization(X[:14], data)
    for scales in ([], "fine", [0.5, -1]):
        with pytest.raises(pv.PyroviceError, match="expected positive numbers"):
            pv.bounds.generalization(X.to_numpy(), data, scales=scales)
    with pytest.raises(pv.PyroviceError, match="alpha=2"):
        pv.bounds.generalization(X.to_numpy(), data, alpha=2)
