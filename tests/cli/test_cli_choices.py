"""Choices on the command line."""

import json

import numpy as np
import pyro.distributions as dist
import pytest
from cli.test_cli import call

import pyrovice as pv
from pyrovice.inference import choice_sites

LAPSE = dist.Beta(1.0, 20.0)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Judgments that say where objects stood, and a sampler that does not go far."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(choice_sites, "FORGOTTEN", 2)
    monkeypatch.setattr(choice_sites, "KEPT", (5, 5))
    choice = pv.choices.DotProduct(position=(0.3, 0.0, -0.3))
    pv.simulate(1.5 * np.eye(2).repeat(5, axis=0), 300, seed=0, choice=choice).write("a.csv")
    return tmp_path


QUICK = ("--dimensions", 2, "--max-epochs", 20)


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ((), pv.choices.DotProduct()),
        (("--choice", "cosine", "--lapse", "0.05"), pv.choices.Cosine(lapse=0.05)),
        (
            ("--choice", "contrast", "--lapse", "learn", "--places"),
            pv.choices.Contrast(lapse=LAPSE, position=dist.Normal(0.0, 0.3)),
        ),
    ],
    ids=["usual", "cosine", "contrast"],
)
def test_fit_with_a_choice(here, options, choice):
    made = call("fit", "a.csv", "-o", "a.fit", "--json", *options, *QUICK)
    assert made.exit_code == 0, made.stderr
    said = json.loads(made.stdout)
    fit = pv.load("a.fit")
    assert fit.choice == choice
    assert said["choice"] == repr(choice)
    names = {name.split()[0] for name in said["learned"]}
    assert names == set(choice.learned())
    if "position" in names:
        low, high = said["learned"]["position place 1"][1:]
        assert low < high


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--lapse", "some"), 2, "expected a share such as 0.05, or learn"),
        (("--lapse", "1.5"), 1, "expected a share from 0 to below 1"),
        (("--choice", "angle"), 2, "'angle' is not one of"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(here, options, code, said):
    made = call("fit", "a.csv", "-o", "a.fit", *options, *QUICK)
    assert made.exit_code == code
    assert said in " ".join(made.stderr.replace("│", " ").split())


def test_places_that_nobody_noted_get_a_sentence_for_the_shell(here):
    pv.simulate(np.eye(5), 60, seed=0).write("nowhere.csv")
    made = call("fit", "nowhere.csv", "-o", "b.fit", "--places", *QUICK)
    assert made.exit_code == 1
    said = " ".join(made.stderr.split())
    assert "needs to know where each object stood" in said
    assert "pyrovice convert table.csv -o judgments.csv --objects left,middle,right" in said
