"""What more judgments would give."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.criticism.forecasting import _carried_on, _with_interval

SHORT = pv.Training(schedule=pv.Anneal(steps=150), stop=pv.MaxEpochs(150))


@pytest.fixture(scope="module")
def found(small, small_fit):
    import dataclasses

    short = dataclasses.replace(small_fit, training=SHORT, first_dimensions=4)
    part = small.subset(1500, seed=0)
    return part, pv.forecast(short, part, resamples=3)


def test_a_power_law_is_carried_on_exactly():
    n = np.array([200.0, 400, 800, 1600, 3200])
    ahead = np.array([3200, 6400, 12800])
    y = 0.8 + 30 * n**-0.7
    values, floor = _carried_on(n, y, ahead)
    np.testing.assert_allclose(values, 0.8 + 30 * ahead**-0.7, atol=2e-4)
    assert floor == pytest.approx(0.8, abs=2e-3)
    rising, limit = _carried_on(n, 0.7 - 5 * n**-0.5, ahead)
    np.testing.assert_allclose(rising, 0.7 - 5 * ahead**-0.5, atol=2e-4)
    assert limit == pytest.approx(0.7, abs=2e-3)


def test_what_does_not_change_stays():
    values, floor = _carried_on(np.array([1.0, 2, 3]), np.full(3, 5.0), np.array([6, 12]))
    np.testing.assert_allclose(values, 5.0)
    assert floor <= 5.0


def test_the_interval_holds_the_middle_and_is_wider_for_few_resamples():
    ahead = np.random.default_rng(0).normal(size=(200, 1))
    _, low, high = _with_interval(ahead)
    assert low[0] == pytest.approx(-1.28, abs=0.2)
    assert high[0] == pytest.approx(1.28, abs=0.2)
    few = _with_interval(np.array([[0.0], [1.0]]))
    assert few[1][0] < 0.1
    assert few[2][0] > 0.9


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
    worth = table.nats[0] - table.nats[1]
    assert f"750 more are worth {worth:.4f} nats" in said.replace("\n", " ")


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
