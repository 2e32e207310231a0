"""What features explain."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.featured import featured

import pyrovice as pv
from pyrovice.report import render
from pyrovice.results.explained import explained, explained_draws
from pyrovice.results.posterior import SiteDraws
from pyrovice.results.weights import NormalWeights

TABLE, X, _ = featured(80, dimensions=3, residual=0.4, seed=2)
NOISE = pd.DataFrame(np.random.default_rng(5).standard_normal((80, 4)), index=TABLE.index)
BOTH = np.concatenate([TABLE, NOISE], axis=1)
QUICK = pv.Training(schedule=pv.Anneal(steps=300), stop=pv.MaxEpochs(400))


@pytest.fixture(scope="module")
def fit():
    data = pv.simulate((2 * X).clip(lower=0), 40_000, seed=1)
    prior = pv.Features({"real": TABLE, "noise": NOISE})
    with pytest.warns(pv.PyroviceWarning, match="All 3 dimensions were kept"):
        return pv.fit(data, prior=prior, dimensions=3, training=QUICK, progress=False)


def with_posterior(fit, mu, sigma, reach, residual):
    """The same fit, with another posterior."""
    others = dict(fit.posterior.others)
    others["reach"] = SiteDraws(np.asarray(reach)[None, None], ("block", "dimension"))
    others["residual"] = SiteDraws(np.asarray(residual)[None, None], ("dimension",))
    weights = NormalWeights(mu.astype(np.float32), sigma.astype(np.float32))
    posterior = dataclasses.replace(fit.posterior, weights=weights, others=others)
    return dataclasses.replace(fit, posterior=posterior)


def test_shares_are_those_of_regressions_that_leave_one_object_out(fit):
    rng = np.random.default_rng(3)
    mu = X.to_numpy() + 0.1
    reach, residual = np.array([[0.7, 0.2, 0.5], [0.1, 0.3, 0.01]]), np.array([0.4, 0.3, 0.5])
    known = with_posterior(fit, mu, np.full_like(mu, 1e-6), reach, residual)
    scores = fit.prior.scores - fit.prior.scores.mean(0)
    for j in range(3):
        penalty = np.diag((residual[j] / reach[fit.prior.block_of, j]) ** 2)
        centred = mu[:, j] - mu[:, j].mean()
        errors = []
        for i in range(80):
            rest = np.arange(80) != i
            F = scores[rest]
            w = np.linalg.solve(F.T @ F + penalty, F.T @ centred[rest])
            errors.append(centred[i] - scores[i] @ w)
        share = 1 - np.mean(np.square(errors)) / centred.var()
        assert explained(known)["all"].iloc[j] == pytest.approx(max(share, 0), abs=1e-4)
    # Uncertainty of the weights is averaged over: the mean of the shares of drawn weights.
    sigma = rng.uniform(0.1, 0.3, mu.shape)
    drawn = [mu + sigma * rng.standard_normal(mu.shape) for _ in range(300)]
    each = [with_posterior(fit, d, np.full_like(mu, 1e-6), reach, residual) for d in drawn]
    left = np.mean(
        [(1 - explained(f)["all"]) * d.var(0) for f, d in zip(each, drawn, strict=True)], 0
    )
    share = 1 - left / np.mean([d.var(0) for d in drawn], axis=0)
    found = explained(with_posterior(fit, mu, sigma, reach, residual))
    np.testing.assert_allclose(found["all"], share, atol=0.02)


def test_shares_of_blocks_add_up(fit):
    found = fit.explained()
    np.testing.assert_allclose(found["real"] + found["noise"], found["all"], atol=1e-9)
    assert list(found.columns) == ["real", "noise", "all"]


def test_noise_explains_nothing(fit):
    found = explained(fit)
    assert (found["noise"] < 0.02).all()
    assert (found["real"] > 0.3).all()


def test_draws_of_shares(fit):
    sites = {name: fit.posterior.others[name].values[:, :50] for name in fit.posterior.others}
    drawn = explained_draws(fit.prior, sites)
    assert drawn.shape == (1, 50, 2, fit.posterior.shape[1])
    W, reach, s = (sites[name][0, 7] for name in ("W", "reach", "residual"))
    parts = [
        fit.prior.scores[:, fit.prior.block_of == i]
        @ (W * reach[fit.prior.block_of])[fit.prior.block_of == i]
        for i in range(2)
    ]
    total = (parts[0] + parts[1]).var(0)
    for i in range(2):
        covariance = ((parts[i] - parts[i].mean(0)) * (parts[0] + parts[1])).mean(0)
        np.testing.assert_allclose(
            drawn[0, 7, i], covariance / (total + s**2), rtol=1e-3, atol=1e-4
        )


def test_weights_on_the_original_columns_make_the_same_predictions(fit):
    weights = fit.feature_weights()
    assert list(weights.index[:2]) == [("real", "f0"), ("real", "f1")]
    standard = (BOTH - BOTH.mean(0)) / BOTH.std(0)
    W, reach = (fit.posterior.others[name].pooled for name in ("W", "reach"))
    mean = (W * reach[:, fit.prior.block_of]).mean(0)[:, fit.kept_positions()]
    np.testing.assert_allclose(standard @ weights, fit.prior.scores @ mean, atol=1e-4)


def test_top_features_go_with_the_prediction(fit):
    top = fit.top_features(3)
    assert top.shape == (3, fit.n_dimensions)
    W, reach = (fit.posterior.others[name].pooled for name in ("W", "reach"))
    predicted = fit.prior.scores @ (W * reach[:, fit.prior.block_of]).mean(0)
    columns = [*TABLE.columns, *map(str, range(4))]
    for j in top:
        r = [np.corrcoef(BOTH[:, c], predicted[:, j - 1])[0, 1] for c in range(BOTH.shape[1])]
        assert list(top[j]) == [columns[c] for c in np.argsort(r)[::-1][:3]]


def test_coordinates_have_names(fit):
    reach = fit.site("reach")
    assert list(reach["block"].to_numpy()) == ["real", "noise"]
    assert list(fit.site("W")["component"].to_numpy())[:2] == ["real 1", "real 2"]


def test_a_container_has_the_shares_of_every_draw(fit):
    idata = fit.to_arviz(draws=40, groups=["posterior", "prior"])
    found = idata.posterior["explained"]
    assert found.dims == ("chain", "draw", "block", "dimension")
    assert list(found["block"].to_numpy()) == ["real", "noise"]
    real = found.sel(block="real").mean(("chain", "draw")).to_numpy()
    np.testing.assert_allclose(real, fit.explained()["real"], atol=0.15)
    assert "explained" in idata.prior


def test_the_page_shows_what_features_predict(fit):
    assert "What features predict" in render(fit)


def test_the_figure_shows_the_shares(fit):
    axes = pv.plot.features(fit).axes[0]
    heights = [bar.get_height() for bar in axes.containers[0]]
    np.testing.assert_allclose(heights, fit.explained()["real"])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["real", "noise"]
