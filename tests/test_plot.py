from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import pyrovice as pv


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
    for dim, panel in enumerate(panels):
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
    assert f"settled at {small_fit.n_dimensions}" in [t.get_text() for t in below.texts]


def test_nothing_to_draw(small_fit):
    with pytest.raises(pv.PyroviceError, match="kept no dimension"):
        pv.plot.dimensions(small_fit._select(np.array([], dtype=int)))


def test_notebooks_show_figures_by_themselves(small_fit):
    assert pv.plot.convergence(small_fit)._repr_png_().startswith(b"\x89PNG")
