"""Small fits use one thread, and the program has its own number of threads back afterwards."""

import pytest
import torch

import pyrovice as pv
from pyrovice.inference.svi import Trainer
from pyrovice.inference.threads import limited_threads, threads_for

DATA = pv.load_example().triplets.subset(500, seed=0)
SHORT = pv.Training(schedule=pv.Anneal(steps=3), stop=pv.MaxEpochs(3))


@pytest.fixture
def seen(monkeypatch):
    """The numbers of threads that a fit was trained with, in a program that has two."""
    numbers, record = set(), Trainer.record

    def noting(self, *terms):
        numbers.add(torch.get_num_threads())
        record(self, *terms)

    monkeypatch.setattr(Trainer, "record", noting)
    with limited_threads(2):
        yield numbers


@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
@pytest.mark.parametrize(("asked", "expected"), [({}, 1), ({"threads": 2}, 2)])
def test_a_small_fit_uses_one_thread_unless_asked(seen, asked, expected):
    pv.fit(DATA, dimensions=3, training=SHORT, progress=False, **asked)
    assert seen == {expected}
    assert torch.get_num_threads() == 2


def test_the_number_is_restored_after_an_error(seen, monkeypatch):
    monkeypatch.setattr(Trainer, "look", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pv.fit(DATA, dimensions=3, training=SHORT, progress=False)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((36, 18, 4_500), 1),
        ((200, 100, 60_000), 1),
        ((1854, 100, 350_000), None),
        ((80, 40, 10**6), None),
    ],
)
def test_large_fits_use_what_there_is(size, expected):
    assert threads_for(*size) == expected


def test_a_number_of_threads_is_a_positive_number():
    with pytest.raises(pv.PyroviceError, match="threads"):
        pv.fit(DATA, threads=0)
