import _thread
import logging

import numpy as np
import pandas as pd
import pyro
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta, AutoLowRankMultivariateNormal, AutoNormal
from torch.distributions import constraints

import pyrovice as pv
from pyrovice import MaxEpochs, PyroviceError, PyroviceWarning, Training
from pyrovice.model import simulation

SHORT = Training(stop=MaxEpochs(20), schedule=None)
# Fits this short still have all their dimensions, which is said elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore:All . dimensions were kept")


def quick(data, **arguments):
    return pv.fit(data, progress=False, **{"dimensions": 6, "training": SHORT} | arguments)


def test_the_same_seed_gives_the_same_numbers(small):
    a, b, c = quick(small), quick(small), quick(small, seed=1)
    assert np.array_equal(a.posterior.weights.mu, b.posterior.weights.mu)
    assert np.array_equal(a.posterior.weights.sigma, b.posterior.weights.sigma)
    timeless = [column for column in a.history if column != "seconds"]
    pd.testing.assert_frame_equal(a.history[timeless], b.history[timeless])
    assert not np.array_equal(a.posterior.weights.mu, c.posterior.weights.mu)


def test_a_fit_leaves_the_callers_random_numbers_alone(small):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    quick(small)
    assert torch.equal(torch.rand(2), expected)


def test_watching_validation_does_not_change_the_fit(small):
    train, valid = small.split(0.8, 0.2, seed=0)
    watched, unwatched = quick(train, validation=valid), quick(train)
    assert np.array_equal(watched.posterior.weights.mu, unwatched.posterior.weights.mu)
    assert {"validation_cross_entropy", "validation_accuracy"} <= set(watched.history)
    assert "validation_accuracy" not in unwatched.history
    last = watched.history.iloc[-1]
    scores = watched.evaluate(valid, draws=10)
    # Ten draws of a barely trained fit, in another order of dimensions: measured 0.01 apart.
    assert last.validation_cross_entropy == pytest.approx(scores.cross_entropy, abs=0.04)


def test_history(small):
    history = quick(small, training=Training(batch_size=1000, stop=MaxEpochs(5))).history
    assert history.index.name == "epoch"
    assert history.step.iloc[4] == 5 * history.step.iloc[0]
    np.testing.assert_allclose(history.loss, history.complexity - history.log_likelihood)
    assert history.seconds.is_monotonic_increasing
    assert {"loss", "log_likelihood", "complexity", "dimensions", "seconds"} <= set(history)


def test_dimensions_come_in_descending_importance(small_fit):
    importance = small_fit.importance()
    assert importance.is_monotonic_decreasing
    weights = small_fit.embedding(pruned=False).sum()
    for a, b in zip(importance.index[:-1], importance.index[1:], strict=True):
        assert importance[a] > importance[b] or weights[a] >= weights[b]


def test_pruning(small):
    fit = quick(small, training=Training(stop=MaxEpochs(200), drop_collapsed=False))
    pruned = fit.prune()
    assert pruned.n_dimensions == fit.n_dimensions == pruned.posterior.shape[1] < 6
    pd.testing.assert_frame_equal(pruned.embedding(), fit.embedding())
    assert pruned.guide()["X"].shape == pruned.embedding().shape
    assert pruned.model.dimensions == pruned.n_dimensions
    assert fit.prune(rule="tail").n_dimensions >= 0
    assert len(fit.embedding(pruned=False).columns) == 6
    assert fit.prune(min_objects=0).posterior.shape[1] >= pruned.n_dimensions
    with pytest.raises(PyroviceError, match="rule='half'"):
        fit.prune(rule="half")


def test_embedding_statistics(small_fit):
    loc, mean, sd = (small_fit.embedding(s) for s in ("loc", "mean", "sd"))
    assert list(loc.index) == list(small_fit.names)
    assert loc.index.name == "object"
    assert loc.columns.name == "dimension"
    assert (loc >= 0).all(axis=None)
    assert (mean >= loc - 1e-6).all(axis=None)
    draws = small_fit.draws(4000, seed=0)[:, :, : loc.shape[1]]
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(draws.std(0), sd, atol=0.05)
    with pytest.raises(PyroviceError, match="expected one of 'loc', 'mean', 'sd'"):
        small_fit.embedding("median")


def test_top_objects(small_fit):
    top = small_fit.top_objects(4)
    assert top.shape == (4, small_fit.n_dimensions)
    for dim in top:
        weights = small_fit.embedding()[dim]
        assert weights[top[dim]].is_monotonic_decreasing
        assert weights[top[dim].iloc[0]] == weights.max()
    assert len(small_fit.top_objects(99)) == 20


