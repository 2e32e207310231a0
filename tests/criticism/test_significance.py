import numpy as np
import pytest
from scipy import stats

import pyrovice as pv
from pyrovice.results.scores import evaluate, hits


class Guesses:
    """Stands for a fit: predicts what it was told to."""

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def predict(self, triplets, draws, seed):
        return self.probabilities


def random_choices(n, seed):
    return np.random.default_rng(seed).dirichlet([1, 1, 1], n)


@pytest.fixture(scope="module")
def repeated(small):
    """120 triplets, two judgments of each."""
    return pv.Triplets.concat([small[:120], small[:120]])


def test_choices_are_scipys_paired_test_over_triplets(small):
    distinct = small[np.unique(small._questions(), return_index=True)[1][:500]]
    a, b = random_choices(500, 0), random_choices(500, 1)
    table = pv.compare_choices(Guesses(a), Guesses(b), distinct).table
    assert list(table.index) == ["accuracy", "cross_entropy"]
    test = stats.ttest_rel(hits(a, distinct.odd), hits(b, distinct.odd))
    row = table.loc["accuracy"]
    assert row.t == pytest.approx(test.statistic)
    assert row.p_value == pytest.approx(test.pvalue)
    assert (row.low, row.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert row.n == 500
    # t = d sqrt(n), which defines d.
    assert row.effect_size * np.sqrt(500) == pytest.approx(row.t)
    assert row.difference == pytest.approx(row.a - row.b)


def test_people_who_judged_the_same_triplet_count_once(repeated):
    p = random_choices(120, 0)
    a, b = np.vstack([p, p]), np.full((240, 3), 1 / 3)
    once = pv.compare_choices(Guesses(p), Guesses(b[:120]), repeated[:120]).table
    twice = pv.compare_choices(Guesses(a), Guesses(b), repeated).table
    unique = len(np.unique(repeated._questions()))
    assert twice.loc["accuracy", "n"] == unique
    # Each answer is there twice, so that nothing new is known.
    assert twice.loc["accuracy", "p_value"] == pytest.approx(once.loc["accuracy", "p_value"])


def test_kl_is_compared_over_repeated_triplets(repeated):
    a, b = (np.vstack([p, p]) for p in (random_choices(120, 2), random_choices(120, 3)))
    table = pv.compare_choices(Guesses(a), Guesses(b), repeated).table
    for column, p in (("a", a), ("b", b)):
        scored = evaluate(p, repeated)
        assert table.loc["kl_divergence", column] == pytest.approx(scored.kl_divergence)
    assert table.loc["kl_divergence", "n"] == len(repeated.repeats())


def test_equal_models_do_not_differ(small):
    p = random_choices(100, 0)
    found = pv.compare_choices(Guesses(p), Guesses(p.copy()), small[:100])
    assert (found.table.p_value == 1).all()
    assert (found.table.difference == 0).all()
    assert "accuracy: no significant difference" in repr(found)


def test_the_better_one_is_named(small):
    right = np.eye(3)[small.odd[:200]] * 0.7 + 0.1
    found = pv.compare_choices(Guesses(right), Guesses(np.full((200, 3), 1 / 3)), small[:200])
    assert "accuracy: a is better; cross entropy: a is better" in repr(found)
    other = pv.compare_choices(Guesses(np.full((200, 3), 1 / 3)), Guesses(right), small[:200])
    assert "accuracy: b is better; cross entropy: b is better" in repr(other)


def test_of_fits(small, small_fit):
    with pytest.warns(pv.PyroviceWarning):
        poor = pv.fit(small[:60], dimensions=2, progress=False)
    new = small[1000:]
    found = pv.compare_choices(small_fit, poor, new)
    assert found.table.loc["accuracy", "a"] > found.table.loc["accuracy", "b"]
    assert found.table.loc["accuracy", "p_value"] < 0.001


def test_what_is_no_fit(small, small_fit):
    with pytest.raises(TypeError, match="Got a list to compare; expected two fits"):
        pv.compare_choices(small_fit, [small_fit], small)
    with pytest.raises(pv.PyroviceError, match="at least two seeds"):
        pv.compare_dimensions(small_fit, [3, 4])


def test_counts_are_scipys_tests():
    a, b = [44, 43, 45, 44, 46], [52, 50, 55, 52, 49]
    table = pv.compare_dimensions(a, b)
    t = stats.ttest_ind(a, b)
    assert table.loc["t", "p_value"] == pytest.approx(t.pvalue)
    assert table.loc["t", "estimate"] == pytest.approx(np.mean(a) - np.mean(b))
    assert table.loc["sign", "p_value"] == pytest.approx(2 / 2**5)
    # The F-test by simulation of equal variances.
    rng = np.random.default_rng(0)
    ratio = np.var(a, ddof=1) / np.var(b, ddof=1)
    assert table.loc["F", "estimate"] == pytest.approx(ratio)
    x, y = rng.normal(size=(2, 100_000, 5))
    simulated = x.var(axis=1, ddof=1) / y.var(axis=1, ddof=1)
    p = 2 * min((simulated < ratio).mean(), (simulated > ratio).mean())
    assert table.loc["F", "p_value"] == pytest.approx(p, abs=0.01)
    swapped = pv.compare_dimensions(b, a)
    assert swapped.loc["F", "p_value"] == pytest.approx(table.loc["F", "p_value"])
    assert swapped.loc["F", "low"] == pytest.approx(1 / table.loc["F", "high"])


def test_counts_without_spread():
    table = pv.compare_dimensions([5, 5, 5], [7, 7, 7])
    assert table.loc["t", "estimate"] == -2
    assert table.loc[["t", "F"], "p_value"].isna().all()
    assert table.loc["sign", "p_value"] == pytest.approx(0.25)
    assert np.isnan(pv.compare_dimensions([5, 5], [5, 5]).loc["sign", "p_value"])
    assert list(pv.compare_dimensions([5, 6], [5, 6, 7]).index) == ["t", "F"]


def test_counts_of_fits(small_fit):
    with pytest.raises(pv.PyroviceError, match="at least two seeds"):
        pv.compare_dimensions([small_fit], [3, 4])
    with pytest.raises(pv.PyroviceError, match="at least two seeds"):
        pv.compare_dimensions([3.5, 4], [3, 4])
    table = pv.compare_dimensions([small_fit, small_fit], [3, 4])
    assert table.loc["t", "estimate"] == pytest.approx(small_fit.n_dimensions - 3.5)
