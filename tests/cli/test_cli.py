"""The command line, from an empty folder, as a shell sees it."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.cli.fitting import small_dimensions
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import NormalWeights

COMMANDS = (
    *("demo", "describe", "fit", "evaluate", "people", "dimensions", "label", "report"),
    *("refine", "sweep", "participants", "split-half", "compare-groups"),
    *("sample-size", "next", "simulate", "convert"),
)


def run(*arguments, folder):
    """In a process of its own: what is printed, and the exit code."""
    return subprocess.run(
        [sys.executable, "-c", "from pyrovice.cli import app; app()", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"CI": "true"},
        timeout=300,
        check=False,
    )


def call(*arguments):
    """The same in this process, which is faster."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example in two parts, and a fit of the larger one."""
    folder = tmp_path_factory.mktemp("shell")
    made = run(
        *("convert", "example", "-o", "train.csv", "--held-out", "test.csv", "--share", 0.2),
        folder=folder,
    )
    assert made.returncode == 0, made.stderr
    assert "16,000 to train.csv" in made.stdout
    fitted = run(
        *("fit", "train.csv", "-o", "my.fit", "--validation", "test.csv", "--dimensions", 12),
        *("--prior", "spike-slab", "--spike", 0.2, "--slab", 1.0, "--seed", 3),
        *("--embedding", "embedding.tsv"),
        folder=folder,
    )
    assert fitted.returncode == 0, fitted.stderr
    assert fitted.stderr == ""
    assert "7 dimensions kept" in fitted.stdout
    fit = pv.load(folder / "my.fit")
    scores = fit.evaluate(pv.Triplets.read(folder / "test.csv", names=fit.names))
    assert (
        f"validation: accuracy {scores.accuracy:.3f}, cross-entropy {scores.cross_entropy:.4f} nats"
    ) in fitted.stdout
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


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
    assert Path(sys.executable).with_name("pyrovice").exists()
    help_page = run("--help", folder=tmp_path)
    assert help_page.returncode == 0
    for command in COMMANDS:
        assert f"\n  {command} " in help_page.stdout
        # In a window of 80 letters, too, what it does is said to the end.
        assert re.search(rf"^  {command} .*[a-z]\.$", help_page.stdout, re.MULTILINE)
        assert f"  Example:\n    pyrovice {command} " in call(command, "--help").stdout
    wrong = run("demon", folder=tmp_path)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
    assert call("--version").stdout == f"pyrovice {pv.__version__}\n"


