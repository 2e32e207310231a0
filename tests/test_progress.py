import io
import sys
from dataclasses import dataclass

import pytest

import pyrovice as pv
from pyrovice.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@dataclass
class Epoch:
    step: int = 1
    loss: float = 0.91234
    dimensions: int = 7


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_a_terminal_shows_what_matters(screen):
    with Progress(True, 100, "20 objects") as bar:
        for left in (2, 1, 0):
            bar.update(Epoch(), epochs_left=left)
    shown = screen.getvalue()
    assert "20 objects" in shown
    assert "-ELBO/n 0.9123, 7 dimensions" in shown
    assert "3/3" in shown


def test_quiet_where_nobody_watches(monkeypatch, screen):
    with Progress(False, 100, "unwanted") as bar:
        bar.update(Epoch(), 1)
    monkeypatch.setenv("CI", "true")
    with Progress(True, 100, "in CI") as bar:
        bar.update(Epoch(), 1)
    monkeypatch.delenv("CI")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress(True, 100, "in a script") as bar:
        bar.update(Epoch(), 1)
    assert screen.getvalue() == sys.stderr.getvalue() == ""


def test_a_fit_draws_it(screen, small):
    pv.fit(small, dimensions=4, training=pv.Training(stop=pv.MaxEpochs(3), schedule=None))
    assert "20 objects in up to 4 dimensions" in screen.getvalue()