def test_predictions_are_averages_over_draws(small, small_fit):
    p = small_fit.predict(small, draws=6, seed=2)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-6)
    expected = np.mean(
        [simulation.choice_probabilities(X, small.objects) for X in small_fit.draws(6, seed=2)],
        axis=0,
    )
    np.testing.assert_allclose(p, expected, rtol=1e-4, atol=1e-6)


def test_anchored_predictions_rule_the_anchor_out(small_fit):
    t = pv.Triplets([[0, 1, 2]], [1], anchor=[0], names=small_fit.names)
    p = small_fit.predict(t)
    assert p[0, 0] == 0
    assert p.sum() == pytest.approx(1)


def test_other_objects_are_refused(small_fit):
    with pytest.raises(pv.DataError, match="of 3 objects and the fit of 20"):
        small_fit.predict(pv.Triplets([[0, 1, 2]], [0]))
    with pytest.raises(PyroviceError, match="at least one"):
        small_fit.draws(0, seed=0)


def test_auto_says_what_it_chose(small, caplog):
    with caplog.at_level(logging.INFO, "pyrovice"):
        fit = pv.fit(small, training=SHORT, progress=False)
    assert "starting from 10 for 3000 judgments of 20 objects" in caplog.text
    assert fit.posterior.shape == (20, 10)


def test_all_dimensions_kept_is_said(small):
    with pytest.warns(PyroviceWarning, match="All 2 dimensions were kept.*dimensions=4"):
        pv.fit(small, dimensions=2, progress=False)


def test_not_settled_is_said(small):
    with pytest.warns(PyroviceWarning, match="did not settle within 3 epochs"):
        fit = quick(small, training=Training(max_epochs=3))
    assert not fit.converged
    assert "not converged" in repr(fit)


def test_no_dimensions_is_said_loudly():
    rng = np.random.default_rng(0)
    objects = simulation.random_triplets(60, 300, rng)
    noise = pv.Triplets(objects, rng.integers(0, 3, 300), names=range(60))
    with pytest.warns(PyroviceWarning, match="carry no dimensions.*Collect more"):
        fit = pv.fit(noise, progress=False)
    assert not fit.converged
    assert fit.n_dimensions == 0
    # It ends once the learning rate is down and nothing has come back for a window of 200 steps.
    assert len(fit.history) < 2600 < fit.training.max_epochs
    assert fit.embedding().shape == (60, 0)
    assert fit.top_objects().shape[1] == 0
    np.testing.assert_allclose(fit.prune().predict(noise), 1 / 3, rtol=1e-6)


def test_ctrl_c_returns_the_fit_so_far(small, monkeypatch):
    count = 0
    step = torch.optim.Adam.step

    def interrupted_step(self, *args, **kwargs):
        nonlocal count
        count += 1
        if count == 30:
            _thread.interrupt_main()
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.Adam, "step", interrupted_step)
    with pytest.warns(PyroviceWarning, match="Interrupted after .* the fit so far"):
        fit = pv.fit(small, progress=False)
    assert not fit.converged
    assert 25 <= len(fit.history) <= 31
    assert fit.evaluate(small).accuracy > 0.4


def test_ctrl_c_before_the_first_epoch(small, monkeypatch, tmp_path):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.optim.Adam, "step", interrupt)
    with pytest.warns(PyroviceWarning, match="Interrupted after 0 epochs"):
        fit = pv.fit(small, progress=False)
    assert len(fit.history) == 0
    assert fit.predict(small[:5]).shape == (5, 3)
    fit.save(tmp_path / "early.fit")
    assert len(pv.load(tmp_path / "early.fit").history) == 0


def test_the_papers_recipe_runs(small):
    from dataclasses import replace

    training = replace(Training.paper(), stop=MaxEpochs(3))
    fit = pv.fit(small, training=training, dimensions=10, progress=False)
    assert fit.history.step.tolist() == [24, 48, 72]
    assert fit.posterior.shape == (20, 10)


def test_several_particles(small):
    fit = quick(small, training=Training(stop=MaxEpochs(20), schedule=None, particles=3))
    assert fit.history.loss.iloc[-1] < fit.history.loss.iloc[0]


