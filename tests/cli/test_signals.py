"""SIGTERM and Ctrl-C: an exit code of their own, whole files, no worker left."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import children, is_running, started, wait_until
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.inference import watched_chains
from pyrovice.inference.svi import Trainer

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    train, valid = pv.load_example().triplets.split(0.9, 0.1, seed=0)
    train.write(folder / "train.txt")
    valid.write(folder / "valid.txt")
    return folder


def test_sigterm_on_a_sweep_leaves_whole_results_and_no_workers(folder):
    arguments = ["sweep", "train.txt", "--validation", "valid.txt", "-o", "best.fit"]
    arguments += ["--pi", "0.1", "--pi", "0.5", "--seeds", "20", "--max-epochs", "50"]
    arguments += ["--jobs", "2", "--store", "store"]
    parent = started(*arguments, cwd=folder)
    wait_until(lambda: list((folder / "store").glob("*/*.fit")))
    workers = children(parent.pid)
    parent.terminate()
    _, said = parent.communicate(timeout=60)
    assert parent.returncode == 143
    assert said.splitlines()[-1] == "pyrovice: stopped by SIGTERM."
    assert len(workers) == 2
    wait_until(lambda: not any(map(is_running, workers)), seconds=20)
    assert not list(folder.rglob("*.part"))
    for path in (folder / "store").glob("*/*.fit"):
        pv.load(path)
    assert not (folder / "best.fit").exists()


def test_a_stopped_fit_goes_on_from_its_checkpoint(folder):
    checkpoint, output = folder / "state", folder / "done.fit"
    arguments = ["fit", str(folder / "train.txt"), "-o", str(output), "--dimensions", "8"]
    arguments += ["--checkpoint", str(checkpoint), "--max-epochs", "300"]
    first = started(*arguments)
    wait_until(checkpoint.exists)
    first.terminate()
    _, said = first.communicate(timeout=60)
    assert first.returncode == 143
    assert f"stopped by SIGTERM. {checkpoint} has the state so far" in said
    assert not output.exists()
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert len(pv.load(output).history) == 300


def test_without_a_checkpoint_the_fit_so_far_is_kept(folder, monkeypatch):
    look = Trainer.look

    def interrupted(trainer, epoch):
        look(trainer, epoch)
        if epoch == 5:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Trainer, "look", interrupted)
    output = folder / "so_far.fit"
    said = CliRunner().invoke(app, ["fit", str(folder / "train.txt"), "-o", str(output)])
    assert said.exit_code == 143
    assert "Interrupted after 6 epochs" in said.stderr
    assert len(pv.load(output).history) == 6
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_ctrl_c_on_chains_writes_the_draws_so_far(small, small_fit, tmp_path, monkeypatch):
    small.write(tmp_path / "train.txt")
    small_fit.save(tmp_path / "my.fit")
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setenv("TMPDIR", str(notes))
    arguments = ["refine", "my.fit", "train.txt", "-o", "so_far.fit", "--draws", "100000"]
    parent = started(*arguments, cwd=tmp_path, session=True)
    path = wait_until(lambda: next(notes.glob("pyrovice-*/chains"), None))

    def both_are_worth_keeping():
        # Of each chain how many draws it has; 30 are forgotten. One that lags behind by more than
        # half, as on a busy machine it may at first, would be left out.
        kept = np.fromfile(path, np.int64)[1:] - 30
        return kept.min() >= 10 and kept.min() > 0.7 * kept.max()

    wait_until(both_are_worth_keeping)
    os.killpg(parent.pid, signal.SIGINT)
    said, noted = parent.communicate(timeout=60)
    assert parent.returncode == 130, noted
    so_far = pv.load(tmp_path / "so_far.fit")
    chains, draws = so_far.posterior.weights.stored.shape[:2]
    assert chains == 2
    assert draws >= 10
    assert f"of 200000 draws: this is the fit so far, chains=2 of draws={draws}" in noted
    assert f"credible in {2 * draws} draws" in said
    assert not path.exists()


def test_sigterm_on_a_chain_writes_the_draws_so_far(small, small_fit, tmp_path, monkeypatch):
    small.write(tmp_path / "train.txt")
    small_fit.save(tmp_path / "my.fit")
    go_on, stop_at = watched_chains.Report.opened, 30

    def stopped(report):
        told = go_on(report)

        def stopping(done):
            if done == stop_at:
                signal.raise_signal(signal.SIGTERM)
            return told(done)

        return stopping

    monkeypatch.setattr(watched_chains.Report, "opened", stopped)
    arguments = ["refine", "my.fit", "train.txt", "-o", "so_far.fit", "--chains", "1", "--json"]
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 143
    assert "stopped by SIGTERM. There is nothing to keep" in said.stderr
    assert not Path("so_far.fit").exists()
    stop_at = 36
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 143
    assert json.loads(said.stdout)["draws"] == 6
    assert len(pv.load("so_far.fit").history) == 6
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_nothing_is_written_before_the_first_epoch(folder, monkeypatch):
    def interrupted(trainer, epoch):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "_pass_through_the_data", interrupted)
    output = folder / "early.fit"
    said = CliRunner().invoke(app, ["fit", str(folder / "train.txt"), "-o", str(output)])
    assert said.exit_code == 130
    assert "Nothing is written: no epoch was over." in said.stderr
    assert not output.exists()
