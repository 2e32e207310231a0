from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection

import pyrovice as pv
from pyrovice.storage.archive import pack
from pyrovice.sweeps.result import BY_JUDGMENT, SCORE, Result, Sweep


def drawn(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def boxes(artists, renderer):
    return [a.get_window_extent(renderer) for a in artists if a.get_visible() and a.get_text()]


def inside(figure, box):
    page = figure.bbox
    return box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1


def test_dimensions_show_the_top_objects(small_fit):
    figure = pv.plot.dimensions(small_fit, k=5)
    renderer = drawn(figure)
    panels = figure.axes
    assert len(panels) == small_fit.n_dimensions
    for dim, panel in enumerate(panels, start=1):
        names = [label.get_text() for label in panel.get_yticklabels()]
        assert names == small_fit.top_objects(5)[dim].tolist()
        widths = [bar.get_width() for bar in panel.patches]
        np.testing.assert_allclose(widths, small_fit.embedding()[dim][names])
        labels = boxes(panel.get_yticklabels(), renderer)
        assert not any(a.overlaps(b) for a, b in pairwise(labels))
        title = panel.get_title(loc="left")
        assert title.startswith(f"dimension {dim} (")
        assert all(inside(figure, box) for box in labels)
        assert inside(figure, panel._left_title.get_window_extent(renderer))


def test_convergence_shows_the_history(small_fit):
    figure = pv.plot.convergence(small_fit)
    drawn(figure)
    above, below = figure.axes
    np.testing.assert_allclose(above.lines[0].get_ydata(), small_fit.history.loss)
    np.testing.assert_allclose(below.lines[0].get_ydata(), small_fit.history.dimensions)
    last = len(small_fit.history)
    ending = f"settled at {small_fit.n_dimensions} after {last:,} epochs"
    assert [t.get_text() for t in below.texts] == [ending]
    assert all(panel.lines[-1].get_xdata() == [last - 1] * 2 for panel in figure.axes)


def test_nothing_to_draw(small_fit):
    with pytest.raises(pv.PyroviceError, match="kept no dimension"):
        pv.plot.dimensions(small_fit._select(np.array([], dtype=int)))


def test_notebooks_show_figures_by_themselves(small_fit):
    assert pv.plot.convergence(small_fit)._repr_png_().startswith(b"\x89PNG")


def made_up_sweep(priors, scores, dimensions, seeds=3):
    results = [
        Result(prior, seed, b"", {SCORE: score + 0.001 * seed, "dimensions": count + seed % 2})
        for prior, score, count in zip(priors, scores, dimensions, strict=True)
        for seed in range(seeds)
    ]
    return Sweep(tuple(priors), tuple(range(seeds)), tuple(results))


def test_the_grid_shows_every_prior_and_marks_the_best():
    priors = pv.priors.paper_grid()
    scores = [0.8 + 0.01 * i for i in range(180)]
    sweep = made_up_sweep(priors, scores, [9] * 180)
    figure = pv.plot.prior_grid(sweep)
    renderer = drawn(figure)
    panels = figure.axes[:-1]
    assert [panel.get_title() for panel in panels] == [f"π = {i / 10}" for i in range(1, 10)]
    shown = np.concatenate([panel.images[0].get_array().compressed() for panel in panels])
    worse = sweep.summary[SCORE].sort_values() - sweep.summary[SCORE].min()
    np.testing.assert_allclose(np.sort(shown), worse.to_numpy())
    marked = [panel.get_title() for panel in panels if panel.collections]
    assert marked == ["π = 0.1"]
    assert panels[0].collections[-1].get_offsets().tolist() == [[0, 0]]
    assert all(inside(figure, box) for p in panels for box in boxes(p.get_yticklabels(), renderer))


def test_small_differences_between_priors_look_small():
    priors = [pv.SpikeSlab(pi=pi) for pi in (0.3, 0.5, 0.7)]
    rng = np.random.default_rng(0)
    noise = [np.zeros(400), *(rng.normal(0, spread, 400) for spread in (0.01, 0.3))]
    for step, span in ((0.0002, 4 * 0.3 / 20), (0.3, 0.54)):
        terms = [-0.8 - i * step - each + each.mean() for i, each in enumerate(noise)]
        results = [
            Result(
                prior,
                0,
                pack({}, {f"beside/{BY_JUDGMENT}": term}),
                {SCORE: -term.mean(), "dimensions": 5},
            )
            for prior, term in zip(priors, terms, strict=True)
        ]
        sweep = Sweep(tuple(priors), (0,), tuple(results))
        figure = pv.plot.prior_grid(sweep)
        errors = sweep.summary.paired_error.to_numpy()
        middle = np.median(errors[1:])
        expected = max(0.02, 4 * middle, sweep.summary.behind.quantile(0.9))
        assert figure.axes[0].images[0].get_clim() == pytest.approx((0, expected))
        assert expected == pytest.approx(span, rel=0.6)
        dots = [len(panel.collections) > 0 for panel in figure.axes[:3]]
        assert dots == [True, errors[1] > 0.0002 and step < 0.1, 2 * step < errors[2]]


def test_no_grid_to_draw():
    with pytest.raises(pv.PyroviceError, match="no SpikeSlab priors"):
        pv.plot.prior_grid(made_up_sweep([pv.ARD()], [0.8], [5]))
    both = [pv.SpikeSlab(), pv.SpikeSlab(family="laplace")]
    with pytest.raises(pv.PyroviceError, match="two families"):
        pv.plot.prior_grid(made_up_sweep(both, [0.8, 0.9], [5, 5]))


def test_dimensions_by_seed_come_best_first():
    priors = [pv.SpikeSlab(), pv.ARD(), pv.SpikeSlab(pi=0.9)]
    figure = pv.plot.dimensions_by_seed(made_up_sweep(priors, [0.9, 0.8, 0.7], [5, 6, 7]), most=2)
    renderer = drawn(figure)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["SpikeSlab(spike=0.25, slab=1.0, pi=0.9)", "ARD(scale=0.5)"]
    scatters = [c for c in axes.collections if isinstance(c, PathCollection)]
    dots = np.concatenate([scatter.get_offsets() for scatter in scatters])
    assert sorted(dots[:, 0]) == [6, 6, 7, 7, 7, 8]
    assert all(inside(figure, box) for box in boxes(axes.get_yticklabels(), renderer))
    assert all(inside(figure, text.get_window_extent(renderer)) for text in axes.texts)
    failed = Sweep((pv.ARD(),), (0,), (Result(pv.ARD(), 0, error="Oh: no"),))
    with pytest.raises(pv.PyroviceError, match="nothing to draw"):
        pv.plot.dimensions_by_seed(failed)
