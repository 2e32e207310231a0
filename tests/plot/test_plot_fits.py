"""Figures of one fit, at three sizes."""

import dataclasses
from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pyro.distributions as dist
import pytest
from helpers.fits import made_up
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from scipy import stats

import pyrovice as pv
from pyrovice.plot.density_curve import prior_density
from pyrovice.plot.embedding_map import in_groups
from pyrovice.plot.images import Images
from pyrovice.plot.labels import label, labels
from pyrovice.plot.similarity_map import clustered
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import DrawnWeights, PointWeights

FIGURES = {
    "convergence": pv.plot.convergence,
    "dimensions": pv.plot.dimensions,
    "words": lambda fit, ax=None: pv.plot.dimensions(
        fit, 5, which=fit.embedding().columns[:2], words=True, ax=ax
    ),
    "embedding": pv.plot.embedding,
    "importance": pv.plot.importance,
    "histograms": pv.plot.histograms,
    "similarity": pv.plot.similarity,
    "object_profile": lambda fit, ax=None: pv.plot.object_profile(fit, fit.names[0], ax=ax),
    "triplet": lambda fit, ax=None: pv.plot.triplet(fit, *fit.names[:3], ax=ax),
}


def coded(fit):
    """The same objects under long codes that differ in the middle, and dimensions with names."""
    codes = (f"stimuli/set_{i % 3}/face_{i:04d}_neutral_v2.jpg" for i in range(len(fit.names)))
    long = "a dimension whose name takes much more room than there is"
    return dataclasses.replace(fit, names=tuple(codes)).label({1: "round and soft", 3: long})


@pytest.fixture(scope="module", params=[(12, 3), (36, 5), (100, 7), (1854, 42)], ids=str)
def fit(request, small_fit):
    made = made_up(small_fit, *request.param)
    return coded(made) if len(made.names) == 36 else made


def drawn(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def texts_of(figure, renderer):
    """All that is written in a figure, with the boxes around it."""
    found = [
        (text, text.get_window_extent(renderer))
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_text().strip() and text.get_visible()
    ]
    # Ticks beyond the limits of their axis exist, but are not drawn.
    hidden = {
        tick
        for axes in figure.axes
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
        for tick, place in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=False)
        if not min(low, high) <= place <= max(low, high) or not axes.axison
    }
    return [(text, box.padded(-0.5)) for text, box in found if text not in hidden]


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_off_the_page(fit, name):
    if len(fit.names) > 100 and name in ("similarity", "dimensions", "histograms"):
        pytest.skip("the same layout as at 100 objects, and slow; see the slow test")
    figure = FIGURES[name](fit)
    assert isinstance(figure, Figure)
    renderer = drawn(figure)
    texts = texts_of(figure, renderer)
    # A cloud of words is made of shapes.
    assert texts
    for text, box in texts:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    for (one, a), (other, b) in combinations(texts, 2):
        assert not a.overlaps(b), (one, other)


@pytest.mark.parametrize("name", ["embedding", "similarity", "importance"])
@pytest.mark.parametrize("size", [(12, 3), (1200, 31)], ids=str)
def test_names_of_few_objects_and_of_many_dimensions_have_room(small_fit, name, size):
    if name == "similarity" and size[0] > 12:
        pytest.skip("knows no dimensions")
    figure = FIGURES[name](coded(made_up(small_fit, *size)))
    texts = texts_of(figure, drawn(figure))
    for text, box in texts:
        assert box.x0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
    for (one, a), (other, b) in combinations(texts, 2):
        assert not a.overlaps(b), (one, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["similarity", "dimensions", "histograms"])
def test_large_figures(small_fit, name):
    figure = FIGURES[name](made_up(small_fit, 1854, 42))
    texts = texts_of(figure, drawn(figure))
    for (one, a), (other, b) in combinations(texts, 2):
        assert not a.overlaps(b), (one, other)


