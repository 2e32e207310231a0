"""What more judgments would give."""

import dataclasses

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.criticism.forecasting import _carried_on, _limit, _plan
from pyrovice.model.dimensions import first_dimensions

SHORT = pv.Training(schedule=pv.Anneal(steps=150), stop=pv.MaxEpochs(150))


@pytest.fixture(scope="module")
def found(small, small_fit):
    short = dataclasses.replace(small_fit, training=SHORT, first_dimensions=4)
    part = small.subset(1500, seed=0)
    return part, pv.forecast(short, part, resamples=3)


PARTS = np.array([200.0, 400, 800, 1600, 3200])
AHEAD = np.array([3200, 6400, 12800])


def carried_on(scores, seed=0):
    return _carried_on(PARTS, np.asarray(scores), AHEAD, np.random.default_rng(seed))


def test_a_power_law_is_carried_on_exactly():
    levels = np.array([[0.0], [0.01], [-0.01]])
    curves, limits = carried_on(0.8 + levels + 30 * PARTS**-0.7)
    np.testing.assert_allclose(np.median(curves, 0), 0.8 + 30 * AHEAD**-0.7, atol=1e-3)
    assert np.median(limits) == pytest.approx(0.8, abs=1e-3)
    # The levels of the resamples are all that is uncertain.
    np.testing.assert_allclose(curves.std(0), 0.01 / np.sqrt(3), rtol=0.1)
    rising, limits = carried_on(0.7 + levels - 5 * PARTS**-0.5)
    np.testing.assert_allclose(np.median(rising, 0), 0.7 - 5 * AHEAD**-0.5, atol=1e-3)


def test_noise_leaves_the_exponent_open_and_the_interval_wide():
    noise = np.random.default_rng(1).normal(0, 0.01, (4, 5))
    curves, _ = carried_on(0.8 + 30 * PARTS**-0.7 + noise)
    low, high = np.quantile(curves, (0.1, 0.9), axis=0)
    assert (low < 0.8 + 30 * AHEAD**-0.7).all()
    assert (high > 0.8 + 30 * AHEAD**-0.7).all()
    assert high[2] - low[2] > high[0] - low[0]


def test_a_limit_that_is_sure_is_where_the_curve_leads_to():
    # Two points do not tell a power from its limit: b follows from the limit at the last point.
    scores = 0.8 + 0.1 * (PARTS / PARTS[-1]) ** -1.0 + np.array([[0.001], [0.0], [-0.001]])
    scores = scores + np.random.default_rng(2).normal(0, 0.02, scores.shape)
    unsure, _ = carried_on(scores)
    curves, limits = _carried_on(PARTS, scores, AHEAD, np.random.default_rng(0), limit=(0.8, 1e-5))
    level = scores.mean(axis=1).std(ddof=1) / np.sqrt(3)
    assert np.median(limits) == pytest.approx(0.8, abs=level / 5)
    np.testing.assert_allclose(limits.std(), level, rtol=0.1)
    assert (curves.std(0) < unsure.std(0))[1:].all()


def test_the_limit_lies_a_tenth_of_the_gap_beyond_the_score_on_what_was_fitted():
    scores = np.array([[1.0, 0.9], [1.0, 0.94]])
    own = pd.Series([0.5, 0.7, 0.6, 0.74])
    assert _limit(scores, own, 2) == pytest.approx((0.72 - 0.02, 0.02), abs=1e-5)


def test_automatic_dimensions_follow_the_size_of_a_part(small, small_fit):
    part = small.subset(100, seed=0)
    automatic = dataclasses.replace(small_fit, first_dimensions=first_dimensions("auto", small))
    assert _plan(automatic, small, part, 0).first_dimensions == first_dimensions("auto", part)
    given = dataclasses.replace(small_fit, first_dimensions=3)
    assert _plan(given, small, part, 0).first_dimensions == 3


def test_what_does_not_change_stays():
    curves, _ = carried_on(np.full((3, 5), 5.0))
    np.testing.assert_allclose(curves, 5.0, atol=1e-4)


def test_a_forecast_says_what_more_judgments_are_worth(found):
    _, forecast = found
    table = forecast.table
    assert table.judgments.tolist() == [1500, 2250, 3000, 6000]
    assert table.times.tolist() == [1.0, 1.5, 2.0, 4.0]
    assert len(forecast.runs) == 9
    assert table.nats.is_monotonic_decreasing
    for measure in ("nats", "accuracy", "dimensions"):
        assert (table[f"{measure}_low"] <= table[measure]).all()
        assert (table[measure] <= table[f"{measure}_high"]).all()
    said = repr(forecast)
    assert "With all 1,500 judgments" in said
    assert f"750 more are worth {table.worth[1]:.4f} nats" in said.replace("\n", " ")
    assert table.worth[1] == pytest.approx(table.nats[0] - table.nats[1], abs=0.005)
    assert (table.worth_low >= 0).all()


def test_a_part_is_never_scored_on_its_own_judgments(found):
    data, forecast = found
    assert forecast.runs.judgments.max() <= 0.86 * len(data)


def test_a_forecast_in_a_figure(found):
    figure = pv.plot.forecast(found[1])
    left = figure.axes[0]
    known, expected = left.lines[:2]
    assert sorted(known.get_ydata()) == sorted(found[1].runs.nats)
    assert list(expected.get_ydata()) == found[1].table.nats.tolist()


def test_bad_input_gets_a_sentence(small, small_fit):
    with pytest.raises(pv.DataError, match=r"no learning curve.*bounds\.design"):
        pv.forecast(small_fit, small[:50])
    with pytest.raises(pv.PyroviceError, match="multiples above 1"):
        pv.forecast(small_fit, small, times=[0.5])
    with pytest.raises(TypeError, match="expected a Fit"):
        pv.forecast(small, small)
    with pytest.raises(TypeError, match="expected Triplets"):
        pv.forecast(small_fit, pd.DataFrame())
    other = pv.Triplets(small.objects, small.odd, names=[f"x{i}" for i in range(20)])
    with pytest.raises(pv.DataError, match="other objects"):
        pv.forecast(small_fit, other)
