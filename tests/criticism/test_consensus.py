"""Several fits as one."""

import numpy as np
import pytest
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.results.matching import same_dimensions

QUICK = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120))
TRUTH = sparse_embedding(25, 3, seed=4)


@pytest.fixture(scope="module")
def data():
    return pv.simulate(TRUTH, 1500, seed=4)


@pytest.fixture(scope="module")
def fits(data):
    return [
        pv.fit(data, dimensions=5, training=QUICK, seed=seed, progress=False) for seed in range(3)
    ]


@pytest.fixture(scope="module")
def together(fits):
    return pv.consensus(fits)


def lacking(fit, place):
    """The fit without one of its dimensions."""
    return fit._select(np.delete(np.arange(fit.posterior.shape[1]), place))


def test_predictions_are_the_mean_of_those_of_all_fits(fits, together, data):
    asked = data[:200]
    n = together.posterior.weights.stored.shape[1] // len(fits)
    expected = np.mean([fit.predict(asked, n, seed=i) for i, fit in enumerate(fits)], axis=0)
    np.testing.assert_allclose(together.predict(asked, draws=3 * n), expected, atol=1e-6)


def test_it_keeps_what_is_found_by_half_and_says_by_how_many(fits, data):
    place = int(fits[0].kept_positions()[0])
    gone = pv.consensus([lacking(fits[0], place), *fits[1:]])
    shares = gone.reproducibility()
    assert sorted(shares.round(3).tolist()) == [0.667, 1.0, 1.0]
    (missing,) = shares.index[shares < 1]
    r = np.corrcoef(gone.embedding("mean")[missing], fits[1].embedding("mean"), rowvar=False)
    assert r[0, 1:].max() > 0.9
    # In the draws of the fit that lacks it, it is nothing.
    column = gone.embedding().columns.get_loc(missing)
    draws = gone.posterior.weights.stored[0, :, :, gone.kept_positions()[column]]
    n = len(draws) // 3
    assert not draws[:n].any()
    assert draws[n:].any()


def test_it_is_a_fit_like_any_other(together, data, tmp_path):
    assert together.n_dimensions == 3
    assert (same_dimensions(TRUTH, together.embedding().to_numpy()) >= 0).all()
    assert list(together.embedding()) == [1, 2, 3]
    pruned = together.prune()
    np.testing.assert_array_equal(pruned.embedding(), together.embedding())
    together.save(tmp_path / "all.fit")
    again = pv.load(tmp_path / "all.fit")
    assert again.found_by == together.found_by
    np.testing.assert_array_equal(again.embedding(), together.embedding())
    np.testing.assert_array_equal(again.predict(data[:50]), together.predict(data[:50]))
    assert repr(again) == repr(together)
    assert together.label({1: "first"}).reproducibility().index[0] == "first"
    assert together.was_fitted_to(data)
    together.report(tmp_path / "page.html", data)
    assert together.to_arviz(data).posterior.sizes["dimension"] == 3


def test_its_dimensions_can_be_counted(together, data):
    found = together.dimensionality(data, resamples=2, progress=False)
    assert found.table.in_fit.sum() == 3


def test_hyperparameters_and_scales_come_along(data):
    fits = [
        pv.fit(data, prior=pv.ARD(), dimensions=6, training=QUICK, seed=seed, progress=False)
        for seed in range(2)
    ]
    both = pv.consensus(fits)
    sizes = both.sites()
    assert sizes["scale"] == (both.posterior.shape[1],)
    np.testing.assert_allclose(
        both.hyperparameters()["mean"].iloc[0],
        np.mean([fit.hyperparameters()["mean"].iloc[0] for fit in fits]),
        rtol=0.2,
    )


def test_what_has_no_consensus_is_refused(fits, small_fit, data):
    with pytest.raises(pv.PyroviceError, match="at least two"):
        pv.consensus(fits[:1])
    with pytest.raises(pv.PyroviceError, match="different objects"):
        pv.consensus([fits[0], small_fit])
    with pytest.raises(TypeError, match="expected"):
        pv.consensus([fits[0], fits[0].embedding()])
    with pytest.raises(pv.PyroviceError, match=r"pv.consensus\(fits\) of several can"):
        fits[0].reproducibility()
    with pytest.raises(pv.PyroviceError, match="nothing that they agree on"):
        pv.consensus([lacking(fit, fit.kept_positions()) for fit in fits])
    with pytest.raises(pv.PyroviceError, match="not a guide"):
        pv.fit(data, guide=pv.Consensus(3))