@pytest.mark.parametrize("name", FIGURES)
def test_axes_that_were_given_are_drawn_on(small_fit, name):
    figure = Figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_axis_off()
    assert FIGURES[name](made_up(small_fit, 12, 3), ax=right) is figure
    assert not left.has_data()
    assert any(axes.has_data() for axes in figure.axes)
    renderer = drawn(figure)
    texts = texts_of(figure, renderer)
    for text, box in texts:
        assert box.x0 > left.bbox.x1 - 5, text
    for (one, a), (other, b) in combinations(texts, 2):
        assert not a.overlaps(b), (one, other)


def test_no_name_is_a_formula():
    assert labels(["10 $"]) == {"10 $": r"10 \$"}


def test_several_panels_need_a_place_in_a_grid(small_fit):
    axes = Figure().add_axes((0, 0, 1, 1))
    with pytest.raises(pv.PyroviceError, match="no place in a grid"):
        pv.plot.convergence(small_fit, ax=axes)


def test_all_of_a_hundred_objects_are_named_and_some_of_many(small_fit):
    hundred = made_up(small_fit, 100, 7)
    for draw in (pv.plot.embedding, pv.plot.similarity):
        shown = [t.get_text() for t in draw(hundred).axes[0].get_yticklabels()]
        assert sorted(shown) == sorted(hundred.names)
    many = made_up(small_fit, 500, 7)
    ordered = in_groups(many.embedding())
    shown = [t.get_text() for t in pv.plot.embedding(many).axes[0].get_yticklabels()]
    strongest = [many.embedding().loc[name].idxmax() for name in shown]
    assert strongest == sorted(set(strongest))
    assert shown[0] == ordered.index[0] == many.embedding()[1].idxmax()


def test_the_heat_map_shows_the_weights_in_groups(small_fit):
    weights = small_fit.embedding()
    (image,) = pv.plot.embedding(small_fit).axes[0].images
    np.testing.assert_array_equal(image.get_array(), in_groups(weights))
    groups = in_groups(weights).to_numpy().argmax(axis=1)
    assert (np.diff(groups) >= 0).all()


def test_clusters_stand_together():
    group = np.array([0, 1, 2] * 5)
    alike = np.where(group[:, None] == group, 0.9, 0.1)
    np.fill_diagonal(alike, np.nan)
    assert (np.diff(group[clustered(alike)]) != 0).sum() == 2


def test_similarity_shows_what_fit_similarity_says(small_fit):
    axes = pv.plot.similarity(small_fit).axes[0]
    names = [t.get_text() for t in axes.get_yticklabels()]
    expected = small_fit.similarity(draws=10).loc[names, names]
    np.testing.assert_allclose(axes.images[0].get_array().filled(np.nan), expected)


def test_importance_tells_kept_from_dropped(small_fit):
    figure = pv.plot.importance(small_fit)
    kept, *rest = figure.axes[0].containers
    assert [bar.get_height() for bar in kept] == small_fit.importance()[
        small_fit.embedding().columns
    ].tolist()
    assert sum(map(len, rest)) == len(small_fit.importance()) - small_fit.n_dimensions
    point = dataclasses.replace(
        small_fit, posterior=Posterior(PointWeights(small_fit.posterior.loc()))
    )
    assert pv.plot.importance(point).axes[0].get_ylabel() == "largest weight"


def test_bars_and_prior_have_the_share_of_positive_weights_as_their_area(small_fit):
    weights = small_fit.embedding()
    for dim, panel in enumerate(pv.plot.histograms(small_fit).axes, start=1):
        area = sum(bar.get_height() * bar.get_width() for bar in panel.patches)
        assert area == pytest.approx((weights[dim] > 0).mean())
        x, y = panel.lines[0].get_data()
        expected = 0.5 * stats.norm.pdf(x, 0, 0.25) + 0.5 * stats.norm.pdf(x, 0, 1)
        np.testing.assert_allclose(y, expected, rtol=1e-4)
        assert "prior 50%" in panel.get_title(loc="left")


GRID = np.linspace(0.05, 3, 60)


