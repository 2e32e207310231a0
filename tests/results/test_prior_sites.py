import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from scipy import stats

import pyrovice as pv
from pyrovice.model.model import Model
from pyrovice.results.posterior import SiteDraws, posterior_of
from pyrovice.results.prior_sites import redrawable
from pyrovice.results.site_tables import hyperparameter_table

M, D = 40, 5


def known(X):
    """A guide that is as good as sure of X, and has no idea of anything else."""

    def guide(*args):
        with pyro.plate("dimension", D, dim=-1):
            pyro.sample("scale", dist.LogNormal(torch.zeros(D), 1.0))
            with pyro.plate("object", M, dim=-2):
                pyro.sample("X", dist.Normal(X, 1e-6))

    return guide


def test_hyperparameters_are_drawn_given_what_is_left_of_x():
    """ARD: the scale of each dimension given its positive weights, by numerical integration."""
    X = 0.8 * torch.randn(M, D, generator=torch.Generator().manual_seed(0))
    # Below zero anything goes: these values must not count.
    X = torch.where(X > 0, X, -50.0)
    found = hyperparameter_table(posterior_of(known(X), Model(pv.ARD(0.5), M, D)).others)
    grid = np.linspace(0.05, 4, 4000)
    for dim in range(D):
        positive = X[:, dim][X[:, dim] > 0].numpy()
        log_p = stats.norm.logpdf(positive[:, None], scale=grid).sum(0)
        p = np.exp(log_p - log_p.max()) * stats.halfnorm.pdf(grid, scale=0.5)
        mean = (p * grid).sum() / p.sum()
        sd = np.sqrt((p * (grid - mean) ** 2).sum() / p.sum())
        row = found.loc["scale", dim]
        # Twice what was seen over seeds.
        assert row["mean"] == pytest.approx(mean, abs=0.3 * sd)
        assert row["sd"] == pytest.approx(sd, rel=0.25)


def test_a_guide_that_is_a_point_is_taken_at_its_word(small):
    def prior(n_objects, dimensions):
        scale = pyro.sample("scale", dist.LogNormal(0.0, 0.1))
        with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
            return pyro.sample("X", dist.Normal(0.0, scale))

    training = pv.Training(stop=pv.MaxEpochs(20))
    with pytest.warns(pv.PyroviceWarning, match="All 6 dimensions"):
        fit = pv.fit(small, prior=prior, guide=pv.MAP(), dimensions=6, training=training)
    assert fit.hyperparameters().loc[("scale", "all"), "sd"] < 1e-6


def test_only_sites_without_objects_are_hyperparameters():
    def prior(n_objects, dimensions):
        pyro.sample("one", dist.Normal(0.0, 1.0))
        pyro.sample("pair", dist.Normal(torch.zeros(2), 1.0).to_event(1))
        with pyro.plate("object", n_objects, dim=-2):
            local = pyro.sample("local", dist.HalfCauchy(1.0))
            with pyro.plate("dimension", dimensions, dim=-1):
                return pyro.sample("X", dist.Normal(0.0, local))

    assert redrawable(Model(prior, 4, 3)) == ["one"]


def test_select_follows_the_dimensions():
    pi = SiteDraws(np.arange(6.0).reshape(1, 2, 3), ("dimension",)).select([2, 0])
    spike = SiteDraws(np.array([[1.0, 2.0]])).select([2, 0])
    assert pi.pooled.tolist() == [[2, 0], [5, 3]]
    assert spike.pooled.tolist() == [1, 2]
    table = hyperparameter_table({"pi": pi, "spike": spike})
    assert list(table.index) == [("pi", 0), ("pi", 1), ("spike", "all")]
    assert hyperparameter_table({}).empty


def test_the_scale_of_a_dimension_stays_with_it(small):
    fit = pv.fit(small, prior=pv.ARD(), dimensions=6, progress=False)
    scales = fit.hyperparameters()["mean"].to_numpy()
    weights = np.sqrt((fit.embedding("mean", pruned=False) ** 2).mean()).to_numpy()
    # Rectified weights of scale s have a root mean square of s / √2.
    assert np.corrcoef(scales, weights)[0, 1] > 0.9
    assert len(fit.prune().hyperparameters()) == fit.n_dimensions


def test_a_distribution_that_cannot_say_how_probable_a_zero_is(small):
    """StudentT has no cdf in torch, so the guide's own opinion is all there is."""

    def prior(n_objects, dimensions):
        scale = pyro.sample("scale", dist.LogNormal(-1.0, 0.3))
        with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
            return pyro.sample("X", dist.StudentT(4.0, 0.0, scale))

    model = Model(prior, 20, 4, small)
    guide = pv.MeanField()(model)
    law = stats.lognorm(guide.log_scale.scale.exp().item(), scale=guide.loc.scale.exp().item())
    draws = posterior_of(guide, model).others["scale"].pooled
    # Four standard errors of a mean of 1,000 draws.
    assert draws.mean() == pytest.approx(law.mean(), abs=4 * law.std() / 1000**0.5)
