"""`pyrovice next`: from a saved fit to a list of trials."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app


@pytest.fixture
def here(small, small_fit, tmp_path, monkeypatch):
    small[:300].write(tmp_path / "train.csv")
    small_fit.save(tmp_path / "my.fit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_list_is_written_that_the_answers_can_be_read_from(here, small_fit):
    made = call("next", "my.fit", "--data", "train.csv", "-n", 40, "--catch", 2, "-o", "ask.csv")
    assert made.exit_code == 0, made.output
    assert "42 trials: 36 chosen" in made.output
    trials = pd.read_csv("ask.csv", dtype=str)
    assert trials.role.value_counts().to_dict() == {"ask": 36, "random": 4, "catch": 2}
    data = pv.read_answers(trials.assign(response=trials.middle), names=small_fit.names)
    assert data.trials.role.value_counts().to_dict() == {"ask": 36, "random": 4}


def test_it_answers_in_json_and_does_not_replace_files(here):
    arguments = ("next", "my.fit", "--data", "train.csv", "-n", 10, "-o", "ask.csv")
    record = json.loads(call(*arguments, "--about", "3", "--json").output)
    assert record["trials"] == 10
    again = call(*arguments)
    assert again.exit_code == 1 or isinstance(again.exception, pv.OverwriteError)