@pytest.mark.parametrize(
    ("prior", "expected", "zero"),
    [
        (dist.Laplace(0.0, 0.3), stats.laplace(0, 0.3).pdf(GRID), 0.5),
        (dist.Exponential(2.0), stats.expon(scale=0.5).pdf(GRID), 0.0),
        (dist.Gamma(2.0, 3.0), stats.gamma(2, scale=1 / 3).pdf(GRID), 0.0),
    ],
    ids=str,
)
def test_density_of_any_prior(small_fit, prior, expected, zero):
    fit = dataclasses.replace(small_fit, prior=prior, model=pv.Model(prior, 20, 6))
    density, below = prior_density(fit, GRID)
    d = fit.posterior.shape[1]
    np.testing.assert_allclose(density, np.tile(expected[:, None], d), rtol=1e-4)
    np.testing.assert_allclose(below, zero, atol=1e-6)


def test_density_of_a_learned_prior(small):
    quick = pv.Training(stop=pv.MaxEpochs(30))
    with pytest.warns(pv.PyroviceWarning, match="All 4 dimensions were kept"):
        fit = pv.fit(small, prior=pv.ARD(), dimensions=4, training=quick, progress=False)
    scale = fit.posterior.others["scale"].pooled
    chosen = scale[np.linspace(0, len(scale) - 1, 50).astype(int)]
    density, below = prior_density(fit, GRID)
    expected = stats.norm.pdf(GRID[:, None, None], 0, chosen).mean(axis=1)
    np.testing.assert_allclose(density, expected, rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(below, 0.5, atol=1e-6)


def test_a_profile_has_the_quantiles_of_the_posterior(small_fit):
    axes = pv.plot.object_profile(small_fit, "3").axes[0]
    mu, sigma = (a[3] for a in (small_fit.posterior.weights.mu, small_fit.posterior.weights.sigma))
    order = [int(t.get_text().split(":")[0]) - 1 for t in axes.get_yticklabels()]
    np.testing.assert_allclose(
        [bar.get_width() for bar in axes.patches], np.maximum(mu, 0)[order], rtol=1e-6
    )
    assert np.all(np.diff(np.maximum(mu, 0)[order]) <= 0)
    (lines,) = axes.collections
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    expected = np.maximum(stats.norm.ppf([[0.05], [0.95]], mu, sigma), 0).T[order]
    np.testing.assert_allclose(ends, expected, atol=1e-5)


def test_a_triplet_shows_what_is_predicted(small_fit):
    figure = pv.plot.triplet(small_fit, "4", "7", "9")
    axes = figure.axes[0]
    p = small_fit.predict(pv.Triplets([[4, 7, 9]], [0], names=small_fit.names), draws=100)[0]
    shown = [float(text.get_text().split()[0]) for text in axes.texts]
    np.testing.assert_allclose(shown, p, atol=0.0051)
    assert axes.get_title(loc="left") == (
        f"odd one: {['4', '7', '9'][p.argmax()]} ({p.max():.0%})".replace("%", " %")
    )
    X = small_fit.draws(100, seed=0)
    similarity = [(X[:, i] * X[:, j]).sum(axis=1).mean() for i, j in ((7, 9), (4, 9), (4, 7))]
    lengths = np.sum([[bar.get_width() for bar in c] for c in axes.containers], axis=0)
    np.testing.assert_allclose(lengths, similarity, rtol=1e-5)
    with pytest.raises(pv.PyroviceError, match="not three different objects"):
        pv.plot.triplet(small_fit, "4", "4", "9")


def test_unknown_names_get_those_that_sound_alike(small_fit):
    named = dataclasses.replace(small_fit, names=("Cat", "cart", *map(str, range(18))))
    with pytest.raises(pv.PyroviceError, match="'cat'; did you mean 'Cat' or 'cart'"):
        pv.plot.object_profile(named, "cat")
    with pytest.raises(pv.PyroviceError, match=r"fit\.names has all 20: 'Cat', 'cart', '0'"):
        pv.plot.triplet(named, "Cat", "cart", "helicopter")
    codes = tuple(f"stimulus_{i}_v2.jpg" for i in (*range(18), "cart", "owl"))
    with pytest.raises(pv.PyroviceError, match=r"did you mean 'stimulus_owl_v2\.jpg'"):
        pv.plot.object_profile(dataclasses.replace(small_fit, names=codes), "Owl")


def test_names_are_not_taken_for_formulas(small_fit):
    odd = ("$x^2$", "a_b", "\\frac{1", "two\nlines", "<b>", *map(str, range(15)))
    named = dataclasses.replace(small_fit, names=odd)
    for name, draw in FIGURES.items():
        assert drawn(draw(named)), name
    figure = pv.plot.object_profile(named, "$x^2$")
    drawn(figure)
    assert figure.axes[0].get_title(loc="left") == r"\$x^2\$"
    assert len(label("x" * 99)) == 28


def test_pictures_are_found_by_name(small_fit, tmp_path):
    named = dataclasses.replace(
        small_fit, names=("Ice cream", "cat", *(f"o{i}" for i in range(18)))
    )
    (tmp_path / "cat").mkdir()
    Image.new("RGB", (30, 60), "red").save(tmp_path / "cat" / "cat_01.png")
    Image.new("L", (50, 20), 255).save(tmp_path / "ice_cream.jpg")
    figure = pv.plot.dimensions(named, 20, which=[1], images=tmp_path)
    drawn(figure)
    shown = [axes.images[0].get_array()[0, 0].tolist() for axes in figure.axes if axes.images]
    assert sorted(shown) == [[255, 0, 0], [255, 255, 255]]
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sorted(words) == sorted(named.names[2:])
    (tmp_path / "o3.png").write_text("no picture")
    with pytest.raises(pv.DataError, match=r"o3\.png is not a picture"):
        pv.plot.dimensions(named, 20, images=tmp_path)


def test_pictures_are_whole_with_name_and_weight(small_fit, tmp_path):
    Image.new("RGB", (60, 30), "red").save(tmp_path / "7.png")
    figure = pv.plot.dimensions(small_fit, 20, which=[2], images=tmp_path)
    (panel,) = [axes for axes in figure.axes if axes.images]
    height, width = panel.images[0].get_array().shape[:2]
    assert (width, height) == (400, 200)
    # In the middle of a square.
    assert panel.get_xlim() == (0, 400)
    assert panel.get_ylim() == (300, -100)
    assert panel.get_xlabel() == f"7\n{small_fit.embedding().loc['7', 2]:.2f}"


def test_titles_are_closer_to_their_own_pictures(small_fit, tmp_path):
    for name in small_fit.names:
        Image.new("RGB", (30, 30), "red").save(tmp_path / f"{name}.png")
    figure = pv.plot.dimensions(small_fit, 4, which=[1, 2], images=tmp_path)
    canvas = drawn(figure)
    above, below = figure.axes[0], figure.axes[4]
    title = below.figure._suptitle.get_window_extent(canvas)
    to_own = title.y0 - below.get_window_extent(canvas).y1
    to_others = above.xaxis.label.get_window_extent(canvas).y0 - title.y1
    assert 0 < to_own < to_others


def test_two_fits_side_by_side(small_fit):
    fewer = dataclasses.replace(small_fit._select(np.array([2, 0])), pruned=True)
    figure = pv.plot.side_by_side(small_fit.label({1: "round"}), fewer, titles=("a", "b"))
    drawn(figure)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:2] == ["a: round", "b: dimension 2, r = 1.00"]
    assert titles[4:6] == ["a: dimension 3", "b: dimension 1, r = 1.00"]
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["b: no match"]
    assert len(pv.plot.side_by_side(fewer, small_fit).axes) == 6
    some = pv.plot.side_by_side(fewer, small_fit.label({1: "round"}), which=[2])
    assert [axes.get_title(loc="left") for axes in some.axes] == [
        "first: dimension 2",
        "second: round, r = 1.00",
    ]
    assert some.get_figheight() < figure.get_figheight() / 2
    with pytest.raises(pv.PyroviceError, match=r"which=\[3\]; expected some of .*: 1, 2\."):
        pv.plot.side_by_side(fewer, small_fit, which=[3])
    other = dataclasses.replace(small_fit, names=tuple("abcdefghijklmnopqrst"))
    with pytest.raises(pv.PyroviceError, match="of other objects"):
        pv.plot.side_by_side(small_fit, other)


