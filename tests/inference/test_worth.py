"""What a dimension is worth, and what is dropped because it is worth too little."""

import numpy as np
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding
from pyro import poutine

import pyrovice as pv
from pyrovice.inference import worth
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.plan import Plan
from pyrovice.inference.run import Run
from pyrovice.inference.svi import train
from pyrovice.results.matching import same_dimensions

TRAINED = pv.Training(schedule=pv.Anneal(steps=60), stop=pv.MaxEpochs(60))


def run_of(data, prior, people=None, dimensions=4):
    plan = Plan.of(
        data, prior=prior, guide=pv.MeanField(), training=TRAINED, seed=0, people=people,
        dimensions=dimensions,
    )  # fmt: skip
    with plan.isolated():
        run, task = plan.begin()
        train(run, task, progress=False)
    return run, task


def terms(model, guide, values, judgments):
    """What Pyro says of these values: log p(odd | ...) and log q - log p of all else."""
    with torch.no_grad():
        asked = poutine.trace(poutine.condition(model, data=values)).get_trace(judgments)
        drawn = poutine.trace(poutine.condition(guide, data=values)).get_trace()
        total = asked.log_prob_sum()
        observed = asked.nodes["odd"]["log_prob_sum"]
        return torch.stack([observed, drawn.log_prob_sum() - (total - observed)]).double()


@pytest.mark.parametrize(
    ("prior", "people"),
    [
        (pv.SpikeSlab(), None),
        (pv.ARD(), None),
        (pv.LearnedSpikeSlab(per_dimension=True), None),
        (pv.LearnedSpikeSlab(), None),
        (dist.Exponential(2.0), None),
        (pv.SpikeSlab(), pv.People(temperature=False)),
    ],
    ids=[
        "spike and slab",
        "a scale of each",
        "three of each",
        "three of all",
        "positive",
        "people",
    ],
)
def test_worth_is_the_difference_that_a_dimension_makes_to_pyros_bound(
    people_data, prior, people, monkeypatch
):
    monkeypatch.setattr(worth, "MOST_DRAWS", 1)
    run, task = run_of(people_data, prior, people)
    columns = {site.name: site.column_dim() for site in run.guide.sites}
    torch.manual_seed(1)
    # The last is a set of two.
    sets = torch.cat([torch.eye(4), torch.tensor([[1.0, 0.0, 1.0, 0.0]])]).bool()
    found = worth.worths(run, [task.judgments], sets, least=1e6)
    torch.manual_seed(1)
    drawn = {name: value.detach() for name, value in run.guide().items()}
    whole = terms(run.model, run.guide, drawn, task.judgments)
    for j, left_out in enumerate(sets):
        others = torch.nonzero(~left_out).squeeze(-1)
        fewer = {
            name: value if columns[name] is None else value.index_select(columns[name], others)
            for name, value in drawn.items()
        }
        model = run.model.with_dimensions(len(others))
        guide = run.guide.select(others)
        explained, cost = whole - terms(model, guide, fewer, task.judgments)
        # What is left are differences of sums in float32.
        assert found[j] == pytest.approx(float(explained / cost), rel=1e-3, abs=2e-3)


def test_worth_does_not_depend_on_how_judgments_are_laid_out(small, monkeypatch):
    run, _ = run_of(small, pv.SpikeSlab())
    repeated = pv.Triplets.concat([small, small[:500]])

    def weighed(*parts):
        torch.manual_seed(2)
        return worth.worths(run, parts, worth._each(run), least=1e6)

    plain, weighted = run.model.rows(repeated), run.model.aggregated(repeated)
    assert weighted.weight is not None
    expected = weighed(plain)
    np.testing.assert_allclose(weighed(weighted), expected, rtol=1e-4)
    # A part stands for all of them.
    np.testing.assert_allclose(weighed(plain, plain), 2 * expected, rtol=1e-4)
    monkeypatch.setattr(worth, "MOST_AT_ONCE", 1)
    np.testing.assert_allclose(weighed(plain), expected, rtol=1e-4)


