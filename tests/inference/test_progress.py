import contextlib
import io
from dataclasses import dataclass

import pytest

import pyrovice as pv
from pyrovice.inference.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@dataclass
class Epoch:
    step: int = 1
    loss: float = 0.91234
    dimensions: int = 7


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def shown_on(screen, wanted=True):
    with contextlib.redirect_stderr(screen), Progress(wanted, 100, "20 objects") as bar:
        for left in (2, 1, 0):
            bar.update(Epoch(), epochs_left=left)
    return screen.getvalue()


def test_a_terminal_shows_what_matters():
    shown = shown_on(Terminal())
    assert "20 objects" in shown
    assert "-ELBO/n 0.9123, 7 dimensions" in shown
    assert "3/3" in shown


def test_quiet_where_nobody_watches(monkeypatch):
    assert shown_on(Terminal(), wanted=False) == ""
    assert shown_on(io.StringIO()) == ""
    monkeypatch.setenv("CI", "true")
    assert shown_on(Terminal()) == ""


@pytest.mark.filterwarnings("ignore:All 4 dimensions were kept")
def test_a_fit_draws_it(small):
    training = pv.Training(stop=pv.MaxEpochs(3), schedule=None)
    with contextlib.redirect_stderr(Terminal()) as screen:
        pv.fit(small, dimensions=4, training=training)
    assert "20 objects in up to 4 dimensions" in screen.getvalue()


@pytest.mark.filterwarnings("ignore:Not known to have converged")
def test_sampling_draws_it_too():
    data = pv.simulate([[0.0], [0.5], [1.0], [1.5]], 20, seed=0)
    with contextlib.redirect_stderr(Terminal()) as screen:
        pv.sample(data, dimensions=1, draws=4, warmup=2, chains=2)
    assert "2 chains of NUTS: 100%" in screen.getvalue()
    assert "12/12" in screen.getvalue()
    with contextlib.redirect_stderr(Terminal()) as screen:
        pv.sample(data, dimensions=1, draws=4, warmup=2, chains=2, progress=False)
    assert screen.getvalue() == ""


@pytest.mark.filterwarnings("ignore:Not known to have converged")
def test_chains_in_processes_are_counted_together(small_fit, small):
    with contextlib.redirect_stderr(Terminal()) as screen:
        pv.refine(small_fit, small, draws=4, chains=2)
    assert "2 chains around the fit: 100%" in screen.getvalue()
    # Thirty draws of each are forgotten.
    assert "68/68" in screen.getvalue()
    with contextlib.redirect_stderr(Terminal()) as screen:
        pv.refine(small_fit, small, draws=4, chains=1, progress=False)
    assert screen.getvalue() == ""
