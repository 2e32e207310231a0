"""Objects that nobody has judged."""

import numpy as np
import pytest
import torch
from helpers.featured import featured
from scipy import stats
from scipy.optimize import linear_sum_assignment

import pyrovice as pv
from pyrovice.errors import DataError, PriorError

TABLE, X, _ = featured(60)
X = 2 * X
# Short training leaves dimensions standing.
pytestmark = pytest.mark.filterwarnings("ignore:All . dimensions were kept")
QUICK = pv.Training(schedule=pv.Anneal(steps=300), stop=pv.MaxEpochs(400))


@pytest.fixture(scope="module")
def parts():
    """Judgments of all objects, and those without the last ten."""
    everything = pv.simulate(X.clip(lower=0), 30_000, seed=1)
    old = (everything.objects < 50).all(axis=1)
    return everything, everything[old].compact()


@pytest.fixture(scope="module")
def fit(parts):
    return pv.fit(parts[1], prior=pv.Features(TABLE), dimensions=4, training=QUICK, progress=False)


@pytest.fixture(scope="module")
def extended(fit):
    return fit.with_objects(TABLE[50:])


def test_the_closed_form_is_that_of_the_draws(fit, extended):
    _, scores = fit.prior.scores_of(TABLE[50:])
    site = {name: fit.posterior.others[name].pooled for name in fit.posterior.others}
    n = min(map(len, site.values()))
    drawn = [scores @ (site["W"][i] * site["reach"][i]) + site["offset"][i] for i in range(n)]
    mean, sd = np.mean(drawn, axis=0), np.sqrt(np.var(drawn, 0) + (site["residual"] ** 2).mean(0))
    loc, scale = extended.posterior.marginals()
    np.testing.assert_allclose(loc[50:], mean, atol=0.05)
    np.testing.assert_allclose(scale[50:], sd, rtol=0.1)
    expected = stats.norm(loc[50:], scale[50:])
    np.testing.assert_allclose(
        fit.embed(TABLE[50:], "mean", pruned=False),
        loc[50:] * expected.sf(0) + scale[50:] ** 2 * expected.pdf(0),
        atol=1e-5,
    )


def test_old_objects_stay_as_they_were(fit, extended):
    assert extended.names == (*fit.names, *TABLE.index[50:])
    for old, new in zip(fit.posterior.marginals(), extended.posterior.marginals(), strict=True):
        np.testing.assert_array_equal(old, new[:50])
    assert fit.embed(TABLE[50:]).shape == (10, fit.n_dimensions)
    assert list(fit.embed(TABLE[50:]).index) == list(TABLE.index[50:])


def test_new_objects_are_near_their_truth_and_wide(fit, parts):
    found = fit.embed(TABLE[50:], "mean", pruned=False)
    known = fit.embedding("mean", pruned=False)
    # Dimensions come in another order and with sizes of their own: a map from the old objects.
    way = np.linalg.lstsq(known.to_numpy(), X[:50].clip(lower=0).to_numpy(), rcond=None)[0]
    truth = X[50:].clip(lower=0).to_numpy()
    assert np.corrcoef((found.to_numpy() @ way).ravel(), truth.ravel())[0, 1] > 0.8
    assert (fit.embed(TABLE[50:], "sd").median() > fit.embedding("sd").median()).all()


def test_judgments_with_new_objects_are_predicted(parts, extended, fit):
    new = parts[0][(parts[0].objects >= 50).any(axis=1)]
    score = extended.evaluate(new)
    assert score.cross_entropy < np.log(3) - 0.05
    assert score.accuracy > 0.45


def test_model_and_guide_know_the_new_objects(extended, tmp_path):
    assert extended.model.n_objects == 60
    drawn = torch.stack([extended.guide()["X"] for _ in range(400)])
    loc, scale = extended.posterior.marginals()
    np.testing.assert_allclose(drawn.mean(0).detach(), loc, atol=0.25)
    np.testing.assert_allclose(drawn.std(0).detach()[50:], scale[50:], rtol=0.25)
    extended.save(tmp_path / "f")
    again = pv.load(tmp_path / "f")
    assert again.prior == extended.prior
    np.testing.assert_array_equal(again.embedding(), extended.embedding())


def test_more_objects_can_be_added_to_those(fit, extended):
    twice = fit.with_objects(TABLE[50:55]).with_objects(TABLE[55:])
    assert twice.names == extended.names
    np.testing.assert_allclose(
        twice.embedding(pruned=False), extended.embedding(pruned=False), atol=1e-5
    )


def test_arrays_get_names(fit):
    assert list(fit.embed(TABLE[50:52].to_numpy()).index) == ["new 1", "new 2"]


def test_guides_that_covary_and_chains_take_new_objects_too(parts):
    low_rank = pv.fit(
        parts[1],
        prior=pv.Features(TABLE),
        guide=pv.LowRank(2),
        dimensions=3,
        training=QUICK,
        progress=False,
    )
    more = low_rank.with_objects(TABLE[50:])
    assert more.guide()["X"].shape == (60, more.posterior.shape[1])
    with pytest.warns(pv.PyroviceWarning, match="one chain"):
        refined = pv.refine(low_rank, parts[1], draws=20, chains=1)
    sampled = refined.with_objects(TABLE[50:])
    assert sampled.posterior.chains.shape[2] == 60
    ours, theirs = (each.embedding("mean", pruned=False).to_numpy() for each in (more, sampled))
    # Which dimension is the most important may be another.
    alike = np.corrcoef(ours[:50].T, theirs[:50].T)[: ours.shape[1], ours.shape[1] :]
    _, order = linear_sum_assignment(alike, maximize=True)
    # Measured 0.14.
    assert np.abs(ours[50:] - theirs[50:, order]).mean() < 0.35


def test_what_cannot_be_embedded_gets_a_sentence(fit, small_fit):
    with pytest.raises(PriorError, match=r"needs features.*SpikeSlab.*prior=pv.Features"):
        small_fit.embed(TABLE)
    with pytest.raises(DataError, match=r"has 50 objects \('thing 0'.*already; leave them out"):
        fit.with_objects(TABLE)
    with pytest.raises(DataError, match="not finite"):
        fit.embed(TABLE[50:] * np.nan)


def test_objects_without_judgments_are_fitted_with_the_others(parts):
    everything, _ = parts
    some = everything[(everything.objects < 50).all(axis=1)]
    assert some.n_objects == 60
    joint = pv.fit(some, prior=pv.Features(TABLE), dimensions=4, training=QUICK, progress=False)
    sd = joint.embedding("sd", pruned=False).to_numpy()
    assert np.median(sd[50:]) > 1.5 * np.median(sd[:50])
    more = pv.fit(
        everything, prior=pv.Features(TABLE), dimensions=4, training=QUICK, progress=False
    )
    closer = more.embedding("sd", pruned=False).to_numpy()
    assert np.median(closer[50:]) < 0.8 * np.median(sd[50:])
    new = everything[(everything.objects >= 50).any(axis=1)]
    assert joint.evaluate(new).cross_entropy < np.log(3) - 0.05
