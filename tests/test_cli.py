import os
import subprocess
import sys
from pathlib import Path

import pyrovice as pv

PROGRAM = Path(sys.executable).with_name("pyrovice")


def run(*arguments, folder):
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"CI": "true"},
        timeout=300,
        check=False,
    )


def test_demo(tmp_path):
    first = run("demo", "--output", "out", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    assert "SIMULATED" in first.stdout
    assert "7 dimensions kept (true: 7)" in first.stdout
    assert "animal (r = 0.9" in first.stdout or "animal (r = 1.0" in first.stdout
    assert "accuracy" in first.stdout
    files = {p.name for p in (tmp_path / "out").iterdir()}
    assert files == {"dimensions.png", "convergence.png", "example.fit"}
    assert pv.load(tmp_path / "out" / "example.fit").n_dimensions == 7
    second = run("demo", "--output", "out", folder=tmp_path)
    assert second.returncode == 0
    assert "dimensions-2.png" in {p.name for p in (tmp_path / "out").iterdir()}


def test_help_and_nonsense(tmp_path):
    assert "demo" in run("--help", folder=tmp_path).stdout
    assert "Example" in run("demo", "--help", folder=tmp_path).stdout
    wrong = run("demon", folder=tmp_path)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
