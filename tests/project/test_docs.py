"""The documentation builds, and says what is true."""

import re
import subprocess
import sys
import warnings
from operator import attrgetter
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from helpers.snippets import python_in, run
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app

DOCS = Path(__file__).parents[2] / "docs"


def page(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def quick(tmp_path, monkeypatch, quick_fits):
    """As printed, but trained for less time, in an empty folder and without further processes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pv, "fit", quick_fits)
    with joblib.parallel_config(backend="sequential"):
        yield


def test_every_page_is_in_the_table_of_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    notebooks = {f"notebooks/{path.stem}" for path in DOCS.glob("notebooks/*.ipynb")}
    assert pages | notebooks <= set(contents)


@pytest.mark.parametrize(
    "command", ["convert", "describe", "fit", "evaluate", "people", "report", "sweep", "next"]
)
def test_options_of_the_pages_exist(command):
    told = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            if line.startswith(f"pyrovice {command} "):
                used = [word for word in line.split("|")[0].split() if word.startswith("--")]
                assert [option for option in used if option not in told] == [], line


@pytest.mark.slow
def test_the_page_on_parts_of_your_own_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # As printed, but trained for less time.
    short = pv.Training(schedule=pv.Anneal(steps=150))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    page = (DOCS / "write-your-own.md").read_text(encoding="utf-8")
    namespace = {}
    for snippet in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(snippet, namespace)
    fit = namespace["fit"]
    assert set(fit.sites()) == {"X", "s", "b", "W"}
    assert namespace["W"].dims == ("chain", "draw", "feature", "dimension")
    # Each true dimension, which is a feature here, goes with one of its own.
    strongest = namespace["W"].mean(["chain", "draw"]).argmax("dimension")
    assert len(set(strongest.values.tolist())) == 7
    assert (namespace["scale"].squeeze().diff() < 0).all()
    assert namespace["guesses"].sites()["lapse"] == namespace["by_hand"].sites()["lapse"] == ()
    assert set(namespace["again"].sites()) == set(fit.sites())


def test_the_page_on_people_runs(monkeypatch):
    short = pv.Training(schedule=pv.Anneal(steps=200))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    page = (DOCS / "people.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(snippets) == 7
    # Fewer fits for what reviewers ask.
    for asked, times in (
        (pv.split_half, "splits"),
        (pv.compare_groups, "permutations"),
        (pv.exclusion_effect, "others"),
    ):
        monkeypatch.setitem(asked.__kwdefaults__, times, 1)
    namespace = {}
    for snippet in snippets:
        exec(snippet, namespace)
    assert namespace["weights"].shape == (12, namespace["fit"].n_dimensions)
    assert set(namespace["grouped"].people().group) == {"pet", "no pet"}


def test_the_page_on_features_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = pv.Training(schedule=pv.Anneal(steps=100))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    train = pv.load_example().triplets[:3000]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((80, 4)), index=train.names)
    array, clip, vectors = table.to_numpy(), table, 2 * table
    np.save("clip.npy", array)
    new = array[:2]
    triplets = pv.Triplets([[0, 1, 81]], [0], names=[*train.names, "new 1", "new 2"])
    namespace = {"pv": pv, **locals()}
    page = (DOCS / "features.md").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        for snippet in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
            exec(snippet, namespace)
    assert namespace["more"].names[-2:] == ("new 1", "new 2")
    assert set(namespace["fit"].sites()) == {"X", "W", "reach", "offset", "residual"}


@pytest.mark.slow
def test_the_pages_on_pyro_and_trust_run(quick, capsys):
    run(page("pyro"))
    found = run(page("trust"))
    assert "What to do" in capsys.readouterr().out
    assert found["refined"].posterior.weights.stored.shape == (2, 200, 80, 7)


def test_the_page_on_names_and_figures_runs(quick):
    found = run(page("show"))
    assert set(found["named"].embedding()) == set(found["example"].embedding)
    assert next(iter(found["again"].embedding())) in found["example"].embedding
    assert Path("dimensions.pdf").read_bytes().startswith(b"%PDF")
    assert "animal" in Path("page.html").read_text(encoding="utf-8")


def test_the_page_on_what_the_paper_measured_runs(quick, capsys):
    found = run(page("measure"))
    printed = capsys.readouterr().out
    assert "expected calibration error 0.0" in printed
    assert "of the dimensions of 2 models with 7 each" in printed
    assert found["bound"].table.test_error.max() < found["bound"].value
    assert "50 participants 1,617 each" in " ".join(printed.split())


@pytest.mark.slow
def test_the_page_on_asking_runs(quick, capsys):
    found = run(page("ask-next"))
    assert found["new"].trials.role.value_counts().to_dict() == {"ask": 180, "random": 20}
    assert found["fit"].n_judgments == 2200
    assert "more are worth" in capsys.readouterr().out
    assert Path("forecast.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_on_many_fits_runs(quick):
    found = run(page("many-fits"))["found"]
    assert len(list(Path("fits").rglob("*.fit"))) == 4
    assert found.reproducibility().score > 0.5


def test_the_page_on_clusters_compiles():
    code = python_in(page("clusters"))
    assert len(code) == 5
    for snippet in code:
        compile(snippet, "clusters.md", "exec")
    for name in set(re.findall(r"\bpv\.([A-Za-z_.]+)", page("clusters"))):
        attrgetter(name.rstrip("."))(pv)


def test_the_page_on_ones_own_data_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array = np.array([[0, 1, 2], [2, 0, 1]])
    names = ["ant", "bee", "cat"]
    table = pd.DataFrame(
        {
            **{"left": ["ant"], "middle": ["bee"], "right": ["cat"], "answer": ["bee"]},
            **{"choice": [2], "who": ["ann"], "rt": [1200]},
        }
    )
    table.to_csv("answers.csv", index=False)
    given = {**locals(), "np": np, "pd": pd, "pv": pv}
    assert run(page("bring-data"), given)["data"].n_objects == 3


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx", reason="pip install '.[docs]' to build the documentation")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", DOCS, tmp_path / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "html" / "coming-from-vice.html").stat().st_size > 10_000
