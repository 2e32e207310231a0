"""What holds for every choice, whatever the prior and the guide."""

from types import FunctionType

import numpy as np
import pandas as pd
import pytest
import torch
from contract.choices import CHOICES, SITES
from pyro import poutine
from pyro.infer import Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoDelta, AutoNormal

import pyrovice as pv
from pyrovice.inference import choice_sites
from pyrovice.results.arviz_versions import leave_one_out
from pyrovice.storage.identity import name_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:All . dimensions were kept"),
    pytest.mark.filterwarnings("ignore:No dimension has more than"),
    pytest.mark.filterwarnings("ignore:Not known to have converged"),
    pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto"),
]
SHORT = pv.Training(schedule=pv.Anneal(100), stop=pv.MaxEpochs(100))
every_choice = pytest.mark.parametrize("name", CHOICES)


def sites_of(name, dimensions):
    found = SITES.get(name, {})
    return {k: (dimensions,) if v == "dimensions" else v for k, v in found.items()}


@pytest.fixture(scope="module")
def data():
    truth = 1.6 * np.eye(2).repeat(6, axis=0) + 0.1
    plain = pv.simulate(truth, 900, seed=0, anchored=0.3)
    rng = np.random.default_rng(0)
    who = rng.choice(["ann", "bob", "cyd"], 900)
    places = rng.permuted(np.tile([1, 2, 3], (900, 1)), axis=1)
    trials = pd.DataFrame(places, columns=["place_1", "place_2", "place_3"])
    return pv.Triplets(
        plain.objects, plain.odd, anchor=plain.anchor, participants=who, trials=trials
    )


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """What a fit learned about its choice is sampled for a moment only."""
    monkeypatch.setattr(choice_sites, "FORGOTTEN", 2)
    monkeypatch.setattr(choice_sites, "KEPT", (20, 20))


@pytest.fixture(
    scope="module", params=[pv.MeanField(), AutoNormal], ids=["MeanField", "AutoNormal"]
)
def guide(request):
    return request.param


@every_choice
def test_one_particle_equals_four_vectorised_ones(data, name):
    model = pv.Model(pv.ARD(), 12, 3, data, choice=CHOICES[name])
    guide = AutoDelta(model)
    guide()
    for batch in (None, torch.arange(100)):
        one = Trace_ELBO().loss(model, guide, None, batch)
        four = Trace_ELBO(num_particles=4, vectorize_particles=True).loss(model, guide, None, batch)
        assert four == pytest.approx(one, rel=1e-5)


@every_choice
def test_the_model_observes_what_the_seam_says(data, name):
    model = pv.Model(pv.SpikeSlab(), 12, 3, data, choice=CHOICES[name])
    trace = poutine.trace(model).get_trace()
    trace.compute_log_prob()
    sites = {k: node["value"] for k, node in trace.nodes.items() if k in model.structure.latent}
    log_p = model.choice_log_probability(sites, data)
    assert log_p.shape == (900, 3)
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(900))
    anchored = torch.tensor(data.anchored)
    at = torch.tensor(data.anchor.astype(int))[anchored]
    assert (log_p[anchored].gather(-1, at[:, None]) == -torch.inf).all()
    odd = torch.tensor(data.odd.astype(int))[:, None]
    answered = log_p.gather(-1, odd).sum()
    torch.testing.assert_close(trace.nodes["odd"]["log_prob_sum"], answered)


@pytest.mark.parametrize(
    ("name", "guide"), [*((name, pv.MeanField()) for name in CHOICES), ("lapses", AutoNormal)]
)
def test_a_fit_can_do_everything(data, name, guide, tmp_path):
    choice = CHOICES[name]
    fit = pv.fit(
        data, choice=choice, guide=guide, dimensions=3, training=SHORT, validation=data,
        progress=False,
    )  # fmt: skip
    d = fit.posterior.shape[1]
    others = sites_of(name, d)
    assert fit.choice is choice
    assert {row[0] for row in fit.hyperparameters().index} == set(others)
    assert fit.sites() == {"X": (12, d), **others}
    for site, shape in others.items():
        assert fit.site(site).shape[2:] == shape
    p = fit.predict(data)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    assert fit.evaluate(data).cross_entropy < np.log(3)
    assert fit.calibration(data).error < 0.2
    assert np.nanmax(fit.similarity(draws=2).to_numpy()) <= 1
    assert pv.plot.triplet(fit, "0", "1", "7").axes
    assert len(pv.diagnose(fit, data, refits=0).findings) >= 4
    assert np.isfinite(Trace_ELBO().loss(fit.model, fit.guide))
    drawn = Predictive(poutine.uncondition(fit.model), guide=fit.guide, num_samples=3)()
    assert drawn["odd"].shape[-1] == 900

    idata = fit.to_arviz(data, draws=60, pruned=False)
    assert set(idata.posterior.data_vars) == set(idata.prior.data_vars) == {"X", *others}
    assert idata.attrs["choice"] == name_of(choice)
    assert np.isfinite(leave_one_out(idata)["elpd"])

    pruned = fit.prune(rule="max", threshold=0.5)
    kept = pruned.posterior.shape[1]
    assert {k: v for k, v in pruned.sites().items() if k != "X"} == sites_of(name, kept)
    assert pruned.predict(data).shape == (900, 3)

    fit.save(tmp_path / "f")
    code = {"choice": choice} if isinstance(choice, FunctionType) else {}
    loaded = pv.load(tmp_path / "f", **code)
    assert loaded.choice == choice
    assert np.array_equal(loaded.predict(data), p)
    if guide == pv.MeanField():
        assert np.isfinite(Trace_ELBO().loss(loaded.model, loaded.guide, data))
    refined = pv.refine(fit, data, draws=8, chains=1)
    assert refined.sites() == fit.sites()
    assert refined.predict(data).shape == (900, 3)


