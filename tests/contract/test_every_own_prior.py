"""Priors that a modeller writes keep the promises that pyrovice's own do."""

import copy

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from contract.cases import GUIDES, case
from contract.own_priors import OWN_PRIORS
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta

import pyrovice as pv
from pyrovice.guides import SiteGuide

pytestmark = [
    pytest.mark.filterwarnings("ignore:All . dimensions were kept"),
    pytest.mark.filterwarnings("ignore:No dimension has more than"),
    pytest.mark.filterwarnings("ignore:These .* carry no dimensions"),
    pytest.mark.filterwarnings("ignore:Not known to have converged"),
]
TRAINING = pv.Training(start="noise", schedule=pv.Anneal(60), stop=pv.MaxEpochs(60))
# A network learns slowly.
SLOWLY = pv.Training(
    start="noise", learning_rate=0.01, schedule=pv.Anneal(300), stop=pv.MaxEpochs(300)
)
SITES = {
    "regression": {"spread": (), "b": ("dimension",), "W": ("feature", "dimension")},
    "categories": {"mean": ("kind", "dimension")},
    "two levels": {"overall": (), "scale": ("dimension",)},
    "cumulative": {"share": ("dimension",)},
    "correlated": {"L": ("L_dim_0", "L_dim_1")},
    "smooth": {"f": ("dimension", "f_dim_1")},
    "non-centred": {"scale": ("dimension",), "z": ("object", "dimension")},
    "empirical": {},
    "network": {},
}
# Dimensions that depend on each other, on their order, or on parameters made for all of them.
INSEPARABLE = {"cumulative", "correlated", "empirical", "network"}
NOT_ENTRYWISE = {"correlated", "smooth", "non-centred"}
# Each with every guide; the others with one of pyrovice's and one of Pyro's.
WITH_EVERY_GUIDE = ("regression", "cumulative", "correlated", "non-centred")
# A peak that sixty steps do not reach, and a guide written for X alone.
LEFT_OUT = ("AutoLaplace", "own")


def pairs():
    def belong(prior, guide):
        every = prior in WITH_EVERY_GUIDE and guide not in LEFT_OUT
        return every or guide in ("MeanField", "AutoNormal")

    return [case(prior, guide) for prior in OWN_PRIORS for guide in GUIDES if belong(prior, guide)]


@pytest.fixture(scope="module")
def data():
    truth = np.array([[2.0, 0.0], [1.7, 0.1], [1.5, 0.0], [1.2, 0.3], [1.9, 0.0], [0.1, 1.8],
                      [0.0, 1.6], [0.2, 1.4], [0.0, 2.0], [0.3, 1.5]])  # fmt: skip
    return pv.simulate(truth, 600, seed=0)


@pytest.mark.parametrize("name", OWN_PRIORS)
def test_what_is_known_of_the_structure(data, name):
    model = pv.Model(OWN_PRIORS[name], 10, 3, data)
    structure = model.structure
    assert structure.separable == (name not in INSEPARABLE)
    assert structure.entrywise == (name not in NOT_ENTRYWISE)
    found = {
        site: structure.sites[site].axes(tuple(node["value"].shape))
        for site, node in structure.latent.items()
        if site != "X"
    }
    assert found == SITES[name]


@pytest.mark.parametrize("name", OWN_PRIORS)
def test_one_particle_equals_four_vectorised_ones(data, name):
    model = pv.Model(OWN_PRIORS[name], 10, 3, data)
    guide = AutoDelta(model)
    guide()
    one = Trace_ELBO().loss(model, guide)
    four = Trace_ELBO(num_particles=4, vectorize_particles=True).loss(model, guide)
    assert four == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize(("name", "guide"), pairs())
