"""Ctrl-C keeps the draws so far, and chains compute where the guide does."""

import copy
import itertools
import signal

import joblib
import numpy as np
import pytest
import torch

import pyrovice as pv
from pyrovice.criticism import interval_calibration
from pyrovice.errors import InterruptedWarning, tell
from pyrovice.inference import refining, watched_chains
from pyrovice.inference.chains import Chain, of_one_length
from pyrovice.inference.langevin import langevin
from pyrovice.inference.refining import device_of, run_chain
from pyrovice.inference.watched_chains import Report, watched

pytestmark = pytest.mark.filterwarnings("ignore:Not known to have converged")

FORGOTTEN_STEPS = 300


@pytest.fixture(scope="module")
def whole(small_fit, small):
    return pv.refine(small_fit, small, draws=20, chains=1)


def interrupted_at(monkeypatch, *steps):
    """Have the signal of Ctrl-C come after some of the steps of a chain in this process."""

    def path(*arguments):
        for step, found in enumerate(langevin(*arguments), start=1):
            if step in steps:
                signal.raise_signal(signal.SIGINT)
            yield found

    monkeypatch.setattr(refining, "langevin", path)


def test_ctrl_c_keeps_the_draws_so_far(small_fit, small, whole, monkeypatch, tmp_path):
    interrupted_at(monkeypatch, FORGOTTEN_STEPS + 65)
    expected = "Interrupted after 7 of 20 draws: .*chains=1 of draws=7"
    with pytest.warns(InterruptedWarning, match=expected) as said:
        so_far = pv.refine(small_fit, small, draws=20, chains=1)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not so_far.converged
    assert len(so_far.history) == 7
    assert so_far.guide_family == refining.Langevin(7, 1)
    for name, values in so_far.posterior.sample_stats.items():
        np.testing.assert_array_equal(values, whole.posterior.sample_stats[name][:, :7])
    so_far.save(tmp_path / "so_far.fit")
    assert pv.load(tmp_path / "so_far.fit").predict(small[:5]).shape == (5, 3)


@pytest.mark.parametrize(
    "steps",
    [(5,), (FORGOTTEN_STEPS,), (FORGOTTEN_STEPS + 25,)],
    ids=["at once", "before the first draw", "after three draws"],
)
def test_ctrl_c_with_nothing_to_keep(small_fit, small, monkeypatch, steps):
    interrupted_at(monkeypatch, *steps)
    with pytest.raises(KeyboardInterrupt, match="nothing to keep: no chain had 4 draws"):
        pv.refine(small_fit, small, draws=20, chains=1)


def test_a_second_ctrl_c_does_not_wait(small_fit, small, monkeypatch):
    interrupted_at(monkeypatch, FORGOTTEN_STEPS + 61, FORGOTTEN_STEPS + 62)
    with pytest.raises(KeyboardInterrupt) as stopped:
        pv.refine(small_fit, small, draws=20, chains=1)
    assert not stopped.value.args
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_refit_of_many_that_is_stopped_stops_them_all(small_fit, small, monkeypatch):
    def stopped(fit, *arguments, **named):
        tell("Interrupted after 7 of 20 draws", InterruptedWarning)
        return fit

    monkeypatch.setattr(interval_calibration, "refine", stopped)
    with pytest.raises(KeyboardInterrupt):
        interval_calibration._refined(small_fit, small, seed=0)


def chain_of(n):
    draws = np.arange(n, dtype=np.float32)
    return Chain({"X": draws[:, None, None]}, draws, -draws, float(n), {"temperature": draws})


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ([7, 9], [7, 7]),
        ([200, 200, 0, 0], [200, 200]),
        ([10, 200, 150, 5], [150, 150]),
        ([50, 100], [50, 50]),
        ([49, 100], [100]),
        ([], []),
    ],
)
def test_as_many_draws_as_can_be_are_kept(lengths, kept):
    found = of_one_length([chain_of(n) for n in lengths])
    assert [len(chain) for chain in found] == kept
    most = max((n * sorted(lengths)[-n] for n in range(1, len(lengths) + 1)), default=0)
    assert sum(kept) == most
    for chain in found:
        expected = chain_of(len(chain))
        np.testing.assert_array_equal(chain.sites["X"], expected.sites["X"])
        np.testing.assert_array_equal(chain.log_prior, expected.log_prior)
        np.testing.assert_array_equal(chain.stats["temperature"], expected.log_likelihood)
        assert chain.seconds == pytest.approx(len(chain))


def test_draws_are_every_tenth_position_after_those_forgotten():
    def potential(z):
        return (z["x"] ** 2).sum() / 2

    start, scale = {"x": torch.zeros(50)}, {"x": torch.ones(50)}
    torch.manual_seed(3)
    found, heat = refining._steady_path(potential, start, scale, 12, Report().opened())
    torch.manual_seed(3)
    path = list(itertools.islice(langevin(potential, start, scale), FORGOTTEN_STEPS + 120))
    expected = path[FORGOTTEN_STEPS + 9 :: 10]
    assert all(torch.equal(z["x"], y["x"]) for z, (y, _) in zip(found, expected, strict=True))
    assert heat.tolist() == [each for _, each in expected]


def test_chains_on_other_machines_are_left_alone(monkeypatch):
    monkeypatch.setattr(watched_chains, "ON_THIS_MACHINE", ())
    before = signal.getsignal(signal.SIGINT)
    with watched(2, 10, "far away", progress=True) as watch:
        assert signal.getsignal(signal.SIGINT) is before
        assert watch.reports[1].opened()(5)
        assert watch.done == 0
        assert not watch.stopped


def test_nothing_is_left_behind(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with watched(2, 10, "here", progress=False) as watch:
        assert watch.reports[0].path.is_relative_to(tmp_path)
        joblib.Parallel(backend="threading", n_jobs=2)(
            joblib.delayed(report.opened())(7) for report in watch.reports
        )
        assert watch.done == 14
    assert not list(tmp_path.iterdir())


def test_a_chain_computes_on_the_device_it_is_given(small_fit, small):
    (work,) = refining._work(small_fit, small, refining.Langevin(4, 1), seed=0)
    here = run_chain(*work, Report())
    # A tensor that was made without asking for the device would have no numbers.
    with torch.device("meta"):
        there = run_chain(*work, Report())
    for name, values in here.sites.items():
        np.testing.assert_array_equal(values, there.sites[name])
    np.testing.assert_array_equal(here.stats["lp"], there.stats["lp"])


def test_the_device_is_that_of_the_guide(small_fit):
    assert device_of(small_fit.guide) == torch.device("cpu")
    assert device_of(copy.deepcopy(small_fit.guide).to("meta")) == torch.device("meta")
    assert device_of(lambda: None) == torch.device("cpu")
