import numpy as np
import pyro
import pytest
import torch
from pyro import poutine
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from scipy.special import logsumexp
from scipy.stats import norm

import pyrovice as pv
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model

D = 4


@pytest.fixture
def X():
    return torch.randn(20, D, generator=torch.Generator().manual_seed(0))


def log_joint(model, X, *args):
    trace = poutine.trace(poutine.condition(model, {"X": X})).get_trace(*args)
    return trace.log_prob_sum().item()


def paper_log_joint(X, triplets, spike=0.25, slab=1.0, pi=0.5):
    """log p(X) + sum of log p(odd | X), written out from the paper."""
    X = X.double().numpy()
    log_prior = np.log(pi * norm.pdf(X, 0, spike) + (1 - pi) * norm.pdf(X, 0, slab)).sum()
    R = np.maximum(X, 0)
    S = R @ R.T
    log_likelihood = 0.0
    for (i, j, k), odd in zip(triplets.objects, triplets.odd, strict=True):
        pairs = [S[j, k], S[i, k], S[i, j]]
        log_likelihood += pairs[odd] - logsumexp(pairs)
    return log_prior + log_likelihood


def test_log_joint_is_the_papers(small, X):
    model = Model(pv.SpikeSlab(), 20, D, small)
    assert log_joint(model, X) == pytest.approx(paper_log_joint(X, small), rel=1e-5)


def test_sites_and_plates(small):
    trace = poutine.trace(Model(pv.SpikeSlab(), 20, D, small)).get_trace()
    assert trace.nodes["odd"]["is_observed"]
    frames = {f.name for n in ("X", "odd") for f in trace.nodes[n]["cond_indep_stack"]}
    assert frames == {"object", "dimension", "triplet"}


@pytest.mark.parametrize("rows", [1, 7, 3000])
def test_batches_are_scaled_to_the_whole(small, X, rows):
    """The mean over all disjoint batches is the log-joint of everything."""
    model = Model(pv.SpikeSlab(), 20, D, small[:2100])
    n = min(rows, 2100)
    batches = torch.randperm(2100, generator=torch.Generator().manual_seed(1)).split(n)[:300]
    used = torch.cat(batches)
    mean = np.mean([log_joint(model, X, None, batch) for batch in batches])
    assert mean == pytest.approx(log_joint(model, X, None, used), rel=1e-5)
    if n == 2100:
        assert mean == pytest.approx(log_joint(model, X), rel=1e-6)


def test_aggregated_data_have_the_same_log_joint(X):
    t = pv.simulate(np.ones((20, 1)), 30_000, seed=0)
    model = Model(pv.SpikeSlab(), 20, D, t)
    few = Judgments.aggregated(t)
    assert len(few) < 4000
    assert log_joint(model, X, few) == pytest.approx(log_joint(model, X), rel=1e-5)


@pytest.mark.parametrize("prior", [pv.SpikeSlab(), pv.SpikeSlab(family="laplace")], ids=repr)
def test_one_particle_equals_four_vectorised_ones(small, prior):
    model = Model(prior, 20, D, small)
    guide = AutoDelta(model)
    guide()
    one = Trace_ELBO().loss(model, guide)
    four = Trace_ELBO(num_particles=4, vectorize_particles=True).loss(model, guide)
    assert four == pytest.approx(one, rel=1e-5)
    batch = torch.arange(50)
    one = Trace_ELBO().loss(model, guide, None, batch)
    four = Trace_ELBO(num_particles=4, vectorize_particles=True).loss(model, guide, None, batch)
    assert four == pytest.approx(one, rel=1e-5)


def test_anchored_and_plain_judgments_in_one_model(X):
    t = pv.Triplets([[0, 1, 2], [0, 1, 2]], [0, 0], anchor=[-1, 1], names=range(20))
    R = X.relu().double()
    S = (R @ R.T).numpy()
    both = S[1, 2] - logsumexp([S[1, 2], S[0, 2], S[0, 1]])
    both += S[1, 2] - logsumexp([S[1, 2], S[0, 1]])
    model = Model(pv.SpikeSlab(), 20, D)
    empty = paper_log_joint(X, pv.Triplets([[0, 1, 2]], [0])[:1]) - (
        S[1, 2] - logsumexp([S[1, 2], S[0, 2], S[0, 1]])
    )
    assert log_joint(model, X, t) - empty == pytest.approx(both, abs=1e-3)


def test_answers_can_be_drawn(small):
    model = Model(pv.SpikeSlab(), 20, D, small)
    pyro.set_rng_seed(0)
    drawn = poutine.uncondition(model)()
    assert drawn.shape == (3000,)
    assert set(drawn.tolist()) == {0, 1, 2}


def test_a_model_without_data_says_so(small):
    with pytest.raises(pv.DataError, match="no judgments of its own"):
        Model(pv.SpikeSlab(), 20, D)()
    with pytest.raises(pv.DataError, match="of 20 objects and the model of 9"):
        Model(pv.SpikeSlab(), 9, D)(small)
