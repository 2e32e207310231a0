from functools import partial

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro import poutine
from pyro.contrib.easyguide import EasyGuide
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import (
    AutoDelta,
    AutoDiscreteParallel,
    AutoGuideList,
    AutoLaplaceApproximation,
    AutoMultivariateNormal,
    AutoNormal,
    AutoRegressiveMessenger,
    init_to_value,
)
from pyro.infer.importance import psis_diagnostic
from scipy import stats
from torch.distributions.constraints import positive

import pyrovice as pv
from pyrovice.guides import MeanField, resolve_guide
from pyrovice.guides.drawing import draw_sites
from pyrovice.model.distributions import SpikeAndSlab
from pyrovice.model.model import Model
from pyrovice.results.weights import closed_form


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
                return pyro.sample("X", SpikeAndSlab(0.1, 0.1 + scale, pi))

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
    with pytest.raises(pv.GuideError, match="is not a guide"):
        resolve_guide("normal", model)
    with pytest.raises(pv.GuideError, match="returned a NoneType"):
        resolve_guide(lambda model: None, model)
    assert resolve_guide(MeanField, model)()["X"].shape == (20, 2)


def low_rank(small, rank=3):
    guide = pv.LowRank(rank)(Model(pv.SpikeSlab(), 20, 4, small))
    torch.manual_seed(0)
    with torch.no_grad():
        guide.factor.X.normal_()
    return guide


def test_low_rank_without_directions_is_the_mean_field(small):
    model = Model(pv.SpikeSlab(), 20, 4, small)
    ours, flat = MeanField()(model), pv.LowRank(2)(model)
    flat.loc.X.data, flat.log_scale.X.data = ours.loc.X.data, ours.log_scale.X.data
    elbo = Trace_ELBO(num_particles=200, vectorize_particles=True, max_plate_nesting=2)
    losses = []
    for guide in (ours, flat):
        pyro.set_rng_seed(3)
        losses.append(elbo.loss(model, guide))
    # Other random numbers, the same distribution: 200 draws differed by 0.1 %.
    assert losses[0] == pytest.approx(losses[1], rel=0.01)


def test_low_rank_density_is_scipys(small):
    guide = low_rank(small)
    trace = poutine.trace(guide).get_trace()
    trace.compute_log_prob()
    W = guide.directions().detach().flatten(1).double().numpy()
    cov = W.T @ W + np.diag(guide.log_scale.X.detach().double().exp().numpy().ravel() ** 2)
    mean = guide.loc.X.detach().double().numpy().ravel()
    X = trace.nodes["X"]["value"].detach().double().numpy().ravel()
    expected = stats.multivariate_normal(mean, cov).logpdf(X)
    assert trace.log_prob_sum().item() == pytest.approx(expected, rel=1e-3)


def test_low_rank_on_positive_weights_counts_the_change_of_variables(small):
    guide = pv.LowRank(1)(Model(dist.Exponential(2.0), 20, 4, small))
    trace = poutine.trace(guide).get_trace()
    X = trace.nodes["X"]["value"].detach()
    loc, scale = guide.loc.X.detach(), guide.log_scale.X.detach().exp()
    expected = dist.LogNormal(loc, scale).log_prob(X).sum().item()
    assert trace.log_prob_sum().item() == pytest.approx(expected, rel=1e-4)


def test_low_rank_draws_have_its_covariance(small):
    guide = low_rank(small, rank=2)
    with torch.no_grad():
        guide.loc.X += 9  # far from the rectifier
    posterior = closed_form(guide)
    draws = posterior.draws(20_000, seed=0).reshape(20_000, -1)
    W = guide.directions().detach().flatten(1).numpy()
    cov = W.T @ W + np.diag(np.exp(2 * guide.log_scale.X.detach().numpy().ravel()))
    np.testing.assert_allclose(posterior.sigma.ravel() ** 2, np.diag(cov), rtol=1e-4)
    # Standard errors of covariances are about 1/141 of the product of standard deviations.
    sd = np.sqrt(np.diag(cov))
    assert np.abs((np.cov(draws.T) - cov) / np.outer(sd, sd)).max() < 5 / 141
    some = posterior.select([2, 0])
    np.testing.assert_allclose(some.factor, posterior.factor[:, :, [2, 0]])
    assert some.draws(2, seed=0).shape == (2, 20, 2)