def test_only_doubtful_dimensions_are_looked_at_twice(small, monkeypatch):
    run, task = run_of(small, pv.SpikeSlab())
    asked = []
    explained = worth._explained

    def watched(run, sites, part, sets):
        asked.append(len(sets))
        return explained(run, sites, part, sets)

    monkeypatch.setattr(worth, "_explained", watched)
    worth.worths(run, [task.judgments], worth._each(run), least=0.0)
    clear = sum(asked)
    asked.clear()
    worth.worths(run, [task.judgments], worth._each(run), least=1e6)
    assert asked == [run.model.dimensions] * worth.MOST_DRAWS
    assert clear < sum(asked)


def test_random_numbers_are_left_as_they_are(small):
    run, task = run_of(small, pv.SpikeSlab())
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    worth.worths(run, [task.judgments], worth._each(run), least=1e6)
    assert torch.equal(torch.rand(2), expected)


def test_what_cannot_be_weighed(people_data):
    def is_weighed(prior=pv.SpikeSlab(), guide=pv.MeanField(), **arguments):  # noqa: B008 (frozen)
        model = pv.Model(prior, 20, 3, people_data, **arguments)
        return worth.is_time_to_weigh(Run(model, guide(model)), 1.0)

    assert is_weighed()
    assert is_weighed(people=pv.People(lapse=True))
    # A point costs nothing that could be compared, and columns that covary cost it together.
    assert not is_weighed(guide=pv.MAP())
    assert not is_weighed(guide=pv.LowRank(2))
    assert not is_weighed(pv.CumulativeShrinkage())
    assert is_weighed(pv.LearnedSpikeSlab(per_dimension=True))
    assert not is_weighed(pv.Features(np.random.default_rng(0).normal(size=(20, 6))))
    # Where X has no weights, own deviations may.
    assert not is_weighed(people=pv.People(own=0.1))
    assert not is_weighed(lambda n_objects, dimensions: pv.SpikeSlab()(n_objects, dimensions))


def test_each_time_to_weigh_comes_once_and_asks_for_more(small, monkeypatch):
    run, task = run_of(small, pv.SpikeSlab())
    run.weighed, asked = 0, []

    def watched(run, parts, sets, least):
        asked.append(least)
        return np.full(len(sets), 0.5)

    monkeypatch.setattr(worth, "worths", watched)
    kept = []
    for past in (0.0, 0.5, 0.61, 0.65, 0.92, 0.94, 0.99, 1.5):
        if worth.is_time_to_weigh(run, past):
            kept.append(worth.pay_for_themselves(run, [task.judgments], past).sum())
    # Where all are worth too little one stays, and those that go are weighed together first.
    steps = [0.7 * (0.11 / 0.45) ** 2, 0.7 * (0.42 / 0.45) ** 2, 0.7]
    assert kept == [4, 1, 1]
    np.testing.assert_allclose(asked, [steps[0], *[steps[1]] * 2, *[steps[2]] * 2])


def test_the_two_halves_of_a_dimension_do_not_go_together(small, monkeypatch):
    """Each explains little as long as there is the other."""
    run, task = run_of(small, pv.SpikeSlab())
    run.weighed = 0

    def two_halves(run, parts, sets, least):
        alone = np.array([3.0, 0.4, 0.5, 0.2])
        return np.array([alone[s].mean() if s.sum() < 3 and not (s[1] and s[2]) else 1.5
                         for s in sets.numpy()])  # fmt: skip

    monkeypatch.setattr(worth, "worths", two_halves)
    # Of three that are worth too little, but much together, the least goes.
    assert worth.pay_for_themselves(run, [task.judgments], 1.0).tolist() == [True] * 3 + [False]


def test_a_split_dimension_is_worth_more_than_its_halves():
    truth = np.zeros((30, 2))
    truth[:15, 0], truth[15:, 1] = 1.5, 1.5
    data = pv.simulate(truth, 2000, seed=0)
    run, task = run_of(data, pv.SpikeSlab(), dimensions=3)
    with torch.no_grad():
        halved = torch.tensor(truth[:, [0, 1, 1]], dtype=torch.float32)
        halved[:, 1:] *= 0.5**0.5
        run.guide.start_at(halved - 0.2 * (halved == 0), torch.full((30, 3), 0.1))
    sets = torch.tensor([[0, 1, 0], [0, 0, 1], [0, 1, 1]]).bool()
    one, other, both = worth.worths(run, [task.judgments], sets, least=1e6)
    # Measured: 2.0, 2.0 and 4.1.
    assert both > 1.5 * max(one, other)


