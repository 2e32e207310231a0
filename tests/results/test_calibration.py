import numpy as np
import pytest
from scipy.stats import binomtest

import pyrovice as pv
from pyrovice.results.calibration import calibrate
from pyrovice.results.prediction import draw_answers


def asked(odd, **arguments):
    return pv.Triplets(np.tile([0, 1, 2], (len(odd), 1)), odd, **arguments)


def confident(n, seed):
    """Random choice probabilities of n judgments."""
    return np.random.default_rng(seed).dirichlet([0.8, 0.8, 0.8], n)


def test_by_hand():
    p = np.array([[0.7, 0.2, 0.1]] * 4 + [[0.05, 0.9, 0.05]])
    found = calibrate(p, asked([0, 0, 1, 2, 1]), bins=5)
    # Bins of 0.2: six answers in the lowest (0.1 x 4 and 0.05 x 2; 0.2 is in the second).
    assert found.table.n.tolist() == [6, 4, 4, 1]
    assert found.table.predicted.tolist() == pytest.approx([0.5 / 6, 0.2, 0.7, 0.9])
    assert found.table.observed.tolist() == pytest.approx([1 / 6, 1 / 4, 2 / 4, 1])
    gaps = [6 * abs(0.5 / 6 - 1 / 6), 4 * 0.05, 4 * 0.2, 0.1]
    assert found.error == pytest.approx(sum(gaps) / 15)
    interval = binomtest(2, 4).proportion_ci(method="wilson")
    assert tuple(found.table.loc[2, ["low", "high"]]) == pytest.approx(interval)
    assert found.n == 5
    assert found.table.n.sum() == 15
    assert 0.2 in found.table.bin[1]


def test_right_predictions_show_nothing_but_noise():
    p = confident(20_000, seed=0)
    odd = draw_answers(p, np.random.default_rng(1))
    found = calibrate(p, asked(odd))
    # Over seeds 0 to 9 the ratio was 0.7 to 1.5.
    assert found.error < 2 * found.noise
    assert found.noise < 0.005
    inside = found.table.predicted.between(found.table.low, found.table.high)
    assert inside.mean() >= 0.8


def test_overconfidence_shows():
    p = confident(20_000, seed=0)
    flat = 0.7 * p + 0.1
    found = calibrate(p, asked(draw_answers(flat, np.random.default_rng(1))))
    assert found.error > 10 * found.noise
    first, last = found.table.iloc[0], found.table.iloc[-1]
    assert first.predicted < first.low < first.observed
    assert last.observed < last.high < last.predicted


def test_noise_is_the_average_error_of_right_predictions():
    p = confident(300, seed=3)
    rng = np.random.default_rng(4)
    errors = [calibrate(p, asked(draw_answers(p, rng))).error for _ in range(60)]
    noise = calibrate(p, asked(np.zeros(300, int))).noise
    # The standard error of either mean is about 0.001.
    assert noise == pytest.approx(np.mean(errors), abs=0.005)


def test_an_anchor_is_no_answer():
    p = np.array([[0.0, 0.6, 0.4]] * 10)
    found = calibrate(p, asked([1] * 6 + [2] * 4, anchor=[0] * 10))
    assert found.table.n.tolist() == [10, 10]
    assert found.error == pytest.approx(0)


def test_certain_predictions_have_a_bin():
    found = calibrate(np.array([[1.0, 0.0, 0.0]] * 3), asked([0, 0, 0]))
    assert found.table.n.tolist() == [6, 3]
    assert found.error == found.noise == 0


def test_of_a_fit(small, small_fit):
    found = small_fit.calibration(small, draws=20, seed=1, bins=8)
    again = calibrate(small_fit.predict(small, 20, 1), small, bins=8, seed=1)
    assert found.error == again.error
    assert found.noise == again.noise
    assert list(found.table.columns) == ["bin", "predicted", "observed", "n", "low", "high"]
    assert found.error < 0.05
    assert "3,000 judgments, expected calibration error" in repr(found)


def test_bad_input(small, small_fit):
    with pytest.raises(pv.PyroviceError, match="bins=0; expected a whole number"):
        small_fit.calibration(small, bins=0)
    with pytest.raises(pv.DataError, match=r"expected \(3000, 3\)"):
        calibrate(np.ones((2, 3)), small)
