"""Whether intervals hold: ranks exactly, then simulations."""

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from scipy import stats

import pyrovice as pv
from pyrovice.criticism.calibration_words import advice_of
from pyrovice.criticism.interval_calibration import ranks_of

QUICK = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120))
LEVELS = [0.5, 0.8, 0.95]


@pytest.fixture(scope="module")
def data():
    anchored = pv.simulate(sparse_embedding(25, 3, seed=4), 1500, seed=5, anchored=True)
    return pv.Triplets.concat(
        [pv.simulate(sparse_embedding(25, 3, seed=4), 1500, seed=4), anchored]
    )


@pytest.fixture(scope="module")
def fit(data):
    return pv.fit(data, dimensions=5, training=QUICK, progress=False)


def test_ranks_are_uniform_if_the_truth_is_one_of_the_draws():
    rng = np.random.default_rng(0)
    # Rectified Normals: half of the values are exactly zero.
    drawn = np.maximum(rng.normal(size=(100, 20_000)), 0)
    ranks = ranks_of(drawn[:-1], drawn[-1], rng)
    assert stats.kstest(ranks, "uniform").pvalue > 0.05
    # Draws that are too alike leave the truth outside.
    narrow = ranks_of(0.5 * rng.normal(size=(100, 2000)), rng.normal(size=2000), rng)
    assert ((narrow < 0.025) | (narrow > 0.975)).mean() > 0.25


def test_ranks_count_the_draws_below():
    draws = np.array([[1.0], [2.0], [3.0], [4.0]])
    for true, low in ((0.5, 0), (2.5, 2), (9.0, 4)):
        rank = ranks_of(draws, np.array([true]), np.random.default_rng(0))[0]
        assert low / 5 <= rank <= (low + 1) / 5


def test_a_fit_is_calibrated_on_its_own_design(fit, data, tmp_path, monkeypatch):
    found = pv.calibrate(fit, data, simulations=4, store=tmp_path, progress=False)
    assert found.coverage.columns.tolist() == LEVELS
    assert found.coverage.index.tolist() == ["choice probability", "similarity", "weight"]
    assert (found.coverage[0.95] > 0.8).all()
    assert (found.coverage.diff(axis=1).iloc[:, 1:] > 0).all().all()
    np.testing.assert_allclose(found.ranks.sum(), 1)
    assert found.n_true == fit.n_dimensions
    assert found.simulations == 4
    assert 0.5 < found.ratio["similarity"] < 2
    assert "4 refits" in found.found
    assert found.found in repr(found)
    assert "95% intervals" in found._repr_html_()
    # All of it is in the store.
    monkeypatch.setattr("pyrovice.inference.many_fits.fit_many", lambda plans: iter(()))
    again = pv.calibrate(fit, data, simulations=4, store=tmp_path, progress=False)
    pd.testing.assert_frame_equal(again.coverage, found.coverage)
    # The first simulations are the same, however many there are.
    fewer = pv.calibrate(fit, data, simulations=2, store=tmp_path, progress=False)
    assert fewer.n_dimensions == found.n_dimensions[:2]


def test_parameters_of_prior_and_choice_are_among_the_quantities(data):
    quicker = pv.Training(schedule=pv.Anneal(steps=40), stop=pv.MaxEpochs(40))
    fit = pv.fit(data, prior=pv.LearnedSpikeSlab(), dimensions=5, training=quicker, progress=False)
    found = pv.calibrate(fit, data, simulations=1, progress=False)
    assert {"pi", "spike", "slab"} <= set(found.coverage.index)
    assert found.coverage.loc["pi"].isin([0.0, 1.0]).all()


@pytest.mark.slow
def test_people_answer_again(people_data, people_fit):
    found = pv.calibrate(people_fit, people_data, simulations=1, progress=False)
    assert found.coverage.loc["choice probability", 0.95] > 0.7


@pytest.mark.slow
def test_refined_intervals_hold(fit, data):
    found = pv.calibrate(fit, data, simulations=3, refined=True, progress=False)
    assert found.refined
    assert (found.coverage - LEVELS).abs().max().max() < 0.1


def test_other_judgments_and_empty_fits_are_refused(fit, data):
    with pytest.raises(pv.DataError, match="not the judgments that were fitted"):
        pv.calibrate(fit, data[:100])
    with pytest.raises(pv.PyroviceError, match="no dimensions"):
        pv.calibrate(fit.prune(min_objects=99), data)


def test_advice_in_words():
    error = pd.DataFrame(0.001, index=["weight", "similarity", "pi"], columns=LEVELS)
    coverage = error * 0 + np.array([[0.4, 0.7, 0.88], [0.51, 0.8, 0.95], [0.6, 0.9, 0.99]])
    assert advice_of(coverage, error, False) == (
        "Intervals of similarities can be reported as they are. Those of pi are wider than they "
        "say, which is safe. Those of weights are too narrow: of 95% intervals, 88% hold. Sample "
        "around the fit, pv.refine(fit.prune(), data), and examine those: pv.calibrate(fit, data, "
        "refined=True)."
    )
    # Within twice the standard error nothing can be said against them.
    assert "as they are" in advice_of(coverage, error + 0.1, False)
    assert advice_of(coverage, error, True).endswith("lower limit of the uncertainty.")
