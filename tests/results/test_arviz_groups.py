"""The ArviZ container, with whichever ArviZ is installed."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp

import pyrovice as pv
from pyrovice.results.arviz_groups import GROUPS, _tell_apart
from pyrovice.results.arviz_versions import import_arviz

az = import_arviz()
SHORT = pv.Training(schedule=pv.Anneal(steps=300))


def groups_of(idata):
    names = idata.groups if tree(idata) else idata.groups()
    return {name.strip("/") for name in names} - {""}


def tree(idata):
    return isinstance(idata, xr.DataTree)


def tree_is_native():
    return int(az.__version__.split(".")[0]) >= 1


@pytest.fixture(scope="module")
def idata(small, small_fit):
    return small_fit.to_arviz(small, draws=100)


def test_groups_and_named_coordinates(idata, small, small_fit):
    assert groups_of(idata) == set(GROUPS) - {"sample_stats"}
    X = idata.posterior["X"]
    assert X.dims == ("chain", "draw", "object", "dimension")
    assert X.shape == (1, 100, 20, small_fit.n_dimensions)
    assert X.object.values.tolist() == list(small.names)
    assert X.dimension.values.tolist() == list(small_fit.embedding().columns)
    for group in ("posterior_predictive", "log_likelihood"):
        assert idata[group]["odd"].dims == ("chain", "draw", "triplet")
        assert idata[group]["odd"].shape == (1, 100, len(small))
    assert idata.prior["X"].shape[1:] == X.shape[1:]
    assert (idata.prior["X"].values >= 0).all()
    np.testing.assert_array_equal(idata.observed_data["odd"], small.odd)
    np.testing.assert_array_equal(idata.constant_data["objects"], small.objects)


def test_log_likelihood_is_what_predict_averages(idata, small, small_fit):
    log_p = idata.log_likelihood["odd"].values[0].astype(float)
    averaged = logsumexp(log_p, axis=0) - np.log(len(log_p))
    p = small_fit.predict(small, draws=100, seed=0)
    np.testing.assert_allclose(averaged, np.log(p[np.arange(len(small)), small.odd]), atol=1e-5)


def test_draws_are_those_of_the_fit(idata, small_fit):
    kept = small_fit.kept_positions()
    np.testing.assert_array_equal(
        idata.posterior["X"].values[0], small_fit.draws(100, seed=0)[..., kept]
    )


def test_drawn_answers_have_the_predicted_frequencies(idata, small, small_fit):
    p = small_fit.predict(small, draws=100, seed=0)
    drawn = idata.posterior_predictive["odd"].values[0]
    for position in range(3):
        share = (drawn == position).mean(axis=0)
        # Shares of 100 draws: the largest of 9,000 standardised errors is below 6.
        z = (share - p[:, position]) / np.sqrt(p[:, position] * (1 - p[:, position]) / 100 + 1e-4)
        assert np.abs(z).max() < 6
        assert abs(z.mean()) < 0.1


def test_attributes_say_what_was_fitted(idata, small, small_fit):
    assert idata.attrs["prior"] == str(small_fit.prior)
    assert idata.attrs["guide"] == "MeanField()"
    assert idata.attrs["data_digest"] == small.digest()
    assert idata.attrs["judgments"] == "3000 of 3000"
    assert all(isinstance(value, str | int) for value in idata.attrs.values())


def test_a_file_and_back(idata, tmp_path):
    path = tmp_path / "fit.nc"
    idata.to_netcdf(path)
    again = xr.open_datatree(path) if tree(idata) else az.from_netcdf(path)
    np.testing.assert_array_equal(again.posterior["X"], idata.posterior["X"])
    assert again.posterior.object.values.tolist() == idata.posterior.object.values.tolist()
    assert again.attrs["prior"] == idata.attrs["prior"]


def test_what_arviz_does_with_it(idata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summary = az.summary(idata, var_names=["X"], kind="stats")
        loo = az.loo(idata)
    assert len(summary) == idata.posterior["X"][0, 0].size
    assert summary["mean"].astype(float).max() > 0.5
    elpd = loo.elpd_loo if hasattr(loo, "elpd_loo") else loo.elpd
    in_sample = idata.log_likelihood["odd"].values.astype(float).mean(axis=(0, 1)).sum()
    assert elpd < in_sample


def test_comparison_and_figures_of_arviz(idata, small):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worse = pv.fit(small, dimensions=1, training=SHORT, progress=False)
        table = az.compare({"three": idata, "one": worse.to_arviz(small, draws=100)})
        drawn = [az.plot_forest(idata, var_names=["X"], coords={"dimension": [1]})]
        if tree(idata):
            drawn += [az.plot_ppc_rootogram(idata), az.plot_ppc_dist(idata)]
        else:
            drawn.append(az.plot_ppc(idata, num_pp_samples=20))
    assert table.index.tolist() == ["three", "one"]
    assert table["se"].notna().all()
    assert all(figure is not None for figure in drawn)
    plt.close("all")


def test_equal_likelihoods_are_told_apart():
    scores = np.full((1, 500, 3), -1.0, np.float32)
    rng = np.random.default_rng(0)
    scores[..., 1] = rng.normal(-1, 0.1, 500)
    scores[0, :20, 2] = -2.0
    before = scores.copy()
    _tell_apart(scores, rng)
    np.testing.assert_array_equal(scores[..., 1:], before[..., 1:])
    assert len(np.unique(scores[..., 0])) > 50
    np.testing.assert_allclose(scores, before, atol=1.1e-5)


@pytest.mark.skipif(tree_is_native(), reason="the installed ArviZ makes DataTrees anyway")
def test_the_container_of_the_next_arviz(small, small_fit, monkeypatch, tmp_path):
    monkeypatch.setattr("pyrovice.results.arviz_versions.version", lambda name: "1.3.0")
    made = small_fit.to_arviz(small, draws=10)
    assert isinstance(made, xr.DataTree)
    assert groups_of(made) == set(GROUPS) - {"sample_stats"}
    made.to_netcdf(tmp_path / "fit.nc")
    # A file of the next generation is a file of this one too.
    again = az.from_netcdf(tmp_path / "fit.nc")
    np.testing.assert_array_equal(again.posterior["X"], made.posterior["X"])


def test_a_stated_part_of_the_judgments(small, small_fit):
    part = small_fit.to_arviz(small, draws=10, judgments=50)
    assert part.log_likelihood["odd"].shape == (1, 10, 50)
    assert part.attrs["judgments"] == "50 of 3000"
    assert small_fit.to_arviz(small, draws=10, judgments=10**6).attrs["judgments"] == "3000 of 3000"


def test_large_data_are_cut_by_themselves(small, small_fit, monkeypatch):
    monkeypatch.setattr("pyrovice.results.arviz_groups.MOST_LIKELIHOODS", 2000)
    part = small_fit.to_arviz(small, draws=10)
    assert part.log_likelihood["odd"].shape == (1, 10, 200)


def test_the_prior_of_a_large_embedding_has_fewer_draws(small, small_fit, monkeypatch):
    monkeypatch.setattr("pyrovice.results.joint_draws.MOST_PRIOR_ENTRIES", 1000)
    monkeypatch.setattr("pyrovice.results.joint_draws.FEWEST_DRAWS", 3)
    made = small_fit.to_arviz(small, draws=20)
    fewer = max(3, 1000 // int(np.prod(small_fit.posterior.shape)))
    assert made.prior["X"].shape[1] == made.prior_predictive["odd"].shape[1] == fewer
    assert made.posterior["X"].shape[1] == 20


def test_without_data(small_fit):
    assert groups_of(small_fit.to_arviz(draws=5)) == {"posterior", "prior"}


def test_some_groups(small, small_fit):
    idata = small_fit.to_arviz(small, draws=5, groups=["log_likelihood"])
    assert groups_of(idata) == {"log_likelihood"}


def test_anchors_and_participants(small, small_fit):
    anchor = np.where(np.arange(len(small)) % 2, -1, (small.odd + 1) % 3)
    who = np.array(["ann", "bob"], dtype=object)[np.arange(len(small)) % 2]
    data = pv.Triplets(small.objects, small.odd, names=small.names, anchor=anchor, participants=who)
    idata = small_fit.to_arviz(data, draws=20)
    drawn = idata.posterior_predictive["odd"].values
    assert not (drawn == anchor).any()
    assert set(idata.constant_data["participant"].values) == {"ann", "bob"}
    np.testing.assert_array_equal(idata.constant_data["anchor"], anchor)


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_chains_of_nuts_stay_chains(small):
    part = small[:300]
    fit = pv.sample(part, dimensions=2, draws=30, warmup=20, chains=2, seed=0)
    X = fit.to_arviz(part, draws=20).posterior["X"]
    assert X.shape[:2] == (2, 20)
    assert fit.to_arviz(part, draws=500).posterior["X"].shape[:2] == (2, 30)


def test_fits_of_several_seeds_become_chains(small, small_fit):
    other = pv.fit(small, dimensions=6, seed=1, progress=False)
    aligned = pv.align([small_fit, other])
    X = pv.to_arviz(aligned, small, draws=50).posterior["X"]
    assert X.shape[:2] == (2, 50)
    apart = np.abs(X.mean("draw").diff("chain")).max()
    # The same dimensions in the same places: 0.17 when measured, weights go up to 3.
    assert apart < 0.5


def test_learned_hyperparameters_are_there(small):
    fit = pv.fit(small, prior=pv.LearnedSpikeSlab(), dimensions=6, progress=False)
    posterior = fit.to_arviz(draws=200).posterior
    table = fit.hyperparameters().xs("all", level="dimension")
    for name in table.index:
        values = posterior[name].values
        assert values.shape == (1, 200)
        assert abs(values.mean() - table.loc[name, "mean"]) < 4 * table.loc[name, "sd"] / 200**0.5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"groups": "posterior"}, "expected a list with some of 'posterior'"),
        ({"groups": ["postrior"]}, "expected a list with some of 'posterior'"),
        ({"groups": ["log_likelihood"]}, "are about judgments: pass them"),
        ({"draws": 0}, "whole number of at least 1"),
    ],
)
def test_bad_arguments_get_a_sentence(small_fit, arguments, sentence):
    with pytest.raises(pv.PyroviceError, match=sentence):
        small_fit.to_arviz(**arguments)


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_fits_that_are_no_chains(small, small_fit):
    other = pv.fit(small, dimensions=2, seed=1, progress=False)
    with pytest.raises(pv.PyroviceError, match=r"pv\.align"):
        pv.to_arviz([small_fit, other])
    with pytest.raises(pv.PyroviceError, match="at least one"):
        pv.to_arviz([])
    strangers = pv.simulate(np.eye(3).repeat(3, axis=0), 100, seed=0)
    with pytest.raises(pv.DataError, match="9 objects and the fit of 20"):
        small_fit.to_arviz(strangers)
