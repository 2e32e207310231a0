"""What holds for every prior, whatever the guide."""

import numpy as np
import pytest
import torch
from contract.cases import ENTRYWISE, PRIORS, VALUES
from pyro import poutine
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta

import pyrovice as pv
from pyrovice.model.model import Model
from pyrovice.storage.registry import describe, restore

every_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


@every_prior
def test_site_and_plate_names(small, prior):
    trace = poutine.trace(Model(prior, 20, 3, small)).get_trace()
    plates = {f.name: f.dim for f in trace.nodes["X"]["cond_indep_stack"]}
    assert plates == {"object": -2, "dimension": -1}
    assert [f.name for f in trace.nodes["odd"]["cond_indep_stack"]] == ["triplet"]
    assert trace.nodes["X"]["value"].shape == (20, 3)


@every_prior
def test_one_particle_equals_four_vectorised_ones(small, prior):
    model = Model(prior, 20, 3, small)
    guide = AutoDelta(model)
    guide()
    for batch in (None, torch.arange(100)):
        one = Trace_ELBO().loss(model, guide, None, batch)
        four = Trace_ELBO(num_particles=4, vectorize_particles=True).loss(model, guide, None, batch)
        assert four == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("name", ENTRYWISE)
def test_log_prior_is_scipys(name):
    prior, scipys = ENTRYWISE[name]
    model = Model(prior, 7, 3)
    X = torch.as_tensor(scipys.rvs((7, 3), random_state=1), dtype=torch.float64)
    trace = poutine.trace(poutine.condition(model.prior, {"X": X})).get_trace(7, 3)
    assert trace.log_prob_sum().item() == pytest.approx(scipys.logpdf(X).sum(), rel=1e-5)


@pytest.mark.parametrize("prior", VALUES.values(), ids=VALUES)
def test_values_are_values(prior):
    assert eval(repr(prior), vars(pv)) == prior
    assert hash(restore(describe(prior))) == hash(prior)
    with pytest.raises(AttributeError):
        prior.scale = 3


@every_prior
def test_draws_of_the_prior_predict_choices(prior):
    implied = pv.priors.predictive(prior, (20, 3), draws=20, triplets=50)
    assert np.all((implied.accuracy >= 1 / 3) & (implied.accuracy <= 1))
