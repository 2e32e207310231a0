"""Figures of the science around a fit."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy import stats

import pyrovice as pv
from pyrovice.results.calibration import calibrate
from pyrovice.results.prediction import draw_answers


def drawn(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for axes in figure.axes:
        for text in (axes._left_title, axes.xaxis.label, axes.yaxis.label):
            box = text.get_window_extent(renderer)
            assert box.x0 >= -1
            assert box.x1 <= figure.bbox.x1 + 1
    return figure


def test_calibration_shows_its_table():
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 500)
    odd = draw_answers(p, np.random.default_rng(1))
    found = calibrate(p, pv.Triplets(np.tile([0, 1, 2], (500, 1)), odd))
    above, below = drawn(pv.plot.calibration(found)).axes
    points = above.lines[1]
    assert list(points.get_xdata()) == found.table.predicted.tolist()
    assert list(points.get_ydata()) == found.table.observed.tolist()
    (bars,) = above.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()], dtype=float)
    np.testing.assert_allclose(ends, found.table[["low", "high"]])
    assert [bar.get_height() for bar in below.patches] == found.table.n.tolist()


def test_reproducibility_shows_every_dimension():
    X = sparse_embedding(40, 4, seed=0)
    found = pv.reproducibility([X, X[:, ::-1], X[:, :3]])
    left, right = drawn(pv.plot.reproducibility(found)).axes
    good, bad = (line.get_ydata() for line in left.lines[:2])
    assert len(good) == found.table.reproducible.sum()
    assert len(good) + len(bad) == 11
    heights = [bar.get_height() for bar in right.patches]
    np.testing.assert_allclose(heights, found.by_model.score)
    assert [text.get_text() for text in right.texts] == ["4", "4", "3"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["1", "2", "3"]


def test_fits_and_what_was_found_of_them_give_the_same_figures(small, small_fit):
    fits = [small_fit, small_fit]
    one = pv.plot.reproducibility(fits).axes[0].lines[0]
    same = pv.plot.reproducibility(pv.reproducibility(fits)).axes[0].lines[0]
    assert list(one.get_ydata()) == list(same.get_ydata())
    one = pv.plot.calibration(small_fit, small).axes[0].lines[1]
    same = pv.plot.calibration(small_fit.calibration(small)).axes[0].lines[1]
    assert list(one.get_ydata()) == list(same.get_ydata())
    with pytest.raises(pv.PyroviceError, match=r"pv.plot.calibration\(fit, data\)"):
        pv.plot.calibration(small_fit)


def test_all_take_axes(small, small_fit):
    truth = sparse_embedding(15, 2, seed=0)
    data = pv.simulate(truth, 800, seed=0)
    runs = pd.DataFrame({"judgments": [100, 200], "accuracy": [0.5, 0.6], "dimensions": [2, 3]})
    figure = Figure(figsize=(24, 12), layout="constrained")
    grid = figure.subplots(2, 4).ravel()
    panels = iter(grid)
    for made in (
        pv.plot.calibration(small_fit, small, ax=next(panels)),
        pv.plot.reproducibility([truth, truth], ax=next(panels)),
        pv.plot.quantization(pv.bounds.generalization(truth, data), ax=next(panels)),
        pv.plot.data_efficiency(runs, ["accuracy", "dimensions"], ax=next(panels)),
        pv.plot.coverage(data, ax=next(panels)),
        pv.plot.prior_predictive(pv.priors.predictive(pv.SpikeSlab(), (20, 3)), ax=next(panels)),
    ):
        assert made is figure
    assert not any(axes.has_data() for axes in grid[6:])
    assert sum(axes.has_data() for axes in figure.axes) == 12
    drawn(figure)


def test_anchored_judgments_have_no_empty_place():
    data = pv.simulate(sparse_embedding(12, 2, seed=0), 300, seed=0)
    places = pd.DataFrame({"position": np.arange(300) % 2 + 2})
    anchored = pv.Triplets(data.objects, data.odd, anchor=(data.odd + 1) % 3, trials=places)
    positions = drawn(pv.plot.coverage(anchored)).axes[2]
    assert [tick.get_text() for tick in positions.get_xticklabels()] == ["2", "3"]
    assert [bar.get_height() for bar in positions.patches[:2]] == [0.5, 0.5]
    # Chance is one of two.
    assert positions.lines[0].get_ydata() == [0.5, 0.5]
    mixed = pv.Triplets.concat([anchored, pv.Triplets(data.objects, data.odd, trials=places)])
    assert len(pv.plot.coverage(mixed).axes[2].get_xticklabels()) == 3


def test_a_bound_beyond_guessing_is_not_stated_and_the_legend_hides_no_line():
    truth = sparse_embedding(60, 6, seed=0)
    bound = pv.bounds.generalization(truth, pv.simulate(truth, 300, seed=0))
    assert bound.value > bound.guessing
    figure = pv.plot.quantization(bound)
    drawn(figure)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "too few judgments\nfor a bound below guessing"
    assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0


def test_quantization_shows_errors_and_bound():
    truth = sparse_embedding(15, 2, seed=0)
    data = pv.simulate(truth, 800, seed=0)
    bound = pv.bounds.generalization(truth, data, test=data[:200])
    (axes,) = drawn(pv.plot.quantization(bound)).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(lines["bound"], bound.table.bound)
    np.testing.assert_allclose(lines["test error"], bound.table.test_error)
    np.testing.assert_allclose(lines["training error"], bound.table.training_error)
    without = pv.bounds.generalization(truth, data)
    assert "test error" not in {
        line.get_label() for line in drawn(pv.plot.quantization(without)).axes[0].lines
    }


def test_data_efficiency_shows_means_and_intervals():
    rng = np.random.default_rng(0)
    runs = pd.DataFrame(
        [
            {"model": model, "judgments": n, "accuracy": rng.random(), "dimensions": 3}
            for model in ("VICE", "SPoSE")
            for n in (100, 1000)
            for _ in range(4)
        ]
    )
    figure = drawn(pv.plot.data_efficiency(runs, ["accuracy", "dimensions"]))
    axes = figure.axes[0]
    assert [line.get_label() for line in axes.lines] == ["VICE", "SPoSE"]
    first = runs[(runs.model == "VICE") & (runs.judgments == 100)].accuracy
    assert axes.lines[0].get_ydata()[0] == pytest.approx(first.mean())
    low, high = stats.t.interval(0.95, 3, first.mean(), stats.sem(first))
    corners = axes.collections[0].get_paths()[0].vertices
    at_first = corners[corners[:, 0] == 100, 1]
    assert (at_first.min(), at_first.max()) == pytest.approx((low, high))
    with pytest.raises(pv.PyroviceError, match="no column 'kl_divergence'"):
        pv.plot.data_efficiency(runs)


def test_data_efficiency_forgets_no_model():
    runs = pd.DataFrame({"model": list("abcdefg"), "judgments": [100] * 7, "accuracy": [0.5] * 7})
    (legend,) = pv.plot.data_efficiency(runs, ["accuracy"]).legends
    assert [text.get_text() for text in legend.get_texts()] == list("abcdefg")


def test_legends_stand_above_the_curves():
    runs = pd.DataFrame(
        {"model": ["VICE", "SPoSE"] * 2, "judgments": [100, 100, 200, 200], "accuracy": 0.5,
         "dimensions": [6, 6, 7, 7]}
    )  # fmt: skip
    ends = {f"{m}{end}": [1.0, 0.9] for m in ("nats", "accuracy", "dimensions")
            for end in ("", "_low", "_high")}  # fmt: skip
    parts = pd.DataFrame(
        {"resample": 0, "judgments": [500, 900], "nats": 1.0, "accuracy": 0.4, "dimensions": 2}
    )
    found = pv.Forecast(pd.DataFrame({"judgments": [1000, 2000], **ends}), parts, 1000, 0.8)
    efficiency = pv.plot.data_efficiency(runs, ["accuracy", "dimensions"])
    for figure in (efficiency, pv.plot.forecast(found)):
        drawn(figure)
        (legend,) = figure.legends
        below = legend.get_window_extent().y0
        assert all(axes.get_window_extent().y1 <= below for axes in figure.axes)
    # Nobody has six and a half dimensions.
    for axes in (efficiency.axes[1], pv.plot.forecast(found).axes[2]):
        assert all(float(tick).is_integer() for tick in axes.get_yticks())


def test_a_count_that_does_not_change_is_a_flat_line():
    same = {f"{m}{end}": 7.0 for m in ("nats", "accuracy", "dimensions")
            for end in ("", "_low", "_high")}  # fmt: skip
    table = pd.DataFrame({"judgments": [1000, 2000], **same, "dimensions_low": [7.0, 6.9995]})
    parts = pd.DataFrame(
        {"resample": 0, "judgments": [500, 900], "nats": 1.0, "accuracy": 0.4, "dimensions": 7}
    )
    low, high = pv.plot.forecast(pv.Forecast(table, parts, 1000, 0.8)).axes[2].get_ylim()
    assert high - low >= 1.9
