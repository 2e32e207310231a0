import pytest
import torch

from pyrovice import ARD, Anneal, MeanField, PyroviceError, SpikeSlab, Stability, Training
from pyrovice.guides import MAP
from pyrovice.inference.plan import Plan
from pyrovice.inference.progress import Progress
from pyrovice.inference.svi import Trainer


def test_the_papers_recipe():
    paper = Training.paper()
    assert paper.learning_rate == 0.001
    assert paper.batch_size == 128
    assert paper.max_epochs == 2000
    assert paper.particles == 1
    assert paper.schedule is None
    assert paper.stop == Stability(window=500)
    assert paper.start == "noise"
    assert not paper.drop_collapsed


def test_the_rate_stays_between_its_ends():
    schedule = Anneal(steps=100, to=0.001)
    assert schedule.rate(0.05, 0) == pytest.approx(0.05)
    assert schedule.rate(0.05, 50) == pytest.approx((0.05 + 0.001) / 2)
    assert schedule.rate(0.05, 100) == schedule.rate(0.05, 150) == pytest.approx(0.001)


def test_the_length_follows_from_the_objects():
    auto = Anneal().length
    assert [auto(m, n) for m, n in ((10, 80), (80, 80), (80, 250))] == [1200] * 3
    assert auto(200, 250) == round(1200 * 2.5**0.383)
    assert auto(80, 40) == round(1200 * 2**0.66)
    assert auto(80, 400) == round(1200 * 1.6**0.75)
    assert auto(26_107, 800) == auto(80, 10) == 2000
    assert Anneal(steps=70).length(26_107, 1) == 70


def test_what_is_more_than_weights_takes_longer(small):
    def steps(**arguments):
        plan = Plan.of(small, seed=0, training=Training(), **{"prior": SpikeSlab()} | arguments)
        with plan.isolated():
            return Trainer(*plan.begin(), None, Progress(False, 0, "")).decay

    assert steps(guide=MeanField()) == 1200
    assert steps(guide=MAP()) == 2000
    assert steps(guide=MeanField(), prior=ARD()) == 2000


def test_the_first_rate_follows_prior_and_data():
    # |X| under N(0, s) is below 1.645 s with probability 0.9.
    weights = torch.randn(1000, 300, generator=torch.Generator().manual_seed(0))
    auto = Training().first_rate
    assert auto(0.5 * weights, 800) == pytest.approx(0.075 * 0.5 * 1.645, rel=0.01)
    assert auto(0.5 * weights, 100) == pytest.approx(2 * 0.075 * 0.5 * 1.645, rel=0.01)
    assert auto(0.01 * weights, 800) == 0.02
    assert auto(9 * weights, 800) == 0.2
    assert Training(learning_rate=0.3).first_rate(weights, 800) == 0.3


def test_batches_follow_the_size_of_the_data():
    auto = Training()
    assert auto.rows_per_batch(500) == 500
    assert auto.rows_per_batch(1_460_000) == 146_000
    assert auto.rows_per_batch(200_000) == 200_000
    assert auto.rows_per_batch(320_001) == 160_001
    assert Training(batch_size=128).rows_per_batch(500) == 128
    assert Training(batch_size=128).rows_per_batch(50) == 50


@pytest.mark.parametrize(
    "bad",
    [
        {"learning_rate": 0.0},
        {"learning_rate": "fast"},
        {"betas": (0.9,)},
        {"betas": (0.9, 1.0)},
        {"learning_rate": float("nan")},
        {"batch_size": 0},
        {"batch_size": "all"},
        {"max_epochs": 0},
        {"particles": 1.5},
        {"start": "random"},
        {"stop": 100},
        {"schedule": 100},
    ],
)
def test_bad_settings(bad):
    with pytest.raises(PyroviceError, match=next(iter(bad))):
        Training(**bad)


def test_a_value_that_compares():
    assert Training() == Training()
    assert hash(Training()) == hash(Training())
    assert Training() != Training.paper()


@pytest.mark.parametrize("bad", [{"steps": 0}, {"steps": 2.5}, {"steps": "all"}, {"to": -1.0}])
def test_bad_schedules(bad):
    with pytest.raises(PyroviceError, match="expected a positive whole number"):
        Anneal(**bad)
