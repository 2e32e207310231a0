"""Members of a stack are what they would have been alone."""

from dataclasses import replace

import numpy as np
import pyro.distributions as dist
import pytest
import torch

import pyrovice as pv
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, stacks
from pyrovice.inference.svi import Trainer
from pyrovice.model.judgments import Judgments, pooled

SHORT = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120))


def small_data():
    rng = np.random.default_rng(0)
    embedding = rng.gamma(2.0, 0.7, (24, 3)) * (rng.random((24, 3)) < 0.5)
    return pv.simulate(embedding, 1500, seed=0)


@pytest.fixture(scope="module")
def data():
    return small_data()


def plan(data, prior=pv.SpikeSlab(), seed=0, **arguments):  # noqa: B008 (frozen)
    arguments = {"guide": pv.guides.MeanField(), "training": SHORT, "dimensions": 7} | arguments
    return Plan.of(data, prior=prior, seed=seed, **arguments)


def plans_by_name(data):
    point = {"guide": pv.guides.MAP()}
    anchored = pv.Triplets(data.objects, data.odd, names=data.names, anchor=(data.odd + 1) % 3)
    return {
        "seeds": [plan(data, seed=seed) for seed in (0, 1, 2)],
        "numbers": [plan(data, pv.SpikeSlab(spike=s, pi=p)) for s, p in ((0.2, 0.5), (0.3, 0.6))],
        "scales by dimension": [plan(data, pv.ARD(scale)) for scale in (0.3, 0.6)],
        "a learned prior": [plan(data, pv.LearnedSpikeSlab(), seed=seed) for seed in (0, 1)],
        "points": [plan(data, dist.Exponential(rate), **point) for rate in (2.0, 4.0)],
        "positive weights": [plan(data, dist.HalfNormal(scale)) for scale in (0.5, 1.0)],
        "resamples": [plan(data.subset(1200, seed=s)) for s in (0, 1)] + [plan(data)],
        "anchored or not": [plan(anchored), plan(data)],
        "learning rates": [
            plan(data, training=replace(SHORT, learning_rate=rate)) for rate in (0.05, 0.1)
        ],
    }


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
@pytest.mark.parametrize("name", plans_by_name(small_data()))
def test_members_are_what_they_would_have_been_alone(data, name):
    plans = plans_by_name(data)[name]
    assert stacks(plans) == [list(range(len(plans)))]
    together = dict(fit_many(plans))
    for i, each in enumerate(plans):
        alone = train_plan(each)
        found = together[i]
        # Sums are taken in another order, which rounds them otherwise.
        np.testing.assert_allclose(found.history.loss, alone.history.loss, rtol=1e-5)
        np.testing.assert_array_equal(found.history.dimensions, alone.history.dimensions)
        for statistic in ("loc", "sd"):
            np.testing.assert_allclose(
                found.embedding(statistic, pruned=False),
                alone.embedding(statistic, pruned=False),
                atol=1e-4,
            )
        assert found.converged == alone.converged


def test_each_member_drops_its_own_dimensions_and_stops_by_itself(data):
    training = pv.Training(
        schedule=pv.Anneal(steps=200),
        stop=pv.Stability(window=40, unit="steps", tolerance=1e-3),
    )
    plans = [plan(data, pv.SpikeSlab(pi=pi), training=training) for pi in (0.2, 0.9)]
    together = dict(fit_many(plans))
    sizes = []
    for i, each in enumerate(plans):
        alone = train_plan(each)
        assert together[i].embedding(pruned=False).shape == alone.embedding(pruned=False).shape
        assert len(together[i].history) == len(alone.history)
        sizes.append(together[i].model.dimensions)
    assert min(sizes) < 7


def test_a_member_that_diverges_does_not_touch_the_others(data):
    wild = replace(SHORT, learning_rate=1e6)
    plans = [plan(data), plan(data, training=wild), plan(data, seed=1)]
    found = dict(fit_many(plans))
    assert isinstance(found[1], pv.PyroviceError)
    np.testing.assert_allclose(found[2].history.loss, train_plan(plans[2]).history.loss, rtol=1e-5)
    assert found[0].n_dimensions > 0


def test_what_cannot_be_stacked_is_fitted_alone(data):
    def prior(n_objects, dimensions):
        return pv.SpikeSlab()(n_objects, dimensions)

    people = pv.Triplets(
        data.objects, data.odd, names=data.names, participants=np.arange(len(data)) % 3
    )
    batches = replace(SHORT, batch_size=500)
    plans = [
        plan(data),
        plan(data, prior),
        plan(data, pv.Horseshoe()),
        plan(people, people=pv.People()),
        plan(data, guide=pv.guides.LowRank(2)),
        plan(data, training=batches),
        plan(data, dimensions=5),
    ]
    # Alone, a fit of so many objects computes only the similarities that were asked about.
    plans += [plan(pv.simulate(np.ones((400, 1)), 100, seed=0), seed=seed) for seed in (0, 1)]
    assert stacks(plans) == [[i] for i in range(len(plans))]
    failing = replace(plans[1], seed=3)
    found = dict(fit_many([plans[0], failing]))
    assert set(found) == {0, 1}


def test_random_numbers_and_threads_are_left_alone(data):
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    for _ in fit_many([plan(data, seed=seed) for seed in (0, 1)]):
        pass
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_what_is_pooled_adds_up(data):
    some = [data.subset(900, seed=0), data.subset(700, seed=1)]
    rows, weights = pooled([Judgments.aggregated(each) for each in some])
    assert weights.sum(1).tolist() == [900, 700]
    X = torch.rand(24, 3)
    model = pv.Model(pv.SpikeSlab(), 24, 3)

    def log_likelihood(asked, times):
        log_p = model.choice_log_probability({"X": X}, asked)
        return (log_p.gather(1, asked.odd[:, None]).squeeze(1) * times).sum()

    for each, weight in zip(some, weights, strict=True):
        judgments = Judgments.of(each)
        expected = log_likelihood(judgments, torch.ones(len(each)))
        torch.testing.assert_close(log_likelihood(rows, weight), expected)


def test_a_stack_stops_for_ctrl_c(data, monkeypatch):
    def interrupted(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(fit_many([plan(data, seed=seed) for seed in (0, 1)]))