def test_where_the_script_is_not_on_the_path(tmp_path):
    asked = [sys.executable, "-m", "pyrovice"]
    said = subprocess.run(
        [*asked, "describe"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert said.stderr.startswith("Usage: pyrovice describe")


def test_fit_keeps_what_was_asked_for(here):
    fit = pv.load("my.fit")
    assert fit.prior == pv.SpikeSlab(spike=0.2, slab=1.0)
    assert (fit.seed, fit.first_dimensions, fit.n_judgments) == (3, 12, 16_000)
    assert "validation_accuracy" in fit.history
    table = pd.read_csv("embedding.tsv", sep="\t", index_col="object")
    np.testing.assert_allclose(table, fit.embedding(), rtol=1e-5, atol=1e-6)


def test_evaluate_says_what_python_says(here):
    said = run("evaluate", "my.fit", "test.csv", "--json", folder=here)
    assert said.returncode == 0, said.stderr
    fit = pv.load("my.fit")
    expected = fit.evaluate(pv.Triplets.read("test.csv", names=fit.names))
    record = json.loads(said.stdout)
    assert record["accuracy"] == pytest.approx(expected.accuracy, abs=1e-9)
    assert record["cross_entropy"] == pytest.approx(expected.cross_entropy, rel=1e-6)
    words = call("evaluate", "my.fit", "test.csv").stdout
    assert words.strip() == str(expected)
    pruned = json.loads(call("evaluate", "my.fit", "test.csv", "--pruned", "--json").stdout)
    kept = fit.prune().evaluate(pv.Triplets.read("test.csv", names=fit.names))
    assert pruned["cross_entropy"] == pytest.approx(kept.cross_entropy, rel=1e-6)


def test_refine_samples_around_the_kept_dimensions(here):
    made = call("refine", "my.fit", "train.csv", "-o", "refined.fit", "--draws", 4, "--json")
    assert made.exit_code == 0, made.stderr
    record, refined = json.loads(made.stdout), pv.load("refined.fit")
    assert record["dimensions_before"] == refined.posterior.shape[1] == 7
    assert record["dimensions"] == refined.n_dimensions
    assert refined.posterior.weights.stored.shape[:2] == (2, 4)
    assert refined.data_digest == pv.load("my.fit").data_digest


def test_fits_of_few_objects_say_which_dimensions_are_not_kept(small_fit):
    mu = np.full((12, 2), -1.0, np.float32)
    mu[:7, 0] = mu[7:10, 1] = 1.0
    weights = Posterior(NormalWeights(mu, np.full_like(mu, 0.1)))
    few = dataclasses.replace(
        small_fit,
        names=tuple("abcdefghijkl"),
        posterior=weights,
        fitted_guide=None,
        model=pv.Model(small_fit.prior, 12, 2),
    )
    (said,) = small_dimensions(few)
    assert "dimensions with 3 of 12 objects" in said
    assert "fit.prune(min_objects=1)" in said
    assert few.prune(min_objects=1).n_dimensions == 2


def test_dimensions_get_names_from_a_file(here):
    Path("names.json").write_text('{"1": "animal"}')
    made = call("label", "my.fit", "names.json", "-o", "named.fit")
    assert made.exit_code == 0, made.stdout
    assert made.stdout.startswith("animal, 2, 3")
    assert list(pv.load("named.fit").embedding())[:2] == ["animal", 2]
    assert call("label", "my.fit", "names.json", "-o", "named.fit").exit_code == 1
    Path("names.json").write_text('{"99": "animal"}')
    refused = run("label", "my.fit", "names.json", "-o", "other.fit", folder=here)
    assert refused.returncode == 1
    assert "there is no dimension '99'" in refused.stderr


def test_report_from_fit_and_judgments(here):
    made = run("report", "my.fit", "--held-out", "test.csv", "-o", "page.html", folder=here)
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    assert made.stdout == "Written: page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "skateboard" in page
    assert call("report", "my.fit", "-o", "page.html").exit_code == 1
    again = call("report", "my.fit", "-o", "page.html", "--overwrite", "--json")
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout) == {"written": "page.html", "dimensions": 7, "objects": 80}


def test_describe(here):
    said = run("describe", "train.csv", "--json", folder=here)
    assert said.returncode == 0, said.stderr
    record = json.loads(said.stdout)
    assert (record["judgments"], record["objects"], record["format"]) == (16_000, 80, "table")
    assert record["notes"] == []
    assert sum(record["positions"].values()) == 16_000
    assert "20,000 judgments of 80 objects" in call("describe", "example").stdout
    Path("few.txt").write_text("0 1 2\n3 1 0\n")
    few = call("describe", "few.txt")
    assert "fewer than 10 judgments" in few.stdout


def test_simulate_and_fit_by_other_priors_and_guides(here):
    made = run(
        *("simulate", 3000, "--objects", 15, "--dimensions", 3, "--seed", 1),
        *("-o", "simulated.npy", "--truth", "truth.csv"),
        folder=here,
    )
    assert made.returncode == 0, made.stderr
    assert "3,000 SIMULATED judgments of 15 objects" in made.stdout
    truth = pd.read_csv("truth.csv", index_col="object")
    assert pv.simulate(truth.to_numpy(), 3000, seed=1) == pv.Triplets.read("simulated.npy")
    for number, (options, prior, guide) in enumerate(
        [
            (("--prior", "learned", "--pi", 0.6), pv.LearnedSpikeSlab(pi=0.6), pv.MeanField()),
            (("--prior", "ard", "--scale", 0.4), pv.ARD(0.4), pv.MeanField()),
            (("--prior", "horseshoe", "--guide", "low-rank", "--rank", 2), None, pv.LowRank(2)),
            (("--prior", "exponential", "--rate", 4, "--guide", "map"), None, pv.MAP()),
        ]
    ):
        made = call(
            *("fit", "simulated.npy", "-o", f"{number}.fit", "--max-epochs", 30, *options),
            *("--dimensions", 4, "--json"),
        )
        assert made.exit_code == 0, made.stderr
        record = json.loads(made.stdout)
        assert record["written"] == [f"{number}.fit"]
        assert not record["converged"]
        assert all(f"pyrovice: note: {note}" in made.stderr for note in record["notes"])
        fit = pv.load(f"{number}.fit")
        assert prior is None or fit.prior == prior
        assert fit.guide_family == guide
    paper = call(
        *("fit", "simulated.npy", "-o", "paper.fit", "--paper", "--max-epochs", 2),
        *("--batch-size", 64, "--learning-rate", 0.01, "--dimensions", 4),
    )
    assert paper.exit_code == 0, paper.stderr
    training = pv.load("paper.fit").training
    assert (training.batch_size, training.learning_rate, training.start) == (64, 0.01, "noise")
    like = call("simulate", 50, "--like", "my.fit", "-o", "like.csv", "--anchored", 1, "--quiet")
    assert (like.exit_code, like.stdout) == (0, "")
    assert pv.Triplets.read("like.csv").anchored.all()


def test_fit_with_features_from_files(here, tmp_path):
    example = pv.load_example()
    example.embedding.iloc[::-1].to_csv(tmp_path / "ratings.csv")
    train = pv.Triplets.read(here / "train.csv")
    np.save(tmp_path / "net.npy", np.random.default_rng(0).standard_normal((train.n_objects, 3)))
    train[:2000].write(tmp_path / "few.csv")
    out = tmp_path / "my.fit"
    both = ("--features", tmp_path / "ratings.csv", "--features", tmp_path / "net.npy")
    quick = ("-o", out, "--max-epochs", 50, "--quiet")
    refused = call("fit", tmp_path / "few.csv", *both, *quick)
    assert refused.exit_code == 1
    assert "one has names of objects and the other has not" in refused.output
    made = call("fit", tmp_path / "few.csv", *both[:2], *quick)
    assert made.exit_code == 0, made.output
    fit = pv.load(out)
    assert fit.prior.names == fit.names
    expected = pv.Features(example.embedding.iloc[::-1]).for_objects(fit.names)
    assert fit.prior == expected
    for extra, said in ((("--prior", "ard"), "leave --prior out"), (("--pi", 0.5), "leave --pi")):
        refused = call("fit", tmp_path / "few.csv", *both[:2], *extra, *quick, "--overwrite")
        assert refused.exit_code == 2
        assert said in " ".join(refused.output.replace("│", " ").split())


def test_fit_goes_on_from_a_checkpoint_and_overwrites_only_when_told(here):
    arguments = (
        *("fit", "train.csv", "--dimensions", 3, "--max-epochs", 20),
        *("--checkpoint", "state.checkpoint", "--quiet"),
    )
    first = call(*arguments, "-o", "checked.fit")
    assert first.exit_code == 0, first.stderr
    assert first.stdout == ""
    assert "did not settle" in first.stderr
    refused = call(*arguments, "-o", "checked.fit")
    assert refused.exit_code == 1
    assert "--overwrite" in refused.stderr
    again = call(*arguments, "-o", "checked.fit", "--overwrite")
    assert again.exit_code == 0, again.stderr
    other = call(*arguments, "-o", "other.fit", "--seed", 5)
    assert other.exit_code == 1
    assert "seed" in other.stderr
    assert not Path("other.fit").exists()


def test_sweep(here):
    Path("valid.csv").write_bytes(Path("test.csv").read_bytes())
    arguments = (
        *("sweep", "train.csv", "--validation", "valid.csv", "--pi", 0.3, "--pi", 0.6),
        *("--seeds", 2, "--max-epochs", 40, "--dimensions", 6, "--store", "fits"),
    )
    made = run(*arguments, "--table", "sweep.csv", "-o", "best.fit", "--json", folder=here)
    assert made.returncode == 0, made.stderr
    record = json.loads(made.stdout)
    assert [row["fits"] for row in record["priors"]] == [2, 2]
    scores = [row["validation_cross_entropy"] for row in record["priors"]]
    best = pv.SpikeSlab(pi=(0.3, 0.6)[int(np.argmin(scores))])
    assert record["best"] == repr(best)
    assert pv.load("best.fit").prior == best
    assert len(pd.read_csv("sweep.csv")) == 4
    again = call(*arguments, "-o", "again.fit")
    assert again.exit_code == 0, again.stderr
    assert "2 priors x 2 seeds" in again.stdout
    assert len(list(Path("fits").rglob("*.fit"))) == 4


def test_a_sweep_takes_choices_and_people(here, monkeypatch):
    given = {}

    def swept(*data, **arguments):
        given.update(arguments)
        raise pv.PyroviceError("enough")

    monkeypatch.setattr(pv, "sweep", swept)
    table = pv.Triplets.read("train.csv").to_dataframe()
    table.assign(participant=np.arange(len(table)) % 2).to_csv("two.csv", index=False)
    asked = ("sweep", "two.csv", "--validation", "test.csv", "-o", "no.fit")
    ran = call(*asked, "--choice", "euclidean", "--lapse", 0.05, "--people")
    assert "enough" in ran.stderr
    assert given["choice"] == pv.choices.Euclidean(lapse=0.05)
    assert given["people"] == pv.People()


def test_sample_size(tmp_path):
    said = run("sample-size", 1854, 45, "--participants", 1000, "--json", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["sample_size"] == pv.bounds.sample_size(1854, 45)
    assert "6,715 each" in call("sample-size", 1854, 45, "--participants", 1000).stdout


def test_sample_size_by_simulation(here, monkeypatch):
    # The fits are tested where they are made; here it is what reaches them and what comes back.
    asked = {}
    frame = pd.DataFrame({"judgments": [500], "accuracy": [0.6], "best": [0.61]})

    def design(*sizes, **options):
        asked.update(options, sizes=sizes)
        return pv.bounds.Design(*sizes, 0.1, 0.001, 4, 100, simulated=frame, runs=frame)

    monkeypatch.setattr(pv.bounds, "design", design)
    said = call(*("sample-size", 80, 7, "--judgments", 500, "--like", "my.fit", "--json"))
    assert said.exit_code == 0, said.stderr
    assert asked["judgments"] == [500]
    assert asked["anchored"] is False
    assert asked["embedding"].shape == (80, 7)
    record = json.loads(said.stdout)
    assert record["simulated"] == [{"judgments": 500, "accuracy": 0.6, "best": 0.61}]
    assert record["enough"] == 500


def test_convert_leaves_out_bad_rows_of_a_table_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "left;middle;right;answer;rt\ncat;car;dog;car;0,8\nbus;;dog;bus;1,1\n"
    Path("own.csv").write_text(rows, encoding="utf-8-sig")
    columns = ("--objects", "left,middle,right", "--odd", "answer", "--reaction-time", "rt")
    refused = call("convert", "own.csv", "-o", "a.csv", "--seconds", *columns)
    assert refused.exit_code == 1
    assert "line 3" in refused.stderr
    assert "--leave-out-bad-rows" in refused.stderr
    made = call("convert", "own.csv", "-o", "a.csv", "--seconds", "--leave-out-bad-rows", *columns)
    assert made.exit_code == 0, made.stderr
    assert pv.Triplets.read("a.csv").trials["reaction_time"].tolist() == [800.0]


def test_convert_a_table_with_columns_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(
        "left;middle;right;answer;place;who\ncat;car;dog;car;2;ann\nbus;cat;dog;bus;1;bob\n"
    )
    columns = ("convert", "own.csv", "--objects", "left,middle,right")
    made = run(*columns, "--odd", "answer", "--participant", "who", "-o", "a.csv", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert call(*columns, "--position", "place", "-o", "b.tsv", "--json").exit_code == 0
    a, b = pv.Triplets.read("a.csv"), pv.Triplets.read("b.tsv")
    assert a.to_dataframe()["odd"].tolist() == b.to_dataframe()["odd"].tolist() == ["car", "bus"]
    assert list(a.participants) == ["ann", "bob"]
    assert call("convert", "b.tsv", "-o", "c.npy").exit_code == 0
    assert np.load("c.npy").shape == (2, 3)
    Path("bad.txt").write_text("0 1 2\n0 0 1\n")
    assert call("convert", "bad.txt", "-o", "d.txt").exit_code == 1
    made = call("convert", "bad.txt", "-o", "d.txt", "--leave-out-bad-rows", "--first-id", 0)
    assert made.exit_code == 0, made.stderr
    assert len(pv.Triplets.read("d.txt")) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fit train.csv", "--output"),
        ("fit train.csv -o a.fit --prior lasso", "lasso"),
        ("fit train.csv -o a.fit --rate 5", "--rate is for --prior exponential"),
        ("fit train.csv -o a.fit --prior exponential", "needs a positive --rate"),
        ("fit train.csv -o a.fit --prior ard --pi 0.5", "--pi is for --prior spike-slab, learned"),
        ("fit train.csv -o a.fit --guide low-rank", "--rank"),
        ("fit train.csv -o a.fit --rank 3", "--guide low-rank"),
        ("fit train.csv -o a.fit --dimensions many", "expected a positive number, or auto"),
        ("fit train.csv -o a.fit --dimensions 0", "expected a positive number, or auto"),
        ("fit train.csv -o a.fit --device toaster", "--device toaster cannot be used here"),
        ("fit train.csv -o a.fit --seed -1", "--seed"),
        ("fit train.csv -o a.fit --embedding e.xlsx", "should end in .csv, .tsv, .txt"),
        ("sweep train.csv -o a.fit", "--validation"),
        ("sweep train.csv --validation test.csv -o a.fit --spike 2", "narrower"),
        ("sweep train.csv --validation test.csv -o a.fit --paper-grid --pi 0.5", "has its own"),
        ("sweep train.csv --validation test.csv -o a.fit --jobs 0", "--jobs 0"),
        ("sweep train.csv --validation test.csv -o a.fit --table t.json", ".csv, .tsv"),
        ("sample-size 2 2", "greater than or equal to 3"),
        ("sample-size 20 2 --like my.fit", "add --judgments"),
        ("simulate 10 -o s.csv", "either --like, or both"),
        ("simulate 10 -o s.csv --objects 5", "either --like, or both"),
        ("convert train.csv -o c.csv --odd answer", "--odd needs --objects"),
        ("convert train.csv -o c.csv --objects a,b --odd c", "three columns"),
        ("convert train.csv -o c.csv --objects a,b,c", "one of --odd, --position and --chosen"),
        ("evaluate my.fit", "DATA"),
    ],
)
def test_commands_that_are_not_understood(here, arguments, said):
    result = call(*arguments.split())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("describe nothing.csv", "nothing.csv does not exist"),
        ("describe embedding.tsv", "pyrovice convert FILE --objects"),
        ("describe train.csv --format salmon", "train.csv"),
        ("describe train.csv --part test", "is a file"),
        ("fit nothing.csv -o a.fit", "nothing.csv does not exist"),
        ("fit train.csv -o no/where.fit", "make it first"),
        ("fit train.csv -o .", "is a folder"),
        ("fit train.csv -o my.fit", "or add --overwrite"),
        ("fit train.csv -o a.fit --spike 3", "narrower than the slab"),
        ("fit train.csv -o a.fit --learning-rate -1", "learning_rate"),
        ("fit train.csv -o a.fit --prior learned --guide map", "grows without end"),
        ("fit train.csv -o a.fit --names nobody.txt", "nobody.txt does not exist"),
        ("fit train.csv -o a.fit --validation nothing.csv", "nothing.csv does not exist"),
        ("fit train.csv -o a.fit --embedding embedding.tsv", "is not replaced"),
        ("evaluate nothing.fit test.csv", "nothing.fit"),
        ("evaluate train.csv test.csv", "train.csv"),
        ("evaluate my.fit others.csv", "others.csv"),
        ("refine my.fit test.csv -o a.fit", "are not the 16,000 that this fit was fitted to"),
        ("refine my.fit train.csv -o my.fit", "or add --overwrite"),
        ("report nothing.fit -o none.html", "nothing.fit"),
        ("report my.fit -o train.csv", "or add --overwrite"),
        ("sample-size 20 2 --epsilon 3", "epsilon"),
        ("sample-size 20 2 --judgments 50 --like my.fit", "80 objects"),
        ("simulate 10 --like nothing.csv -o s.csv", "nothing.csv does not exist"),
        ("simulate 10 --like train.csv -o s.csv", "not hold a table of numbers"),
        ("simulate 10 --like my.fit -o train.csv", "is not replaced"),
        ("simulate 10 --like my.fit -o s.docx", "ends in '.docx'"),
        ("convert nothing.csv -o c.csv", "nothing.csv does not exist"),
        ("convert nothing.csv -o c.csv --objects a,b,c --odd d", "nothing.csv does not exist"),
        ("convert train.csv -o c.csv --objects a,b,c --odd d", "a"),
        ("convert train.csv -o test.csv", "is not replaced"),
        ("convert train.csv -o c.csv --held-out test.csv", "is not replaced"),
        ("convert train.csv -o c.csv --held-out d.csv --share 0", "0"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(here, arguments, said):
    Path("others.csv").write_text("object_1,object_2,object_3,odd\nant,bee,cow,cow\n")
    before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
    result = call(*arguments.split())
    assert result.exit_code == 1
    assert result.stderr.startswith("pyrovice: ")
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before
