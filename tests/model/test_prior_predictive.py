import random
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.stats import norm

import pyrovice as pv
from pyrovice import SpikeSlab
from pyrovice.model.priors import predictive
from pyrovice.model.simulation import random_triplets

M, D = 12, 3
# Some weights are negative, so that the rectifier has something to do.
FIXED = sparse_embedding(M, D, seed=3) - 0.5


def fixed(n_objects, dimensions):
    """A prior that is sure of one embedding."""
    with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
        return pyro.sample("X", dist.Delta(torch.tensor(FIXED)))


def always(X):
    """A prior that knows X."""

    def prior(n_objects, dimensions):
        return pyro.deterministic("X", torch.as_tensor(X))

    return prior


def all_zero(n_objects, dimensions):
    return pyro.deterministic("X", torch.zeros(n_objects, dimensions))


def reference(X, objects, anchor=None):
    """Choice probabilities, in the plainest way."""
    X = np.maximum(X, 0)
    p = np.zeros((len(objects), 3))
    for row, (i, j, k) in enumerate(objects):
        p[row] = np.exp([X[j] @ X[k], X[i] @ X[k], X[i] @ X[j]])
        if anchor is not None and anchor[row] >= 0:
            p[row, anchor[row]] = 0
        p[row] /= p[row].sum()
    return p


def entropy(p):
    return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1)


def judgments(n=40, seed=0):
    """Every third judgment is anchored."""
    rng = np.random.default_rng(seed)
    odd = rng.integers(0, 3, n)
    anchor = np.where(np.arange(n) % 3 == 0, (odd + 1) % 3, -1)
    return pv.Triplets(
        random_triplets(M, n, rng), odd, anchor=anchor, names=[f"thing {i}" for i in range(M)]
    )


def test_a_fixed_embedding_gives_the_numbers_of_the_model():
    data = judgments()
    p = reference(FIXED, data.objects, data.anchor)
    got = predictive(fixed, data, dimensions=D, draws=3)
    np.testing.assert_allclose(got.largest, np.tile(p.max(axis=1), (3, 1)), rtol=1e-12)
    np.testing.assert_allclose(got.accuracy, p.max(axis=1).mean(), rtol=1e-12)
    np.testing.assert_allclose(got.entropy, entropy(p).mean(), rtol=1e-12)
    np.testing.assert_allclose(got.zeros, (FIXED <= 0).mean(), rtol=1e-12)
    np.testing.assert_allclose(got.guessing, (14 / 2 + 26 / 3) / 40, rtol=1e-12)
    expected = np.sort(np.maximum(FIXED, 0).ravel())
    np.testing.assert_array_equal(np.sort(got.weights, axis=1), np.tile(expected, (3, 1)))


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_near_certain_choices_are_counted():
    data = judgments(300)
    p = reference(3 * FIXED, data.objects, data.anchor).max(axis=1)
    share = (p > 0.99).mean()
    assert 0.05 < share < 0.95
    got = predictive(always(3 * FIXED), data, dimensions=D, draws=1)
    assert got.near_certain == pytest.approx([share])
    assert got.table().loc["near_certain", "mean"] == pytest.approx(share)


def test_random_triplets_of_a_shape_are_an_unbiased_sample():
    every = np.array([(i, j, k) for k in range(M) for j in range(k) for i in range(j)])
    p = reference(FIXED, every).max(axis=1)
    got = predictive(fixed, (M, D), draws=1, triplets=20_000)
    assert got.accuracy[0] == pytest.approx(p.mean(), abs=4 * p.std() / np.sqrt(20_000))
    assert got.guessing == pytest.approx(1 / 3)
    assert got.agreement is None
    assert got.observed_agreement is None


def test_weights_have_the_distribution_of_the_prior():
    got = predictive(dist.Normal(0.3, 1.0), (50, 10), draws=60, triplets=10)
    assert got.zeros.mean() == pytest.approx(norm.cdf(-0.3), abs=0.01)
    above = norm.cdf(-0.3) + norm.sf(-0.3) * np.array([0.05, 0.5, 0.95])
    quantiles = got.table().loc["weight", ["5%", "50%", "95%"]].to_numpy(float)
    np.testing.assert_allclose(quantiles, norm.ppf(above, 0.3), atol=0.04)


