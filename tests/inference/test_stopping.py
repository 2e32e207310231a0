from dataclasses import dataclass

import numpy as np
import pytest

import pyrovice as pv
from pyrovice import MaxEpochs, PyroviceError, Stability


@dataclass
class Epoch:
    step: int
    loss: float
    dimensions: int


def history(counts, losses=None, steps_per_epoch=1):
    losses = losses or [1.0] * len(counts)
    return [
        Epoch((i + 1) * steps_per_epoch, loss, count)
        for i, (count, loss) in enumerate(zip(counts, losses, strict=True))
    ]


def test_the_window_must_be_full():
    rule = Stability(window=5)
    assert not rule.reached([])
    assert not rule.reached(history([7] * 4))
    assert rule.reached(history([7] * 5))
    assert not rule.reached(history([7, 8, 8, 8, 8]))
    assert rule.reached(history([7, 8, 8, 8, 8, 8]))


def test_zero_dimensions_never_settle():
    assert not Stability(window=3).reached(history([0] * 10))
    assert not Stability(window=3).collapsed(history([0] * 10))
    assert Stability(window=3, tolerance=0.1).collapsed(history([0] * 10))
    assert not Stability(window=3, tolerance=0.1).collapsed(history([0, 1, 0]))
    assert not Stability(window=3, tolerance=0.1).collapsed(history([0, 0]))


def test_the_loss_must_be_level_too():
    falling = [1.0, 0.9, 0.8, 0.7]
    assert Stability(window=4).reached(history([3] * 4, falling))
    assert not Stability(window=4, tolerance=0.1).reached(history([3] * 4, falling))
    assert Stability(window=4, tolerance=0.3).reached(history([3] * 4, falling))
    assert Stability(window=4, tolerance=0.1).reached(history([3] * 4, falling[::-1]))


@pytest.mark.parametrize("steps_per_epoch", [1, 3, 10, 40])
def test_a_window_in_steps_means_the_same_at_every_size(steps_per_epoch):
    rule = Stability(window=30, unit="steps")
    counts = [5] * 60
    reached = [
        n * steps_per_epoch
        for n in range(1, 61)
        if rule.reached(history(counts[:n], steps_per_epoch=steps_per_epoch))
    ]
    assert 30 <= reached[0] < 30 + steps_per_epoch


def test_max_epochs():
    assert not MaxEpochs(3).reached(history([0, 0]))
    assert MaxEpochs(3).reached(history([0, 0, 0]))
    assert not MaxEpochs(3).collapsed(history([0] * 9))


@pytest.mark.parametrize(
    "make", [lambda: Stability(0), lambda: MaxEpochs(0), lambda: Stability(5, unit="days")]
)
def test_bad_rules(make):
    with pytest.raises(PyroviceError, match="expected"):
        make()


def test_a_fit_that_keeps_nothing_ends_with_its_schedule():
    """Not after the 5,000 epochs that it may take."""
    rng = np.random.default_rng(0)
    objects = np.sort([rng.choice(30, 3, replace=False) for _ in range(400)], axis=1)
    data = pv.Triplets(objects, rng.integers(0, 3, 400), names=range(30))
    training = pv.Training(schedule=pv.Anneal(steps=300))
    with pytest.warns(pv.PyroviceWarning, match="carry no dimensions|none is kept"):
        fit = pv.fit(data, dimensions=6, training=training, progress=False)
    assert fit.n_dimensions == 0
    assert len(fit.history) < 1000
    assert not fit.converged
