"""People on the command line."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli.test_cli import call

import pyrovice as pv


@pytest.fixture
def here(people_data, people_fit, tmp_path, monkeypatch):
    """Judgments of people, a fit of them, and the groups that they are in."""
    monkeypatch.chdir(tmp_path)
    people_data.write("train.csv")
    people_fit.save("my.fit")
    pd.Series(people_fit.model.people.group_of(), name="group").to_csv(
        "groups.csv", index_label="person"
    )
    return tmp_path


def test_fit_people_in_groups(here, people_fit):
    quick = ("--dimensions", 4, "--max-epochs", 20)
    made = call("fit", "train.csv", "-o", "a.fit", "--people", "--json", *quick)
    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["people"] == repr(pv.People())
    assert pv.load("a.fit").model.people == pv.People()
    made = call("fit", "train.csv", "-o", "b.fit", "--people", "--groups", "groups.csv", *quick)
    assert made.exit_code == 0, made.stderr
    members = people_fit.model.people.group_of()
    assert pv.load("b.fit").model.people == pv.People(groups=members)
    made = call("fit", "train.csv", "-o", "c.fit", "--json", *quick)
    assert json.loads(made.stdout)["people"] is None


def test_groups_of_numbered_people(here, people_data):
    numbers = people_data.people()
    who = [numbers.index(person) for person in people_data.participants]
    numbered = pv.Triplets(people_data.objects, people_data.odd, participants=who)
    numbered.write("train.npy")
    rows = "\n".join(f"{i}\t{'a' if i % 2 else 'b'}" for i in range(10))
    Path("groups.tsv").write_text(f"person\tgroup\n{rows}\n")
    made = call(
        *("fit", "train.npy", "-o", "a.fit", "--people", "--groups", "groups.tsv"),
        *("--dimensions", 4, "--max-epochs", 20),
    )
    assert made.exit_code == 0, made.stderr
    assert pv.load("a.fit").people().group.loc[3] == "a"


def test_people_prints_and_writes_the_table(here, people_fit):
    table = people_fit.people()
    said = call("people", "my.fit", "-o", "people.csv")
    assert said.exit_code == 0, said.stderr
    assert all(person in said.stdout for person in table.index)
    assert "expert - novice" in said.stdout
    assert said.stdout.endswith("Written: people.csv\n")
    written = pd.read_csv("people.csv", index_col="person")
    pd.testing.assert_frame_equal(written, table, check_dtype=False, rtol=1e-5)
    assert call("people", "my.fit", "-o", "people.csv").exit_code == 1
    again = call("people", "my.fit", "-o", "people.csv", "--overwrite", "--json")
    record = json.loads(again.stdout)
    assert record["written"] == ["people.csv"]
    assert [row["person"] for row in record["people"]] == table.index.tolist()
    assert record["people"][2]["weight 1"] == pytest.approx(table["weight 1"].iloc[2])
    difference = people_fit.groups().difference.iloc[0]
    assert record["groups"][0]["difference"] == pytest.approx(difference)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("fit train.csv -o a.fit --groups groups.csv", 2, "needs --people"),
        ("fit train.csv -o a.fit --people --groups none.csv", 1, "none.csv does not exist"),
        ("fit train.csv -o a.fit --people --groups train.csv", 1, "expected person and group"),
        ("fit train.csv -o a.fit --people --groups my.fit", 2, "should end in .csv"),
        ("fit train.csv -o a.fit --people --groups twice.csv", 1, "p000 more than once"),
        ("fit train.csv -o a.fit --people --groups empty.csv", 1, "does not hold a table"),
        ("fit train.csv -o a.fit --people --groups others.csv", 1, "who did not judge"),
        (
            "fit example -o a.fit --people",
            1,
            "needs to know who answered, and these judgments do not say",
        ),
        (
            "fit single.csv -o a.fit --people",
            1,
            "are by one person, 'ann'; leave people= out, on the command line --people.",
        ),
        ("people one.fit", 1, "of one mind"),
        ("people my.fit -o people.docx", 2, "should end in .csv"),
        ("people none.fit", 1, "none.fit"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(here, small_fit, arguments, code, said):
    Path("twice.csv").write_text("person,group\np000,a\np000,b\n")
    Path("others.csv").write_text("person,group\np000,a\np001,a\nann,b\nbob,b\n")
    Path("empty.csv").write_text("")
    alone = pv.Triplets([[0, 1, 2], [1, 2, 3]], [0, 1], participants=["ann", "ann"])
    alone.write("single.csv")
    small_fit.save("one.fit")
    result = call(*arguments.split())
    assert result.exit_code == code
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_what_it_says_of_people_who_are_not_named_works_as_typed(here, people_data):
    told = call("fit", "example", "-o", "a.fit", "--people").stderr
    command = " ".join(told.split()).partition("on the command line pyrovice ")[2]
    rows = pd.DataFrame(people_data.objects[:200], columns=["left", "middle", "right"])
    rows["answer"] = rows.to_numpy()[range(200), people_data.odd[:200]]
    rows["who"] = people_data.participants[:200]
    rows.to_csv("table.csv", index=False)
    assert call(*command.split()).exit_code == 0
    assert pv.Triplets.read("judgments.csv").people() == tuple(sorted(set(rows["who"])))