def test_anchored_judgments_have_two_answers():
    data = judgments()
    largest = predictive(SpikeSlab(), data, dimensions=D, draws=20).largest
    assert largest[:, data.anchored].min() >= 0.5
    assert largest[:, ~data.anchored].min() < 0.4


def asked_again(X, times):
    """Sixty questions, each answered so many times by the model itself."""
    once = judgments(60)
    rng = np.random.default_rng(5)
    p = reference(X, once.objects, once.anchor)
    asked = np.repeat(np.arange(60), times)
    odd = np.array([rng.choice(3, p=p[row]) for row in asked])
    return pv.Triplets(once.objects[asked], odd, anchor=once.anchor[asked], names=once.names)


def test_agreement_is_that_of_people_who_answer_by_the_prior():
    data = asked_again(FIXED, 8)
    # A prior that knows X must expect what was observed.
    got = predictive(fixed, data, dimensions=D, draws=400)
    repeats = data.repeats()
    answers = repeats[["odd_1", "odd_2", "odd_3"]].to_numpy()
    observed = (answers.max(axis=1) / repeats.judgments).mean()
    assert got.observed_agreement == pytest.approx(observed)
    assert got.table().loc["agreement", "data"] == pytest.approx(observed)
    assert abs(observed - got.agreement.mean()) < 4 * got.agreement.std()
    # More than the accuracy, which has no majority to choose after the fact.
    assert got.agreement.mean() > got.accuracy.mean() + 0.02


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_a_part_of_the_repeated_questions_keeps_its_answers():
    data = asked_again(3 * FIXED, 8)
    parts = [
        predictive(always(3 * FIXED), data, dimensions=D, triplets=8, seed=seed)
        for seed in range(15)
    ]
    observed = [part.observed_agreement for part in parts]
    assert np.std(observed) > 0.02
    assert np.corrcoef(observed, [part.agreement.mean() for part in parts])[0, 1] > 0.8


def test_the_same_seed_gives_the_same_numbers_and_touches_no_others():
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    first, other = (
        predictive(SpikeSlab(), (20, 4), draws=5, triplets=50, seed=seed) for seed in (1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])
    assert random.getstate() == before[2]
    torch.manual_seed(8)
    again = predictive(SpikeSlab(), (20, 4), draws=5, triplets=50, seed=1)
    assert first.table().equals(again.table())
    np.testing.assert_array_equal(first.largest, again.largest)
    assert (first.largest != other.largest).all(axis=1).any()
    assert (first.largest[0] != first.largest[1]).any()


def test_a_hierarchical_prior_varies_between_draws():
    def hierarchical(n_objects, dimensions):
        scale = pyro.sample("scale", dist.LogNormal(-0.5, 0.7))
        with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
            return pyro.sample("X", dist.Normal(0.0, scale))

    spread = np.ptp(predictive(hierarchical, (40, 5), draws=30, triplets=300).accuracy)
    alone = np.ptp(predictive(dist.Normal(0.0, 0.6), (40, 5), draws=30, triplets=300).accuracy)
    assert spread > 3 * alone


@pytest.mark.parametrize("shape", [(80, 12), (200, 100)])
@pytest.mark.parametrize(
    "prior", [SpikeSlab(), SpikeSlab(0.125, 0.5, 0.6), dist.Exponential(5.75)], ids=repr
)
def test_sensible_priors_get_no_warning(prior, shape):
    predictive(prior, shape, draws=10, triplets=500)


@pytest.mark.parametrize("shape", [(80, 12), (200, 100)])
@pytest.mark.parametrize("prior", [SpikeSlab(0.25, 8.0, 0.5), dist.Normal(0.0, 5.0)], ids=repr)
def test_near_certain_choices_are_told(prior, shape):
    with pytest.warns(pv.PyroviceWarning, match="near certain") as told:
        got = predictive(prior, shape, draws=10, triplets=500)
    sentence = str(told[0].message)
    assert f"{got.near_certain.mean():.0%} of the choices" in sentence
    assert f"fewer dimensions than {shape[1]}" in sentence
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("prior", "data"),
    [
        (dist.Normal(0.0, 0.05), (80, 12)),
        (dist.Normal(0.0, 0.05), (200, 100)),
        (all_zero, (20, 2)),
        (all_zero, judgments()),
    ],
)
def test_coin_tosses_are_told(prior, data):
    with pytest.warns(pv.PyroviceWarning, match="coin toss") as told:
        got = predictive(prior, data, draws=10, triplets=500)
    sentence = str(told[0].message)
    assert f"{got.accuracy.mean():.1%} of them, and guessing predicts" in sentence
    assert "larger scale" in sentence