def test_letters_stay_letters_in_vector_formats(small_fit, tmp_path):
    figure = pv.plot.importance(small_fit)
    figure.savefig(tmp_path / "a.svg")
    assert ">dimension</text>" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    figure.savefig(tmp_path / "a.pdf")
    assert b"/FontFile2" in (tmp_path / "a.pdf").read_bytes()


def test_a_folder_without_pictures(small_fit, tmp_path):
    with pytest.raises(pv.DataError, match=r"Expected files such as 0\.jpg"):
        pv.plot.dimensions(small_fit, images=tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        pv.plot.dimensions(small_fit, images=tmp_path / "none")


def test_objects_called_as_their_pictures_are(tmp_path):
    Image.new("RGB", (4, 4), "red").save(tmp_path / "face 1.JPG", "JPEG")
    images = Images(tmp_path, ["face 1.jpg", "face 2.jpg"])
    assert images.of("face 1.jpg") is not None
    assert images.of("face 2.jpg") is None
    with pytest.raises(pv.PyroviceError, match=r"such as b\.jpg, or folders called b "):
        Images(tmp_path, ["b.png"])


def test_titles_side_by_side_are_within_the_figure(small_fit):
    named = coded(made_up(small_fit, 36, 5))
    figure = pv.plot.side_by_side(named, named, k=3, titles=("the first of two", "the second"))
    canvas = drawn(figure)
    whole = figure.bbox
    for axes in figure.axes:
        left = axes._left_title.get_window_extent(canvas)
        assert left.x1 <= whole.x1
        assert left.y1 <= whole.y1


def test_counts_of_objects_have_whole_ticks(small_fit):
    figure = pv.plot.importance(made_up(small_fit, 20, 3))
    ticks = figure.axes[0].get_yticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_words_keep_apart_and_grow_with_their_weights(small_fit):
    figure = pv.plot.dimensions(small_fit, words=True)
    renderer = drawn(figure)
    for dim, panel in enumerate(figure.axes, start=1):
        boxes = [word.get_window_extent(renderer) for word in panel.patches]
        assert len(boxes) == (small_fit.embedding()[dim] > 0).sum()
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_importance_is_written_out(small_fit):
    many = made_up(small_fit, 1854, 2)
    many.posterior.weights.mu[:1300, 0] = 2.0
    title = pv.plot.dimensions(many, which=[1]).axes[0].get_title(loc="left")
    assert title == f"dimension 1 ({many.importance()[1]:,} objects)"
    assert "," in title


def test_some_dimensions_only(small_fit):
    titles = [a.get_title(loc="left") for a in pv.plot.dimensions(small_fit, which=[3, 1]).axes]
    assert [title.split(" (")[0] for title in titles] == ["dimension 3", "dimension 1"]
    with pytest.raises(pv.PyroviceError, match=r"which=\[9\]; expected some of .* 1, 2, 3"):
        pv.plot.histograms(small_fit, which=[9])


def test_what_cannot_be_drawn(small_fit):
    empty = small_fit._select(np.array([], dtype=int))
    for draw in (pv.plot.embedding, pv.plot.histograms, pv.plot.importance):
        with pytest.raises(pv.PyroviceError, match="nothing to draw"):
            draw(empty)
    drawn = Posterior(DrawnWeights(small_fit.draws(9, 0)[None]), from_chains=True)
    sampled = dataclasses.replace(small_fit, posterior=drawn)
    with pytest.raises(pv.PyroviceError, match="sampled, not trained"):
        pv.plot.convergence(sampled)
    with pytest.raises(pv.PyroviceError, match="either images"):
        pv.plot.dimensions(small_fit, images=".", words=True)
    with pytest.raises(pv.PyroviceError, match="k=0"):
        pv.plot.dimensions(small_fit, 0)
