"""What reviewers ask, on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
from cli.test_cli import call

import pyrovice as pv
from pyrovice.criticism.exclusions import ExclusionEffect


@pytest.fixture
def here(people_data, tmp_path, monkeypatch):
    """Judgments of ten people, two of whom click too fast, and two groups of them."""
    monkeypatch.chdir(tmp_path)
    short = pv.Training(schedule=pv.Anneal(steps=100))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    people = people_data.people()
    quick = np.isin(people_data.participants, people[:2])
    times = pd.DataFrame({"reaction_time": np.where(quick, 300.0, 2000.0)})
    pv.Triplets(
        people_data.objects,
        people_data.odd,
        names=people_data.names,
        participants=people_data.participants,
        trials=times,
    ).write("all.csv")
    groups = {who: "NA" if i % 2 else "None" for i, who in enumerate(people)}
    pd.Series(groups, name="group").to_csv("groups.csv", index_label="person")
    return list(people)


def test_participants_and_whom_rules_exclude(here):
    said = call("participants", "all.csv")
    assert said.exit_code == 0, said.stderr
    assert all(person in said.stdout for person in here)
    assert "median_time: median reaction time in milliseconds\n" in said.stdout
    assert "catch_failed" not in said.stdout
    made = call(
        *("participants", "all.csv", "--rule", "too-fast", "--rule", "quick"),
        *("--kept", "kept.csv", "-o", "table.tsv"),
    )
    assert made.exit_code == 0, made.stderr
    assert f"2 of {len(here)} participants excluded" in made.stdout
    assert made.stdout.endswith("Written: table.tsv\nWritten: kept.csv\n")
    expected = pv.participants.review(
        pv.Triplets.read("all.csv"),
        pv.participants.TooFast(),
        pv.participants.QuickOnTheWhole(),
    )
    assert expected.excluded == here[:2]
    kept = pv.Triplets.read("kept.csv")
    assert list(kept.people()) == here[2:]
    assert "reaction_time" in kept.trials
    written = pd.read_csv("table.tsv", sep="\t", index_col="participant")
    assert written["excluded"].tolist() == expected.table["excluded"].tolist()
    record = json.loads(call("participants", "all.csv", "--rule", "quick", "--json").stdout)
    assert [row["participant"] for row in record["excluded"]] == here[:2]
    assert record["effect"] is None


def test_catch_trials_of_a_table_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(
        "a,b,c,answer,test,ok,who\nx,y,z,z,0,,1\nx,y,z,x,1,1,1\nx,y,z,y,1,0,2\nz,y,x,z,0,,2\n"
    )
    columns = ("--objects", "a,b,c", "--odd", "answer", "--participant", "who")
    caught = ("--catch", "test", "--passed", "ok", "--catch-trials", "catch.csv")
    made = call("convert", "own.csv", "-o", "all.csv", *columns, *caught)
    assert made.exit_code == 0, made.stderr
    assert made.stdout.endswith("  2 to all.csv\n  2 catch trials to catch.csv\n")
    assert Path("catch.csv").read_text() == "participant,passed\n1,True\n2,False\n"
    review = ("participants", "all.csv", "--catch-trials", "catch.csv")
    known = json.loads(call(*review, "--json").stdout)["participants"]
    assert [row["catch_failed"] for row in known] == [0, 1]
    said = call(*review, "--rule", "failed-catch", "--kept", "kept.csv")
    assert "1 of 2 participants excluded" in said.stdout
    assert "catch trials failed (at least one failed catch trial): 1 (2)" in said.stdout
    assert pv.Triplets.read("kept.csv").people() == (1,)
    none = call("convert", "all.csv", "-o", "b.csv", "--catch-trials", "none.csv")
    assert none.exit_code == 1
    assert "no catch trials by participant to write" in none.stderr
    assert not Path("b.csv").exists()
    Path("other.csv").write_text("participant,passed\n1,perhaps\n")
    unclear = call("participants", "all.csv", "--catch-trials", "other.csv")
    assert "other.csv says 'perhaps' of a catch trial" in unclear.stderr


def test_whether_it_matters_that_they_are_gone(here, monkeypatch):
    given = {}

    def effect(data, review, **arguments):
        given.update(arguments, excluded=review.excluded)
        rows = {"judgments": [3, 2, 2], "dimensions": 1, "similarity": [0.0, 0.5, 0.1]}
        table = pd.DataFrame(rows | {"matched": [0.0, 0.1, 0.2]}, index=["a", "b", "c"])
        return ExclusionEffect(tuple(review.excluded), table)

    monkeypatch.setattr(pv, "exclusion_effect", effect, raising=False)
    made = call("participants", "all.csv", "--rule", "quick", "--effect", "-d", 4, "--json")
    assert made.exit_code == 0, made.stderr
    assert given == {"seed": 0, "dimensions": 4, "excluded": here[:2]}
    assert json.loads(made.stdout)["effect_p_value"] == {"similarity": 0.5, "matched": 1.0}


def test_as_many_dimensions_as_before_are_said_to_be_that():
    rows = {"judgments": [3, 2, 2], "dimensions": 5, "similarity": 0.0, "matched": 0.0}
    table = pd.DataFrame(rows, index=["a", "b", "c"])
    assert "of 3 judgments, and 5 dimensions as before." in repr(ExclusionEffect(("eve",), table))
    table.loc["b", "dimensions"] = 4
    assert "and 4 instead of 5 dimensions." in repr(ExclusionEffect(("eve",), table))


def test_split_half_says_what_python_says(here):
    made = call("split-half", "all.csv", "--by", "people", "--splits", 1, "-d", 3, "--json")
    assert made.exit_code == 0, made.stderr
    found = pv.split_half(pv.Triplets.read("all.csv"), by="people", splits=1, dimensions=3)
    record = json.loads(made.stdout)
    assert record["by"] == "people"
    assert record["summary"]["similarity"]["p_value"] == found.summary.p_value["similarity"]
    assert record["splits"][0]["judgments_1"] == found.table.judgments_1[0]


def test_groups_may_be_called_what_pandas_takes_for_missing(here):
    made = call(
        *("compare-groups", "all.csv", "--groups", "groups.csv", "--permutations", 1),
        *("-d", 3, "--json"),
    )
    assert made.exit_code == 0, made.stderr
    record = json.loads(made.stdout)
    assert record["groups"] == ["NA", "None"]
    assert record["people"] == [5, 5]
    assert set(record["p_value"]) == {"similarity", "dimensions"}


def test_spose_with_its_rate_chosen(here, monkeypatch, small_fit):
    given = {}

    def spose(data, **arguments):
        given.update(arguments)
        return small_fit

    monkeypatch.setattr(pv, "spose", spose, raising=False)
    call("convert", "all.csv", "-o", "train.csv", "--held-out", "valid.csv")
    call(
        *("fit", "train.csv", "-o", "a.fit", "--prior", "exponential", "--guide", "map"),
        *("--rate", "auto", "--validation", "valid.csv", "--seed", 3),
    )
    assert given["rate"] == "auto"
    assert given["seed"] == 3
    assert len(given["validation"]) == len(pv.Triplets.read("valid.csv"))
    assert not {"prior", "guide"} & set(given)


def test_a_rate_is_a_number_too(here):
    made = call(
        *("fit", "all.csv", "-o", "a.fit", "--prior", "exponential", "--guide", "map"),
        *("--rate", "2.5", "--max-epochs", 3, "-d", 3),
    )
    assert made.exit_code == 0, made.stderr
    prior = pv.load("a.fit").prior
    assert isinstance(prior, dist.Exponential)
    assert prior.rate == 2.5


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("participants all.csv --kept a.csv", 2, "--kept needs to know whom to exclude"),
        ("participants all.csv --effect", 2, "--effect needs to know whom to exclude"),
        ("participants all.csv --rule food", 1, "There are no catch trials by participant"),
        ("participants all.csv --rule things", 1, "on the command line pyrovice convert"),
        ("participants example", 1, "do not say who judged"),
        ("split-half example --by people", 1, "these judgments name 0"),
        ("compare-groups all.csv --groups none.csv", 1, "none.csv does not exist"),
        ("fit all.csv -o a.fit --rate auto", 2, "is for --prior exponential with --guide map"),
        (
            "fit all.csv -o a.fit --prior exponential --guide map --rate auto",
            2,
            "--validation FILE",
        ),
        ("fit all.csv -o a.fit --prior exponential --rate much", 2, "expected a number such as 5"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(here, arguments, code, said):
    result = call(*arguments.split())
    assert result.exit_code == code
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert not Path("a.fit").exists()
