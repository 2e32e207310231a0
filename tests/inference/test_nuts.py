from dataclasses import replace

import numpy as np
import pyro.distributions as dist
import pytest
import torch
from pyro import poutine

import pyrovice as pv
from pyrovice.inference.chains import log_densities
from pyrovice.inference.nuts import NUTS, run_chains
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model

TRUTH = 1.5 * np.eye(2).repeat(4, axis=0)


@pytest.fixture(scope="module")
def data():
    return pv.simulate(TRUTH, 300, seed=0)


@pytest.fixture(scope="module")
def sampled(data):
    return pv.sample(
        data, prior=pv.LearnedSpikeSlab(per_dimension=True), dimensions=2, draws=60, warmup=60,
        chains=2, seed=1)  # fmt: skip


# Sixty draws may or may not look converged, which is not the point here.
pytestmark = pytest.mark.filterwarnings("ignore:Not known to have converged")


def test_a_sampled_fit_is_a_fit(sampled, data, tmp_path):
    assert sampled.posterior.weights.stored.shape == (2, 60, 8, 2)
    np.testing.assert_allclose(sampled.predict(data).sum(1), 1, rtol=1e-6)
    assert sampled.evaluate(data).cross_entropy < 1
    assert len(sampled.history) == 60
    np.testing.assert_allclose(
        sampled.history.loss, sampled.history.complexity - sampled.history.log_likelihood
    )
    assert list(sampled.hyperparameters().index) == [
        ("spike", "all"), ("slab", "all"), ("pi", 1), ("pi", 2)]  # fmt: skip
    assert sampled.mixing().index.names == ["object", "dimension"]
    sampled.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert loaded.guide_family == NUTS(60, 60, 2)
    assert loaded.training is None
    assert np.array_equal(loaded.predict(data), sampled.predict(data))
    assert loaded.mixing().equals(sampled.mixing())
    with pytest.raises(pv.GuideError, match="holds the posterior but not the guide"):
        _ = sampled.guide


def test_the_same_seed_gives_the_same_draws(data):
    method = NUTS(draws=5, warmup=5, chains=1)
    model = Model(pv.SpikeSlab(), 8, 2)
    (a,), (b,) = (run_chains(model, data, method, [4]) for _ in range(2))
    assert np.array_equal(a.sites["X"], b.sites["X"])
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    run_chains(model, data, method, [4])
    assert torch.equal(torch.random.get_rng_state(), before)


def test_log_densities_are_those_of_the_model(data):
    model = Model(pv.LearnedSpikeSlab(per_dimension=True), 8, 2, Judgments.aggregated(data))
    torch.manual_seed(0)
    traces = [poutine.trace(model).get_trace() for _ in range(3)]
    names = ("pi", "spike", "slab", "X")
    sites = {name: torch.stack([t.nodes[name]["value"] for t in traces]) for name in names}
    likelihood, prior = log_densities(model, sites)
    for i, trace in enumerate(traces):
        trace.compute_log_prob()
        assert likelihood[i].item() == pytest.approx(
            trace.nodes["odd"]["log_prob_sum"].item(), rel=1e-5
        )
        total = sum(trace.nodes[name]["log_prob_sum"].item() for name in names)
        assert prior[i].item() == pytest.approx(total, rel=1e-5)


def test_a_prior_given_as_a_lambda_travels_to_the_chains(data):
    def prior(n_objects, dimensions):
        return pv.SpikeSlab(slab=0.9)(n_objects, dimensions)

    fit = pv.sample(data, prior=prior, dimensions=2, draws=10, warmup=10, chains=2)
    assert fit.posterior.weights.stored.shape == (2, 10, 8, 2)


def test_one_chain_cannot_say_whether_it_converged(data):
    with pytest.warns(pv.PyroviceWarning, match="one chain cannot say"):
        fit = pv.sample(data, dimensions=2, draws=10, warmup=10, chains=1)
    with pytest.raises(pv.PyroviceError, match=r"Only chains can agree.*chains=4"):
        fit.mixing()


def test_guides_have_no_r_hat(small_fit):
    with pytest.raises(pv.PyroviceError, match="draws from a guide are independent"):
        small_fit.mixing()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"draws": 3}, "draws=3; expected a whole number of at least 4"),
        ({"chains": 0}, "chains=0"),
        ({"warmup": -1}, "warmup=-1"),
        ({"seed": "x"}, "seed='x'"),
        ({"dimensions": 0}, "dimensions=0"),
        ({"prior": dist.Poisson(2.0)}, "is discrete"),
        ({"prior": lambda m, d: torch.zeros(m, d)}, "samples no site 'X'"),
    ],
)
def test_bad_arguments_get_a_sentence(data, arguments, sentence):
    with pytest.raises(pv.PyroviceError, match=sentence):
        pv.sample(data, **{"dimensions": 2} | arguments)
    with pytest.raises(TypeError, match="expected Triplets"):
        pv.sample([[0, 1, 2]])


def test_what_the_sampler_says_of_each_draw(sampled, tmp_path):
    sampled.save(tmp_path / "f")
    for fit in (sampled, pv.load(tmp_path / "f")):
        stats = fit.to_arviz(pruned=False).sample_stats
        assert dict(stats.sizes) == {"chain": 2, "draw": 60}
        names = {"lp", "acceptance_rate", "step_size", "n_steps", "tree_depth", "energy"}
        assert set(stats.data_vars) == names | {"diverging"}
        # A difference of running sums, so that one is one up to rounding.
        assert ((stats.acceptance_rate > 0) & (stats.acceptance_rate <= 1 + 1e-9)).all()
        assert (stats.n_steps < 2**stats.tree_depth).all()
        # The energy is that of the positions and the momenta, which is positive.
        assert np.isfinite(stats.energy).all()
    assert sampled.mixing("pi").index.tolist() == [1, 2]
    assert sampled.mixing("slab").shape == (1, 3)


def test_a_fit_that_keeps_nothing_still_has_a_posterior(sampled):
    """More than five objects out of eight is a lot to ask; that is said."""
    none = replace(sampled, pruned=False)
    assert none.n_dimensions == 0
    with pytest.warns(pv.PyroviceWarning, match="none is kept; the container has all 2"):
        kept = none.to_arviz(draws=10)
    every = none.to_arviz(draws=10, pruned=False)
    assert kept.posterior["X"].shape == every.posterior["X"].shape == (2, 10, 8, 2)
    assert every.posterior["pi"].shape == (2, 10, 2)