@every_choice
def test_refits_folds_and_sweeps_keep_the_choice(data, name, tmp_path):
    choice = CHOICES[name]
    usual = {"choice": choice, "dimensions": 3, "training": SHORT}
    train, valid = data.split(0.8, 0.2, seed=0)
    found = pv.sweep(
        train, valid, priors=[pv.SpikeSlab()], seeds=1, store=tmp_path, progress=False, **usual
    )
    assert not found.table.error.any() if "error" in found.table else len(found.table) == 1
    fit = pv.fit(data, progress=False, **usual)
    table = pv.compare({"a": fit}, data, folds=2, draws=50)
    assert np.isfinite(table.elpd_kfold).all()
    few = data.subset(100, seed=0)
    sampled = pv.sample(few, choice=choice, dimensions=1, draws=4, warmup=4, chains=1)
    assert sampled.sites() == {"X": (12, 1), **sites_of(name, 1)}


def test_the_papers_choice_by_hand_is_the_papers(data):
    X = {"X": torch.rand(12, 3, generator=torch.Generator().manual_seed(0))}
    ours, theirs = (
        pv.Model(pv.SpikeSlab(), 12, 3, choice=CHOICES[name]).choice_log_probability(X, data)
        for name in ("DotProduct", "by hand")
    )
    torch.testing.assert_close(ours, theirs)


def test_who_answered_is_known_to_a_choice(data):
    seen = []

    def of_ann(X, judgments):
        seen.append(judgments.person)
        return pv.choices.similarities(X, judgments).log_softmax(-1)

    fit = pv.fit(data, choice=of_ann, dimensions=2, training=pv.Training(stop=pv.MaxEpochs(3)))
    assert fit.model.known_people == ("ann", "bob", "cyd")
    seen.clear()
    fit.predict(data[:5])
    expected = [("ann", "bob", "cyd").index(who) for who in data.participants[:5]]
    assert seen[0].tolist() == expected
    stranger = pv.Triplets(data.objects[:1], data.odd[:1], names=data.names, participants=["dee"])
    fit.predict(stranger)
    assert seen[-1].tolist() == [-1]


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (lambda X, judgments: None, r"returned NoneType; expected the log-probability"),
        (lambda X, judgments: X, r"returned \(12, 2\); expected"),
        (
            lambda X, judgments: pv.choices.similarities(X, judgments),
            r"log-probabilities of three answers that sum to .* instead of 1; end it with",
        ),
        (lambda X, judgments: torch.full((len(judgments), 3), torch.nan), "sum to nan"),
        ("dot", "choice='dot' is not a choice"),
        (pv.choices.DotProduct, "is not a choice; expected pv.choices.DotProduct"),
    ],
)
def test_what_is_not_a_choice_gets_a_sentence(data, choice, sentence):
    with pytest.raises(pv.ChoiceError, match=sentence):
        pv.fit(data, choice=choice, dimensions=2, progress=False)


@pytest.mark.parametrize(
    ("name", "site", "instead"),
    [("lapses", "lapse", "DotProduct"), ("Cosine", "temperature", r"Cosine\(temperature=0.5\)")],
)
def test_an_embedding_alone_does_not_say_what_a_choice_samples(name, site, instead):
    said = f"samples '{site}', of which nothing is known.*such as pv.choices.{instead}"
    with pytest.raises(pv.ChoiceError, match=said):
        pv.simulate(np.eye(4), 10, seed=0, choice=CHOICES[name])