def test_judgments_of_other_objects_are_not_predicted(small_fit, small):
    names = [f"object {i}" for i in range(20)]
    named = pv.Triplets(small.objects, small.odd, names=names)
    fit = quick(named)
    assert fit.predict(small[:3]).shape == (3, 3)  # ids only: taken as the fit's own
    turned = pv.Triplets(small.objects, small.odd, names=names[::-1])
    with pytest.raises(pv.DataError, match=r"names=fit\.names"):
        fit.evaluate(turned)
    with pytest.raises(TypeError, match="expected Triplets"):
        fit.predict(small.objects)


def test_small_but_strong_dimensions_are_not_dropped():
    X = np.eye(3).repeat(4, axis=0) * 2.5
    data = pv.simulate(X, 4000, seed=0)
    with pytest.warns(PyroviceWarning, match=r"the largest has 4 of 12.*min_objects=2"):
        fit = pv.fit(data, dimensions=6, progress=False)
    pruned = fit.prune(min_objects=2)
    assert pruned.n_dimensions == 3
    assert pruned.embedding().shape == (12, 3)
    assert pruned.top_objects(4).shape == (4, 3)
    assert pruned.evaluate(data).accuracy > 0.7


def test_max_epochs_means_it(small):
    assert len(quick(small, training=Training(stop=MaxEpochs(20))).history) == 20
    with pytest.warns(PyroviceWarning, match="did not settle within 20 epochs"):
        assert len(quick(small, training=Training(max_epochs=20)).history) == 20


@pytest.mark.parametrize("family", [AutoNormal, AutoDelta, AutoLowRankMultivariateNormal])
def test_pyros_own_guides_serve(small, family):
    fit = quick(small, guide=family, training=Training(stop=MaxEpochs(60), learning_rate=0.02))
    assert fit.history.loss.iloc[-1] < fit.history.loss.iloc[0]
    assert fit.predict(small[:5]).shape == (5, 3)
    assert Trace_ELBO().loss(fit.model, fit.guide) > 0


def test_a_guide_written_as_a_function(small):
    def function():
        loc = pyro.param("loc", lambda: 0.1 * torch.randn(20, 6))
        scale = pyro.param("scale", torch.full((20, 6), 0.1), constraint=constraints.positive)
        with pyro.plate("object", 20, dim=-2), pyro.plate("dimension", 6, dim=-1):
            return pyro.sample("X", dist.Normal(loc, scale))

    def guide(model):
        return lambda *args: function()

    a, b = (quick(small, guide=guide) for _ in range(2))
    assert np.array_equal(a.history.loss, b.history.loss)
    assert a.history.loss.iloc[-1] < a.history.loss.iloc[0]
    assert len(pyro.get_param_store()) == 0
    assert Trace_ELBO().loss(a.model, a.guide) / 3000 < a.history.loss.iloc[0]


def test_numpy_numbers_are_numbers(small):
    assert quick(small, seed=np.int64(3), dimensions=np.int32(6)).seed == 3


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"training": {"max_epochs": 3}}, TypeError, "expected Training"),
        ({"seed": "a"}, PyroviceError, "seed='a'; expected a whole number"),
        ({"data": [[0, 1, 2]]}, TypeError, "data is a list; expected Triplets"),
        (
            {"dimensions": 0},
            PyroviceError,
            "dimensions=0; expected a whole number of at least 1 or 'auto'",
        ),
        ({"dimensions": 2.5}, PyroviceError, "dimensions=2.5"),
        ({"dimensions": "many"}, PyroviceError, "dimensions='many'"),
        ({"prior": 5}, PyroviceError, "prior=5 is not a prior"),
        ({"validation": pv.Triplets([[0, 1, 2]], [0])}, PyroviceError, "different objects"),
    ],
)
def test_bad_arguments(small, arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        pv.fit(**{"data": small, "progress": False} | arguments)


def test_a_diverging_fit_is_named(small):
    with pytest.raises(PyroviceError, match=r"Training\(learning_rate='auto'\)"):
        quick(small, training=Training(learning_rate=1e20))


def test_order_of_judgments_hardly_matters():
    X = sparse_embedding(20, 3, seed=4)
    t = pv.simulate(X, 3000, seed=4)
    turned = t[np.random.default_rng(0).permutation(len(t))]
    a, b = (pv.fit(data, dimensions=6, progress=False) for data in (t, turned))
    assert a.n_dimensions == b.n_dimensions
    # The judgments are aggregated and fully used in each step: only rounding differs.
    np.testing.assert_allclose(a.predict(t[:200]), b.predict(t[:200]), atol=0.02)
