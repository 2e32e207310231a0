"""A choice and a prior that a user wrote go through everything, and find the truth."""

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.results.arviz_versions import leave_one_out

# Chains this short are not expected to agree, nor is the tail of so few draws expected to be fine.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Not known to have converged"),
    pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto"),
    pytest.mark.filterwarnings("ignore:No dimension has more than"),
    pytest.mark.filterwarnings("ignore:All . dimensions were kept"),
]
QUICK = {"dimensions": 4, "training": pv.Training(schedule=pv.Anneal(200), stop=pv.MaxEpochs(200))}


def lapses(X, judgments):
    lapse = pyro.sample("lapse", dist.Beta(1.0, 20.0))
    log_p = pv.choices.similarities(X, judgments).log_softmax(-1)
    return torch.logaddexp(log_p + torch.log1p(-lapse), torch.log(lapse / 3))


def tenth_lapses(X, judgments):
    log_p = pv.choices.similarities(X, judgments).log_softmax(-1)
    return torch.logaddexp(log_p + np.log(0.9), torch.full_like(log_p, np.log(0.1 / 3)))


FEATURES = torch.randn(40, 3, generator=torch.Generator().manual_seed(5))
WEIGHTS = torch.tensor([[0.9, 0.0, -0.6], [0.0, 0.9, 0.0], [-0.5, 0.0, 0.8]])


def regression(n_objects, dimensions):
    spread = pyro.sample("spread", dist.HalfNormal(0.5))
    with pyro.plate("dimension", dimensions, dim=-1):
        with pyro.plate("feature", 3, dim=-2):
            W = pyro.sample("W", dist.Normal(0.0, 1.0))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(FEATURES @ W + 0.3, spread))


@pytest.fixture(scope="module")
def truth():
    return 1.3 * sparse_embedding(16, 3, seed=1)


@pytest.fixture(scope="module")
def lapsing(truth):
    return pv.simulate(truth, 30_000, seed=2, choice=tenth_lapses)


@pytest.fixture(scope="module")
def explained():
    noise = 0.2 * torch.randn(40, 3, generator=torch.Generator().manual_seed(6))
    X = (FEATURES @ WEIGHTS + 0.3 + noise).relu().numpy()
    return pv.simulate(X, 12_000, seed=3)


def everything(data, tmp_path, names, **parts):
    """Everything that a fit is for."""
    train, test = data.split(0.8, 0.2, seed=0)
    usual = QUICK | parts
    fit = pv.fit(train, progress=False, **usual)
    assert set(fit.sites()) == {"X", *names}
    assert fit.evaluate(test).accuracy > 0.4
    assert fit.calibration(test).error < 0.1
    assert len(pv.checks.report(fit, test).checks) >= 4
    assert len(pv.diagnose(fit, train, held_out=test, refits=1).findings) >= 6
    idata = fit.to_arviz(train, draws=50, judgments=300)
    assert {*names} <= set(idata.posterior.data_vars)
    assert np.isfinite(leave_one_out(idata)["elpd"])
    plain = pv.fit(train, progress=False, **QUICK)
    assert len(pv.compare({"own": fit, "plain": plain}, train, draws=50)) == 2
    refined = pv.refine(fit, train, draws=8, chains=2)
    assert set(refined.sites()) == set(fit.sites())
    priors = [parts.get("prior", pv.SpikeSlab())]
    shared = {name: value for name, value in usual.items() if name != "prior"}
    found = pv.sweep(train, test, priors=priors, seeds=1, store=tmp_path, progress=False, **shared)
    assert len(list(tmp_path.rglob("*.fit"))) == len(found.table) == 1


@pytest.mark.slow
def test_lapses_go_through_everything(lapsing, tmp_path):
    everything(lapsing.subset(9000, seed=0), tmp_path, ["lapse"], choice=lapses)
    few = lapsing.subset(300, seed=0)
    sampled = pv.sample(few, choice=lapses, dimensions=1, draws=6, warmup=6, chains=2)
    assert sampled.site("lapse").shape == (2, 6)


@pytest.mark.slow
def test_a_regression_goes_through_everything(explained, tmp_path):
    everything(explained, tmp_path, ["spread", "W"], prior=regression)
    few = explained.subset(300, seed=0)
    sampled = pv.sample(few, prior=regression, dimensions=1, draws=6, warmup=6, chains=2)
    assert sampled.site("W").shape == (2, 6, 3, 1)


def test_a_lapse_of_a_tenth_is_found(truth, lapsing):
    fit = pv.fit(lapsing, choice=lapses, dimensions=6, progress=False)
    low, high = fit.site("lapse").quantile([0.05, 0.95]).to_numpy()
    # Over six data sets the means were within 0.011 of it, and four of the intervals held it.
    assert low < 0.1 < high
    assert high - low < 0.03
    # Without lapses, the weights have to explain the guesses, and predict worse.
    plain = pv.fit(lapsing, dimensions=6, progress=False)
    new = pv.simulate(truth, 20_000, seed=9, choice=tenth_lapses)
    assert fit.evaluate(new).cross_entropy < plain.evaluate(new).cross_entropy


def test_regression_weights_are_found(explained):
    fit = pv.fit(explained, prior=regression, dimensions=3, progress=False)
    W = fit.site("W").mean(("chain", "draw")).to_numpy()
    r = np.corrcoef(W.T, WEIGHTS.numpy().T)[:3, 3:]
    # Dimensions come in any order; 0.98 and more was seen.
    assert (r.max(axis=0) > 0.93).all()
    assert fit.site("spread").mean() == pytest.approx(0.2, abs=0.12)