def test_no_positive_weight():
    with pytest.warns(pv.PyroviceWarning, match="coin toss"):
        got = predictive(all_zero, (20, 2), draws=2, triplets=50)
    assert got.table().loc["weight"].isna().all()
    assert "positive weights" not in str(got)
    assert str(got).startswith("all_zero\n20 objects, 2 dimensions")
    # Rounded down, a third is still a choice to be drawn.
    got = replace(got, largest=np.full_like(got.largest, np.nextafter(1 / 3, 0)))
    figure = pv.plot.prior_predictive(got)
    assert figure.axes[0].get_title(loc="left") == "100 % of the weights are zero"
    assert sum(bar.get_height() for bar in figure.axes[1].patches[:40]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (((80,),), pv.DataError, r"=\(80,\); expected \(n_objects, dimensions\)"),
        (((80, 5, 2),), pv.DataError, r"expected \(n_objects, dimensions\), for example"),
        (([80, 5],), TypeError, "is a list; expected Triplets or a tuple"),
        ((80,), TypeError, "is a int; expected Triplets or a tuple"),
        (((2, 5),), pv.PyroviceError, "n_objects=2; expected a whole number of at least 3"),
        (((80, 0),), pv.PyroviceError, "dimensions=0; expected a whole number of at least 1"),
        (((80, 2.5),), pv.PyroviceError, "dimensions=2.5; expected a whole number"),
        ((judgments(), {"dimensions": 0}), pv.PyroviceError, "dimensions=0; expected"),
        ((judgments(), {"dimensions": "all"}), pv.PyroviceError, "dimensions='all'; expected"),
        (((80, 5), {"dimensions": 5}), pv.PyroviceError, "says it already"),
        (((80, 5), {"draws": 0}), pv.PyroviceError, "draws=0; expected"),
        (((80, 5), {"triplets": True}), pv.PyroviceError, "triplets=True; expected"),
        (((80, 5), {"seed": -1}), pv.PyroviceError, "seed=-1; expected"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, error, sentence):
    data, options = arguments if len(arguments) == 2 else (*arguments, {})
    with pytest.raises(error, match=sentence):
        predictive(SpikeSlab(), data, **options)


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (3, "is not a prior"),
        (SpikeSlab, "is not a prior"),
        (dist.Normal(torch.zeros(3), 1.0), "batch shape"),
        (lambda m, d: None, "samples no site 'X'; it samples nothing"),
        (always(np.zeros((4, 20))), r"shape \(4, 20\), expected \(20, 4\)"),
        (always(np.full((20, 4), np.inf)), "infinite or not a number"),
    ],
)
def test_what_is_no_prior_gets_a_sentence(prior, sentence):
    with pytest.raises(pv.PriorError, match=sentence):
        predictive(prior, (20, 4))


def test_figure_shows_weights_and_certainty():
    got = predictive(SpikeSlab(), (40, 5), draws=20, triplets=300)
    figure = pv.plot.prior_predictive(got)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    left, right = figure.axes
    bars = left.patches
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    assert left.get_title(loc="left") == f"{100 * got.zeros.mean():.0f} % of the weights are zero"
    heights = np.array([bar.get_height() for bar in right.patches[:40]])
    expected = np.histogram(got.largest, bins=40, range=(1 / 3, 1))[0] / got.largest.size
    np.testing.assert_allclose(heights, expected, atol=1e-3)
    assert [line.get_xdata()[0] for line in right.lines] == [got.accuracy.mean(), got.guessing]
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    assert labels[0].startswith(f"accuracy {got.accuracy.mean():.2f} [")
    assert labels[1] == "guessing 0.33"
    page = figure.bbox
    legend = right.get_legend().get_window_extent(canvas.get_renderer())
    assert legend.x1 <= page.x1 + 1
    assert legend.y1 <= page.y1 + 1


def test_figure_of_positive_weights_only():
    figure = pv.plot.prior_predictive(predictive(dist.Exponential(3.0), (40, 5), draws=5))
    assert figure.axes[0].get_title(loc="left") == "no weight is zero"