def test_guides_are_drawn_from_at_once_or_one_by_one(small):
    model = Model(pv.LearnedSpikeSlab(per_dimension=True), 20, 4, small)
    drawn = draw_sites(MeanField()(model), model, 7)
    assert {name: tuple(v.shape) for name, v in drawn.items()} == {
        "spike": (7,), "slab": (7,), "pi": (7, 4), "X": (7, 20, 4)}  # fmt: skip
    own = Model(pv.SpikeSlab(), 20, 4, small)
    alone = draw_sites(lambda: pyro.sample("X", dist.Normal(torch.zeros(20, 4), 1.0)), own, 5)
    assert alone["X"].shape == (5, 20, 4)


def test_autoguides_start_from_the_judgments_unless_told_otherwise(small):
    model = Model(pv.SpikeSlab(), 20, 4, small)
    start = torch.full((20, 4), 0.7)
    guide = resolve_guide(AutoNormal, model, lambda: start)
    guide()
    torch.testing.assert_close(guide.locs.X.data, start)
    other = partial(AutoNormal, init_loc_fn=init_to_value(values={"X": torch.ones(20, 4)}))
    pyro.clear_param_store()
    guide = resolve_guide(other, model, lambda: start)
    guide()
    torch.testing.assert_close(guide.locs.X.data, torch.ones(20, 4))


def test_a_guide_that_starts_from_an_expanded_tensor_is_trained_safely(small):
    """Fused Adam would write past the end of its one number."""

    def guide(model):
        def draw(*args):
            loc = pyro.param("loc", torch.tensor(0.4).expand(20, 4))
            with pyro.plate("object", 20, dim=-2), pyro.plate("dimension", 4, dim=-1):
                pyro.sample("X", dist.Normal(loc, 0.1))

        return draw

    training = pv.Training(stop=pv.MaxEpochs(30))
    with pytest.warns(pv.PyroviceWarning):
        fit = pv.fit(small, guide=guide, dimensions=4, training=training, progress=False)
    assert fit.embedding("mean", pruned=False).to_numpy().std() > 0.01


