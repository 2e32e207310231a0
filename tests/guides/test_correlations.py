"""A guide with covariances is not worse than the independent Normals that it contains."""

from functools import partial

import numpy as np
import pyro
import pytest
import torch
from pyro.infer.autoguide import AutoLowRankMultivariateNormal, AutoMultivariateNormal

import pyrovice as pv
from pyrovice.guides.correlations import _shrinking, with_settled_correlations
from pyrovice.guides.low_rank import UNIT, LowRankGuide
from pyrovice.model.model import Model

TRUTH = 1.5 * np.eye(2).repeat(4, axis=0)
DATA = pv.simulate(TRUTH, 300, seed=0)


def covariance(guide):
    """Of the entries of X, as the guide draws them."""
    if isinstance(guide, LowRankGuide):
        directions = guide.directions().flatten(1)
        return directions.mT @ directions + guide.log_scale.X.exp().square().flatten().diag()
    return guide.get_posterior().covariance_matrix


@pytest.fixture(params=[AutoMultivariateNormal, AutoLowRankMultivariateNormal, pv.LowRank(3)])
def noisy(request):
    """A guide whose correlations are noise."""
    pyro.set_rng_seed(0)
    model = Model(pv.SpikeSlab(), 8, 2, DATA)
    with pyro.settings.context(module_local_params=True):
        guide = request.param(model)
        guide(model.data)
        with torch.no_grad():
            for name, value in guide.named_parameters():
                noise = 0.3 * torch.randn_like(value)
                if "tril" in name:
                    value += noise.tril(-1)
                elif "factor" in name:
                    value += noise / (UNIT if isinstance(guide, LowRankGuide) else 1.0)
    return guide, model


@torch.no_grad()
def test_shrinking_keeps_variances_and_a_share_of_covariances(noisy):
    guide, _ = noisy
    before = covariance(guide)
    shrink = _shrinking(guide)
    for share in (0.5, 0.0, 1.0):
        shrink(share)
        expected = share * before + (1 - share) * before.diag().diag()
        torch.testing.assert_close(covariance(guide), expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_correlations_that_are_noise_are_shrunk(noisy):
    guide, model = noisy
    before = covariance(guide)
    after = covariance(with_settled_correlations(guide, model))
    torch.testing.assert_close(after.diag(), before.diag(), rtol=1e-4, atol=1e-5)
    off = ~torch.eye(16, dtype=torch.bool)
    assert after[off].norm() < 0.8 * before[off].norm()


@pytest.mark.filterwarnings("ignore:All . dimensions", "ignore:No dimension has more")
@pytest.mark.filterwarnings("ignore:Training did not settle")
def test_a_richer_guide_is_not_worse():
    rng = np.random.default_rng(0)
    truth = rng.gamma(1.0, 1.2, (15, 4)) * (rng.random((15, 4)) < 0.5)
    data = pv.simulate(truth, 1000, seed=0)
    training = pv.Training(schedule=pv.Anneal(steps=300), stop=pv.MaxEpochs(320))
    least, *richer = (
        pv.fit(data, guide=guide, dimensions=6, training=training, seed=1).elbo(data, particles=200)
        for guide in (
            pv.MeanField(),
            pv.LowRank(3),
            AutoMultivariateNormal,
            partial(AutoLowRankMultivariateNormal, rank=4),
        )
    )
    # From starts of their own, Pyro's guides were 15 nats short.
    for bound in richer:
        assert bound.value > least.value - 2 * (bound.se + least.se)


def test_ctrl_c_before_a_richer_guide_begins(small, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.optim.Adam, "step", interrupt)
    with (
        pytest.warns(pv.PyroviceWarning, match="Interrupted after 0 epochs"),
        pytest.warns(pv.PyroviceWarning, match=r"MeanField\(\), from which LowRank\(rank=2\)"),
    ):
        fit = pv.fit(small, guide=pv.LowRank(2), progress=False)
    assert fit.predict(small[:5]).shape == (5, 3)


def test_directions_cost_no_more_than_they_are_worth():
    train, _ = pv.load_example().triplets.split(0.15, 0.85, seed=0)
    usual = {"training": pv.Training(schedule=pv.Anneal(steps=600)), "progress": False}
    plain = pv.fit(train, dimensions=12, **usual)
    low_rank = pv.fit(train, guide=pv.LowRank(3), dimensions=12, init=plain, **usual)
    found, least = (fit.elbo(train, particles=400) for fit in (low_rank, plain))
    # 4.5 nats less where directions are as long as the scales for a factor of one.
    assert found.value > least.value - 1.5 * (found.se + least.se)


def test_other_guides_are_left_alone(small_fit):
    assert _shrinking(small_fit.guide) is None
