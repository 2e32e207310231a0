import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pyrovice import PyroviceError
from pyrovice.results.pruning import false_discovery_rates, importance, kept, order
from pyrovice.results.weights import NormalWeights, PointWeights

probabilities = arrays(np.float64, (12, 4), elements=st.floats(0, 1))


class Probabilities:
    """A posterior of which only P(X <= 0) is known."""

    can_be_zero = True

    def __init__(self, p):
        self.p = p

    def zero_probability(self):
        return self.p


def step_up(p, alpha):
    """Benjamini and Hochberg: the largest k with p_(k) <= k alpha / m."""
    m, best = len(p), 0
    for k, value in enumerate(sorted(p), start=1):
        if value <= k * alpha / m:
            best = k
    return best


@settings(deadline=None)
@given(p=probabilities, alpha=st.sampled_from([0.01, 0.05, 0.2]))
def test_fdr_is_the_step_up_rule(p, alpha):
    expected = [step_up(column, alpha) for column in p.T]
    got = importance(Probabilities(p), alpha=alpha)
    # An exact tie with the threshold may fall to either side in floating point.
    ties = np.isclose(np.sort(p, axis=0), np.arange(1, 13)[:, None] * alpha / 12, rtol=1e-12)
    clear = ~ties.any(axis=0)
    assert got[clear].tolist() == np.array(expected)[clear].tolist()


@settings(deadline=None)
@given(p=probabilities)
def test_tail_never_selects_fewer(p):
    assert (importance(Probabilities(p), "tail") >= importance(Probabilities(p), "fdr")).all()


@settings(deadline=None)
@given(p=probabilities, rows=st.permutations(range(12)), columns=st.permutations(range(4)))
def test_order_of_objects_and_dimensions_does_not_matter(p, rows, columns):
    turned = Probabilities(p[rows][:, columns])
    assert importance(turned).tolist() == importance(Probabilities(p))[columns].tolist()


def test_order_by_importance_then_weight():
    weights = np.array([[1.0, 5.0, 2.0, 9.0]])
    assert order(np.array([3, 7, 3, 0]), weights).tolist() == [1, 2, 0, 3]


def test_bad_rules():
    nothing = Probabilities(np.zeros((3, 1)))
    with pytest.raises(PyroviceError, match="expected one of 'fdr', 'tail', 'max'"):
        importance(nothing, "bonferroni")
    with pytest.raises(PyroviceError, match="not between 0 and 1"):
        importance(nothing, alpha=5)


def test_no_dimensions_at_all():
    assert importance(Probabilities(np.zeros((3, 0)))).shape == (0,)


def test_the_largest_weight_where_nothing_can_be_zero():
    point = PointWeights(np.array([[0.05, 0.3], [0.01, 0.0]], dtype=np.float32))
    np.testing.assert_allclose(importance(point), [0.05, 0.3])
    assert kept(point).tolist() == [False, True]
    assert kept(point, threshold=0.02).tolist() == [True, True]
    mu = np.full((9, 2), 3.0, dtype=np.float32)
    normal = NormalWeights(mu, np.ones_like(mu))
    assert kept(normal).tolist() == [True, True]
    assert kept(normal, min_objects=9).tolist() == [False, False]
    assert kept(normal, "max", threshold=5).tolist() == [False, False]


def test_false_discovery_rates_are_scipys():
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (5, 3), (200, 4)]:
        p = rng.choice([0.0, 0.001, 0.02, 0.5, 1.0, *rng.random(20)], shape)
        expected = stats.false_discovery_control(p, axis=0)
        np.testing.assert_allclose(false_discovery_rates(p), expected, rtol=1e-15)
