import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyrovice.results.matching import align_draws, nearest_order


@given(arrays(float, (6, 4), elements=st.floats(0, 3)), st.permutations(range(4)))
def test_a_permuted_embedding_comes_back(X, order):
    back = X[:, order][:, nearest_order(X[:, order], X)]
    # Columns that differ by less than this may change places.
    np.testing.assert_allclose(back, X, atol=1e-6)


def test_draws_of_several_chains_come_into_one_order():
    rng = np.random.default_rng(0)
    truth = rng.gamma(1.0, 1.0, (30, 5))
    noisy = np.maximum(truth + 0.2 * rng.normal(size=(3, 40, 30, 5)), 0)
    # Chains differ in their order, and one of them switches midway.
    orders = np.stack([np.tile(rng.permutation(5), (40, 1)) for _ in range(3)])
    orders[1, 20:] = rng.permutation(5)
    shuffled = np.take_along_axis(noisy, orders[:, :, None], axis=3)
    aligned = np.take_along_axis(shuffled, align_draws(shuffled)[:, :, None], axis=3)
    mean = aligned.mean(axis=(0, 1))
    np.testing.assert_allclose(mean[:, nearest_order(mean, truth)], truth, atol=0.2)
    assert aligned.std(axis=(0, 1)).max() < 0.4
