import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro import poutine
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoNormal, init_to_value
from pyro.infer.importance import psis_diagnostic

import pyrovice as pv
from pyrovice.guides import MeanField, resolve_guide
from pyrovice.model import Model


def test_mean_field_is_a_normal_per_entry(small):
    guide = MeanField()(Model(pv.SpikeSlab(), 20, 4, small))
    node = poutine.trace(guide).get_trace().nodes["X"]
    assert isinstance(node["fn"], dist.Normal)
    assert {f.name: f.dim for f in node["cond_indep_stack"]} == {"object": -2, "dimension": -1}
    assert [name for name, _ in guide.named_parameters()] == ["loc.X", "log_scale.X"]


def test_same_elbo_as_pyros_own_mean_field(small):
    model = Model(pv.SpikeSlab(), 20, 4, small)
    ours = MeanField()(model)
    loc, scale = ours.loc.X.detach(), ours.log_scale.X.detach().exp()
    start = init_to_value(values={"X": loc})
    theirs = AutoNormal(model, init_loc_fn=start, init_scale=float(scale[0, 0]))
    theirs()
    losses = []
    for guide in (ours, theirs):
        pyro.set_rng_seed(3)
        losses.append(Trace_ELBO().loss(model, guide))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_positive_support_gets_lognormals(small):
    guide = MeanField()(Model(dist.Exponential(2.0), 20, 4, small))
    assert isinstance(poutine.trace(guide).get_trace().nodes["X"]["fn"], dist.LogNormal)


def test_select_keeps_columns_and_their_order(small):
    guide = MeanField()(Model(pv.SpikeSlab(), 20, 4, small))
    part = guide.select([2, 0])
    torch.testing.assert_close(part.loc.X, guide.loc.X[:, [2, 0]])
    assert part()["X"].shape == (20, 2)


def test_hyper_priors_are_followed(small):
    def prior(n_objects, dimensions):
        scale = pyro.sample("scale", dist.LogNormal(0.0, 0.5))
        with pyro.plate("dimension", dimensions, dim=-1):
            pi = pyro.sample("pi", dist.Beta(2.0, 2.0))
            with pyro.plate("object", n_objects, dim=-2):
                return pyro.sample("X", pv.distributions.SpikeAndSlab(0.1, 0.1 + scale, pi))

    model = Model(prior, 20, 4, small)
    guide = MeanField()(model)
    drawn = guide()
    assert 0 < drawn["pi"].min() <= drawn["pi"].max() < 1
    assert guide.select([1])()["pi"].shape == (1,)
    assert guide.select([1])()["scale"].shape == ()
    one = Trace_ELBO(num_particles=3, vectorize_particles=True, max_plate_nesting=2)
    assert one.loss(model, guide) > 0


def test_pyros_own_tools_take_model_and_guide(small, small_fit):
    model, guide = small_fit.model, small_fit.guide
    draws = Predictive(model, guide=guide, num_samples=7)()["X"]
    assert draws.shape == (7, 20, small_fit.model.dimensions)
    answers = Predictive(poutine.uncondition(model), guide=guide, num_samples=5, parallel=True)()
    assert answers["odd"].squeeze().shape == (5, 3000)
    assert psis_diagnostic(model, guide, num_particles=50) > 0
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 1e-3}), Trace_ELBO())
    before = guide.loc.X.detach().clone()
    loss = svi.step(small)
    assert loss == pytest.approx(small_fit.history.loss.iloc[-1] * 3000, rel=0.1)
    assert not torch.equal(before, pyro.param("loc.X"))


def test_nuts_runs_on_the_model(small):
    model = Model(pv.SpikeSlab(), 20, 2, small[:200])
    mcmc = MCMC(NUTS(model, max_tree_depth=3), num_samples=3, warmup_steps=2, disable_progbar=True)
    pyro.set_rng_seed(0)
    mcmc.run()
    assert mcmc.get_samples()["X"].shape == (3, 20, 2)


def test_bad_guides_get_a_sentence(small):
    model = Model(pv.SpikeSlab(), 20, 2, small)
    with pytest.raises(pv.GuideError, match="is no guide"):
        resolve_guide("normal", model)
    with pytest.raises(pv.GuideError, match="returned a NoneType"):
        resolve_guide(lambda model: None, model)
    assert resolve_guide(MeanField, model)()["X"].shape == (20, 2)
