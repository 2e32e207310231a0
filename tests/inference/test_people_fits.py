"""People through every way of fitting."""

import numpy as np
import pyro
import pytest
import torch
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by
from pyro.infer.autoguide import AutoNormal

import pyrovice as pv
from pyrovice.inference.plan import Plan
from pyrovice.inference.progress import Progress
from pyrovice.inference.svi import Trainer, train

SHORT = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120))


@pytest.fixture(scope="module")
def data():
    people = differing_people(6, 3, weights=0.8)
    return judged_by(people, sparse_embedding(12, 3, seed=1), 150, seed=1)


def short_fit(data, **arguments):
    options = {"people": pv.People(), "dimensions": 3, "training": SHORT, "progress": False}
    return pv.fit(data, **options | arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"guide": pv.MAP()},
        {"guide": pv.LowRank(2)},
        {"guide": AutoNormal},
        {"prior": pv.ARD()},
        {"prior": pv.LearnedSpikeSlab(), "people": pv.People(lapse=True, own=0.1)},
        {"training": pv.Training(particles=3, stop=pv.MaxEpochs(60))},
        {"training": pv.Training(batch_size=128, stop=pv.MaxEpochs(10))},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_guides_priors_and_settings(data, arguments, tmp_path):
    fit = short_fit(data, **arguments)
    better = fit.evaluate(data).cross_entropy
    strangers = pv.Triplets(data.objects, data.odd, names=data.names)
    assert better < fit.evaluate(strangers).cross_entropy
    assert fit.people().shape[0] == 6
    fit.save(tmp_path / "a.fit")
    again = pv.load(tmp_path / "a.fit")
    np.testing.assert_allclose(again.predict(data[:9]), fit.predict(data[:9]), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_lapses_and_temperatures_wait_for_the_embedding(data):
    def after(epochs, **traits):
        plan = Plan.of(
            data,
            prior=pv.SpikeSlab(),
            guide=pv.MeanField(),
            training=pv.Training(stop=pv.MaxEpochs(epochs)),
            seed=0,
            people=pv.People(**traits),
            dimensions=3,
        )
        with plan.isolated():
            run, task = plan.begin()
            train(run, task, progress=False)
        return run.guide.median()

    first, second, last = (after(epochs, lapse=True) for epochs in (5, 20, 170))
    assert not torch.equal(first["person_weight"], second["person_weight"])
    for site in ("person_lapse", "typical_lapse", "person_temperature"):
        assert torch.equal(first[site], second[site])
        assert not torch.equal(first[site], last[site])
    typical = first["typical_lapse"].expand_as(first["person_lapse"])
    torch.testing.assert_close(first["person_lapse"], typical)
    # Where nobody lapses, nothing waits.
    assert not torch.equal(after(5)["person_temperature"], after(20)["person_temperature"])


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_some_may_be_unknown(data):
    who = np.where(np.arange(len(data)) % 3 == 0, None, data.participants)
    some = pv.Triplets(data.objects, data.odd, names=data.names, participants=who)
    fit = short_fit(some)
    assert fit.people().judgments.sum() == sum(person is not None for person in who)
    assert fit.evaluate(some).cross_entropy < np.log(3)


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_a_checkpoint_goes_on_to_the_bit_and_knows_the_people(data, tmp_path):
    whole = short_fit(data)
    half = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120), max_epochs=50)
    path = tmp_path / "run"
    kept = short_fit(data, checkpoint=path)
    np.testing.assert_array_equal(kept.embedding(pruned=False), whole.embedding(pruned=False))
    np.testing.assert_array_equal(short_fit(data, checkpoint=path).people(), whole.people())
    with pytest.raises(pv.CheckpointError, match="people"):
        short_fit(data, checkpoint=path, people=pv.People(lapse=True))
    with pytest.raises(pv.CheckpointError, match="training"):
        short_fit(data, checkpoint=path, training=half)


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_refine_and_sample_give_everybody_draws(data):
    fit = short_fit(data)
    refined = pv.refine(fit, data, draws=30)
    weights = refined.site("person_weight")
    assert weights.dims == ("chain", "draw", "person", "dimension")
    order = np.corrcoef(
        np.log(refined.people()["temperature"]), np.log(fit.people()["temperature"])
    )
    assert order[0, 1] > 0.8
    sampled = pv.sample(
        data, people=pv.People(weights=False), dimensions=2, draws=10, warmup=10, chains=2
    )
    assert sampled.site("person_temperature").shape == (2, 10, 6)
    assert sampled.mixing("person_temperature").shape[0] == 6


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_a_sweep_over_priors_with_people(data, tmp_path):
    arguments = {"people": pv.People(weights=False), "dimensions": 3, "training": SHORT}
    priors = [pv.SpikeSlab(), pv.SpikeSlab(0.1, 0.5)]
    train, valid = data.split(0.8, 0.2, seed=0)
    found = pv.sweep(train, valid, priors=priors, seeds=1, store=tmp_path, **arguments)
    assert found.median(priors[0]).people().shape[0] == 6
    alone = pv.fit(train, prior=priors[0], progress=False, **arguments)
    np.testing.assert_array_equal(found.median(priors[0]).people(), alone.people())


def test_while_lapses_and_temperatures_wait_a_step_is_that_of_one_mind(data):
    def first_gradient(people):
        plan = Plan.of(
            data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=SHORT, seed=0,
            people=people, dimensions=3,
        )  # fmt: skip
        with plan.isolated():
            run, task = plan.begin()
            trainer = Trainer(run, task, None, Progress(False, 0, ""))
            # Other sites draw random numbers of their own when a guide is made.
            torch.manual_seed(1)
            with pyro.validation_enabled(False):
                trainer._gradients().take(task.judgments, again=False)
        return {name: value.grad for name, value in run.guide.named_parameters()}

    one_mind = first_gradient(None)
    found = first_gradient(pv.People(weights=False, lapse=True))
    for name, gradient in one_mind.items():
        torch.testing.assert_close(found.pop(name), gradient)
    assert set(found.values()) == {None}
    assert any("person_lapse" in name for name in found)
