from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import pyrovice as pv
from pyrovice.results.scores import evaluate, hits, log_score


@pytest.mark.parametrize(
    ("p", "odd", "credit"),
    [
        ((0.8, 0.1, 0.1), 0, 1),
        ((0.8, 0.1, 0.1), 1, 0),
        ((1 / 3, 1 / 3, 1 / 3), 2, 1 / 3),
        ((0.4, 0.4, 0.2), 0, 1 / 2),
        ((0.4, 0.4, 0.2), 2, 0),
    ],
)
def test_ties_are_shared_fairly(p, odd, credit):
    assert hits(np.array([p]), np.array([odd]))[0] == pytest.approx(credit)


def test_cross_entropy_weights_every_judgment_equally():
    t = pv.Triplets([[0, 1, 2], [0, 1, 3], [0, 2, 3]], [0, 1, 2])
    p = np.array([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    assert evaluate(p, t).cross_entropy == pytest.approx(-np.log([0.5, 0.7, 0.8]).mean())


def test_repeats_by_hand():
    # {0,1,2}: answers 3, 1, 0; {0,1,3}: answers 0, 1, 1; {1,2,3} once only.
    objects = [[0, 1, 2]] * 4 + [[0, 1, 3]] * 2 + [[1, 2, 3]]
    t = pv.Triplets(objects, [0, 0, 0, 1, 1, 2, 0])
    p = np.array([[0.6, 0.3, 0.1]] * 4 + [[0.2, 0.2, 0.6]] * 2 + [[1 / 3] * 3])
    kl = 0.75 * np.log(0.75 / 0.6) + 0.25 * np.log(0.25 / 0.3)
    kl_2 = 0.5 * np.log(0.5 / 0.2) + 0.5 * np.log(0.5 / 0.6)
    chance = 0.75 * np.log(0.75 * 3) + 0.25 * np.log(0.25 * 3)
    chance_2 = np.log(0.5 * 3)
    scores = evaluate(p, t)
    assert scores.kl_divergence == pytest.approx((kl + kl_2) / 2)
    assert scores.chance_kl == pytest.approx((chance + chance_2) / 2)
    assert scores.ceiling == pytest.approx((0.75 + 0.5) / 2)
    # Three of four are the majority of the others, the fourth is not; two who differ are not.
    assert scores.ceiling_low == pytest.approx((0.75 + 0) / 2)
    assert scores.accuracy == pytest.approx((3 + 1 + 1 / 3) / 7)
    assert scores.chance_accuracy == pytest.approx(1 / 3)
    assert scores.n == 7


@pytest.mark.parametrize("answers", [2, 3, 5, 25])
def test_the_best_accuracy_lies_between_the_two_ceilings(answers):
    rng = np.random.default_rng(answers)
    p = rng.dirichlet([1, 1, 1], 3000)
    objects = np.array(list(combinations(range(28), 3)))[:3000]
    odd = (rng.random((3000, answers, 1)) > np.cumsum(p, axis=1)[:, None, :2]).sum(axis=2)
    t = pv.Triplets(objects.repeat(answers, axis=0), odd.ravel())
    scores = evaluate(p.repeat(answers, axis=0), t)
    best = p.max(axis=1).mean()
    # The standard error of either is below 0.01.
    assert scores.ceiling_low - 0.02 < best < scores.ceiling + 0.02
    if answers == 2:
        assert scores.ceiling > best + 0.1
        assert scores.ceiling_low == pytest.approx((odd[:, 0] == odd[:, 1]).mean())
    if answers == 25:
        assert scores.ceiling - scores.ceiling_low < 0.05


def test_without_repeats_there_is_no_ceiling():
    scores = evaluate(np.full((1, 3), 1 / 3), pv.Triplets([[0, 1, 2]], [0]))
    assert scores.kl_divergence is scores.ceiling is scores.chance_kl is None
    assert scores.ceiling_low is None
    assert "ceiling" not in str(scores)


def repeated(questions, answers, seed=0):
    """Judgments of several questions by people who answer at random."""
    rng = np.random.default_rng(seed)
    objects = np.array(list(combinations(range(8), 3)))[:questions]
    rows = np.repeat(objects, answers, axis=0)
    return pv.Triplets(rows, rng.integers(0, 3, len(rows)))


def test_a_few_repeated_questions_give_no_ceiling():
    few = repeated(29, 2)
    scores = evaluate(np.full((len(few), 3), 1 / 3), few)
    assert (scores.repeated_questions, scores.repeated_answers) == (29, 58)
    assert scores.ceiling_interval is None
    assert "unknown: 29 questions were asked more than once (58 answers)" in str(scores)


def test_the_ceiling_has_an_interval_and_says_what_it_rests_on():
    data = repeated(40, 3)
    scores = evaluate(np.full((len(data), 3), 1 / 3), data)
    low, high = scores.ceiling_interval
    for value, end, got in ((scores.ceiling_low, 0, low), (scores.ceiling, 1, high)):
        # Where the score test of a share gives exactly 5 %: what defines Wilson's limits.
        z = (value - got) / np.sqrt(got * (1 - got) / 40)
        assert stats.norm.cdf(z if end else -z) == pytest.approx(0.05)
    assert "40 questions were asked more than once, 120 answers" in str(scores)


def test_anchored_chance_is_a_half():
    t = pv.Triplets([[0, 1, 2], [0, 1, 2]], [0, 2], anchor=[1, 1])
    scores = evaluate(np.array([[0.5, 0.0, 0.5]] * 2), t)
    assert scores.chance_accuracy == 0.5
    assert scores.chance_kl == pytest.approx(0)
    assert scores.accuracy == 0.5


def test_a_probability_of_zero_is_scored_finitely():
    assert np.isfinite(log_score(np.array([[1.0, 0.0, 0.0]]), np.array([1]))).all()


def test_wrong_shape():
    with pytest.raises(pv.DataError, match=r"expected \(1, 3\)"):
        evaluate(np.ones((2, 3)), pv.Triplets([[0, 1, 2]], [0]))


def test_many_judgments_are_predicted_in_another_order(small_fit, small, monkeypatch):
    expected = small_fit.predict(small, draws=4)
    monkeypatch.setattr("pyrovice.results.prediction.WORTH_SORTING", 1)
    np.testing.assert_allclose(small_fit.predict(small, draws=4), expected, rtol=1e-6)
