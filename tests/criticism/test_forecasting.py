"""What more judgments would give."""

import dataclasses

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.criticism.forecasting import _carried_on

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
    np.testing.assert_allclose(curves.std(0), 0.01 * np.sqrt(2 / 9), rtol=0.1)
    rising, limits = carried_on(0.7 + levels - 5 * PARTS**-0.5)
    np.testing.assert_allclose(np.median(rising, 0), 0.7 - 5 * AHEAD**-0.5, atol=1e-3)


def test_noise_leaves_the_exponent_open_and_the_interval_wide():
    noise = np.random.default_rng(1).normal(0, 0.01, (4, 5))
    curves, _ = carried_on(0.8 + 30 * PARTS**-0.7 + noise)
    low, high = np.quantile(curves, (0.1, 0.9), axis=0)
    assert (low < 0.8 + 30 * AHEAD**-0.7).all()
    assert (high > 0.8 + 30 * AHEAD**-0.7).all()
    assert high[2] - low[2] > high[0] - low[0]


def test_what_does_not_change_stays():
    curves, _ = carried_on(np.full((3, 5), 5.0))
    np.testing.assert_allclose(curves, 5.0)


def test_a_forecast_says_what_more_judgments_are_worth(found):
    _, forecast = found
    table = forecast.table
    assert table.judgments.tolist() == [1500, 2250, 3000, 6000]
    assert table.times.tolist() == [1.0, 1.5, 2.0, 4.0]
    assert len(forecast.runs) == 15
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