def test_promises(data, tmp_path, name, guide):
    prior = OWN_PRIORS[name]

    def fit():
        return pv.fit(
            data,
            prior=prior,
            guide=GUIDES[guide],
            dimensions=3,
            training=SLOWLY if guide == "AutoIAFNormal" else TRAINING,
            progress=False,
        )

    if guide == "LowRank" and name in NOT_ENTRYWISE:
        with pytest.raises(pv.GuideError, match="does not sample them one by one"):
            fit()
        return
    fitted = fit()
    loss = fitted.history.loss
    assert np.isfinite(loss).all()
    assert loss.iloc[-20:].mean() < loss.iloc[:5].mean()
    p = fitted.predict(data)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    assert np.isfinite(Trace_ELBO().loss(fitted.model, fitted.guide))

    sites = SITES[name]
    assert set(fitted.sites()) == {"X", *sites}
    for site, axes in sites.items():
        found = fitted.site(site)
        assert found.dims == ("chain", "draw", *axes)
        assert np.isfinite(found).all()
    idata = fitted.to_arviz(data, draws=20, pruned=False)
    for group in (idata.posterior, idata.prior):
        assert {k: v.dims[2:] for k, v in group.data_vars.items()} == {
            "X": ("object", "dimension"), **sites}  # fmt: skip

    pruned = fitted.prune(rule="max", threshold=fitted.importance("max").median())
    kept = pruned.posterior.shape[1]
    assert kept < 3
    assert pruned.predict(data).shape == (600, 3)
    for site, axes in sites.items():
        assert all(size == kept for axis, size in pruned.site(site).sizes.items()
                   if axis == "dimension" and axes)  # fmt: skip
    assert pruned.model.dimensions == (3 if name in INSEPARABLE else kept)

    fitted.save(tmp_path / "f")
    without = pv.load(tmp_path / "f")
    assert np.array_equal(without.predict(data), p)
    assert set(without.sites()) == set(fitted.sites())
    loaded = pv.load(tmp_path / "f", prior=prior)
    if isinstance(fitted.guide, SiteGuide):
        torch.manual_seed(0)
        expected = Trace_ELBO().loss(fitted.model, fitted.guide, data)
        torch.manual_seed(0)
        assert Trace_ELBO().loss(loaded.model, loaded.guide, data) == pytest.approx(expected)
    if guide == "MeanField":
        refined = pv.refine(loaded, data, draws=6, chains=1)
        assert refined.sites() == fitted.sites()


@pytest.mark.parametrize("name", ["empirical", "network"])
def test_parameters_of_a_prior_are_its_fits_own(data, name):
    """The same seed gives the same fit, and one fit does not change another."""
    prior = OWN_PRIORS[name]
    short = {"dimensions": 2, "training": TRAINING, "progress": False}
    first = pv.fit(data, prior=prior, **short)
    before = copy.deepcopy(first.model.parameters.arrays())
    second = pv.fit(data, prior=prior, **short)
    assert np.array_equal(first.posterior.weights.mu, second.posterior.weights.mu)
    pv.fit(data, prior=prior, seed=1, **short)
    after = first.model.parameters.arrays()
    assert all(np.array_equal(before[k], after[k]) for k in before)
    if name == "empirical":
        assert before["scale"] != pytest.approx(np.log(0.5), abs=0.05)


@pytest.mark.parametrize("name", ["cumulative", "correlated"])
def test_dimensions_that_depend_on_each_other_keep_their_order(data, name, tmp_path):
    fit = pv.fit(data, prior=OWN_PRIORS[name], dimensions=3, training=TRAINING, progress=False)
    assert fit.columns == (0, 1, 2)
    drawn = fit.guide()
    assert drawn["X"].shape == fit.posterior.shape
    pruned = fit.prune(rule="max", threshold=fit.importance("max").median())
    assert len(pruned.columns) == 1
    np.testing.assert_array_equal(pruned.posterior.loc(), fit.posterior.loc()[:, pruned.columns])
    pruned.save(tmp_path / "f")
    again = pv.load(tmp_path / "f", prior=OWN_PRIORS[name])
    assert again.columns == pruned.columns
    if name == "cumulative":
        with pytest.warns(pv.PyroviceWarning, match="call to_arviz before prune"):
            group = again.to_arviz(draws=30)
    else:
        group = again.to_arviz(draws=30)
    assert group.prior["X"].shape[2:] == group.posterior["X"].shape[2:] == (10, 1)
    if name == "cumulative":
        # The prior of the dimension that was kept, whichever place it has in the sequence.
        whole = fit.to_arviz(draws=30, pruned=False).prior["X"].isel(dimension=list(pruned.columns))
        np.testing.assert_array_equal(group.prior["X"], whole)
    with pytest.raises(pv.PyroviceError, match=r"refine the fit before fit\.prune"):
        pv.refine(again, data)


def test_a_name_that_the_model_needs_itself(data):
    def prior(n_objects, dimensions):
        pyro.sample("odd", dist.Normal(0.0, 1.0))
        return pv.SpikeSlab()(n_objects, dimensions)

    with pytest.raises(pv.PriorError, match="samples a site 'odd'"):
        pv.fit(data, prior=prior, dimensions=2)