def test_what_is_not_a_number_says_nothing_against_a_dimension(small, monkeypatch):
    run, task = run_of(small, pv.SpikeSlab())
    run.weighed = 0
    monkeypatch.setattr(worth, "worths", lambda *_: np.array([np.nan, 0.1, 2.0, np.nan]))
    kept = worth.pay_for_themselves(run, [task.judgments], 1.0)
    assert kept.tolist() == [True, False, True, True]


@pytest.fixture(scope="module")
def many():
    """60 objects, 4 dimensions, 9,000 judgments."""
    return pv.simulate(sparse_embedding(60, 4, seed=2), 9000, seed=2)


def fitted(data, rate=1.0, **arguments):
    plan = Plan.of(
        data, guide=pv.MeanField(), seed=0, rate_factor=rate,
        **{"prior": pv.SpikeSlab(), "training": pv.Training(), "dimensions": 15} | arguments,
    )  # fmt: skip
    return train_plan(plan)


def test_a_fit_whose_dimensions_are_worth_it_is_the_same_to_the_bit(many, monkeypatch):
    found = fitted(many)
    monkeypatch.setattr(worth, "WEIGHED_AT", ())
    unweighed = fitted(many)
    np.testing.assert_array_equal(found.posterior.weights.mu, unweighed.posterior.weights.mu)


def test_weights_that_cannot_be_zero_no_longer_keep_every_dimension(many, monkeypatch):
    prior = dist.Exponential(2.0)
    found = fitted(many, prior=prior)
    monkeypatch.setattr(worth, "WEIGHED_AT", ())
    with pytest.warns(pv.PyroviceWarning, match="All 15 dimensions were kept"):
        everything = fitted(many, prior=prior)
    assert found.n_dimensions == 4
    # 4 instead of 15 dimensions predict as well: measured .0008 apart, and .05 in the loss.
    held_out = pv.simulate(sparse_embedding(60, 4, seed=2), 4000, seed=3)
    nats = [fit.evaluate(held_out).cross_entropy for fit in (found, everything)]
    assert nats[0] < nats[1] + 0.005
    assert found.history.loss.iloc[-50:].mean() < everything.history.loss.iloc[-50:].mean() - 0.02


def test_noise_that_a_low_rate_leaves_standing_goes_and_true_dimensions_stay(monkeypatch):
    truth = sparse_embedding(200, 5, seed=3)
    data, held_out = (pv.simulate(truth, 20_000, seed=seed) for seed in (3, 4))
    slow = {"rate": 0.25, "training": pv.Training(schedule=pv.Anneal(steps=400)), "dimensions": 25}
    found = fitted(data, **slow)
    monkeypatch.setattr(worth, "WEIGHED_AT", ())
    unweighed = fitted(data, **slow)
    # Measured: 10 and 13 with this seed, 6 and 8 with another; usual rates keep 5.
    assert found.n_dimensions < unweighed.n_dimensions
    assert (same_dimensions(truth, found.embedding().to_numpy(float)) >= 0).all()
    nats = [fit.evaluate(held_out).cross_entropy for fit in (found, unweighed)]
    assert nats[0] < nats[1] + 0.002


def test_without_dropping_nothing_is_weighed(small, monkeypatch):
    def refuse(*_):
        raise AssertionError("weighed")

    monkeypatch.setattr(worth, "worths", refuse)
    steps = {"schedule": pv.Anneal(steps=200), "stop": pv.MaxEpochs(200)}
    assert len(fitted(small, training=pv.Training(drop_collapsed=False, **steps)).history) == 200
    with pytest.raises(AssertionError, match="weighed"):
        fitted(small, training=pv.Training(**steps))