@pytest.mark.parametrize(
    ("guide", "prior", "sentence"),
    [
        (
            pv.MAP(),
            dist.Gamma(0.5, 1.0),
            r"MAP\(\) looks .* Gamma.* has none: its density is infinite",
        ),
        (AutoDelta, pv.Horseshoe(), r"AutoDelta .*infinite at zero. Use guide=MeanField"),
        (AutoLaplaceApproximation, dist.Laplace(0.0, 1.0), "has an edge at zero"),
        (AutoDiscreteParallel, pv.SpikeSlab(), "is for discrete sites"),
        (pv.LowRank, pv.SpikeSlab(), r"is not a guide; expected .*LowRank\(10\)"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(small, guide, prior, sentence):
    with pytest.raises(pv.GuideError, match=sentence):
        resolve_guide(guide, Model(prior, 20, 3, small))


def test_square_guides_are_refused_where_the_square_is_too_large():
    data = pv.simulate(np.ones((200, 1)), 500, seed=0)
    with pytest.raises(pv.GuideError, match=r"20,000 x 20,000 numbers.*LowRank"):
        resolve_guide(AutoMultivariateNormal, Model(pv.SpikeSlab(), 200, 100, data))


@pytest.mark.parametrize(
    ("guide", "sentence"),
    [
        (AutoGuideList, "has no parameters"),
        (AutoRegressiveMessenger, "no reparameterised gradient"),
        (
            lambda model: lambda *args: {}.popitem(),
            "The function given as guide cannot follow the prior",
        ),
        (lambda model: Turned(model), r"it samples 'X' in the shape \(3, 20\), expected \(20, 3\)"),
        (lambda model: lambda *args: _weight(), "it does not sample the site 'X'"),
    ],
)
def test_a_guide_that_fails_says_so_before_training(small, guide, sentence):
    with pytest.raises(pv.GuideError, match=sentence):
        pv.fit(small, guide=guide, dimensions=3, progress=False)


@pytest.mark.parametrize("rank", [0, -1, 2.5, True, "many"])
def test_bad_ranks_get_a_sentence(rank):
    with pytest.raises(pv.GuideError, match="expected a positive whole number"):
        pv.LowRank(rank)


@pytest.mark.parametrize("build", [AutoNormal, MeanField()], ids=["Pyro's", "ours"])
def test_a_guide_that_is_built_already_is_refused(small, build):
    built = build(Model(pv.SpikeSlab(), 20, 3, small))
    with pytest.raises(pv.GuideError, match=r"was built for another model.*lambda model: "):
        pv.fit(small, guide=built, dimensions=3)


def test_median_and_quantiles_are_those_of_the_family(small):
    model = Model(pv.LearnedSpikeSlab(), 20, 3, small)
    guide = MeanField()(model)
    loc, scale = guide.loc.slab.item(), guide.log_scale.slab.exp().item()
    law = stats.lognorm(scale, scale=np.exp(loc))
    found = guide.quantiles([0.1, 0.5, 0.9])
    np.testing.assert_allclose(found["slab"].numpy(), law.ppf([0.1, 0.5, 0.9]), rtol=1e-5)
    assert found["X"].shape == (3, 20, 3)
    for name, value in guide.median().items():
        torch.testing.assert_close(value, found[name][1])
    point = pv.MAP()(Model(pv.SpikeSlab(), 20, 3, small))
    torch.testing.assert_close(point.quantiles([0.1, 0.9])["X"][1], point.median()["X"])
    low = low_rank(small, rank=2)
    total = closed_form(low).sigma
    spread = low.quantiles([stats.norm.cdf(1)])["X"][0] - low.loc.X
    np.testing.assert_allclose(spread.detach().numpy(), total, rtol=1e-4)


class Turned(EasyGuide):
    """With its plates the wrong way round."""

    def guide(self, *args, **kwargs):
        loc = pyro.param("loc", lambda: torch.zeros(3, 20))
        with self.plate("object", 20, dim=-1), self.plate("dimension", 3, dim=-2):
            pyro.sample("X", dist.Normal(loc, 1.0))


def _weight():
    pyro.sample("weight", dist.Normal(pyro.param("loc", torch.zeros(())), 1.0))


class Easy(EasyGuide):
    """Independent Normals, as one writes them with EasyGuide."""

    def guide(self, *args, **kwargs):
        loc = pyro.param("loc", lambda: 0.5 + 0.1 * torch.rand(20, 2))
        scale = pyro.param("scale", lambda: torch.full((20, 2), 0.1), constraint=positive)
        with self.plate("object", 20, dim=-2), self.plate("dimension", 2, dim=-1):
            pyro.sample("X", dist.Normal(loc, scale))


@pytest.mark.filterwarnings(
    "ignore:All 2 dimensions", "ignore:No dimension", "ignore:These .* carry"
)
@pytest.mark.filterwarnings(
    "ignore:These .* carry", "ignore:Training did not", "ignore:Estimated shape parameter"
)
def test_an_easy_guide_is_a_guide(small):
    training = pv.Training(schedule=pv.Anneal(steps=40), stop=pv.MaxEpochs(40))
    fit = pv.fit(small, guide=lambda model: Easy(model), dimensions=2, training=training)
    assert {*fit.guide.parameters.state["params"]} == {"loc", "scale"}
    assert "loc" not in pyro.get_param_store()
    assert fit.history.loss.iloc[-1] < fit.history.loss.iloc[0]
    assert fit.evaluate(small).cross_entropy < np.log(3)
    assert np.isfinite(fit.elbo(small, particles=5).value)
    assert pv.compare({"easy": fit}, small, draws=50).elpd_loo.notna().all()
