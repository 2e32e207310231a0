"""The README runs as printed."""

import re
from operator import attrgetter
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import joblib
import numpy as np
import pandas as pd
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def snippets(heading):
    """The Python of the section that begins with these words."""
    sections = README.removeprefix("# ").split("\n## ")
    (section,) = [section for section in sections if section.startswith(heading)]
    return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)


(SNIPPET,) = snippets("pyrovice")
(OWN_DATA,) = snippets("Your own data")
(IN_PYRO,) = snippets("In Pyro")
SWAP, OWN_CODE = snippets("Swap the prior")
(TRUST,) = snippets("How far to trust it")
(SCIENCE,) = snippets("The science around a fit")
(MANY_FITS,) = snippets("Many fits")


def test_the_first_snippet_and_those_that_use_its_fit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    exec(SNIPPET, namespace)
    assert len(SNIPPET.strip().splitlines()) <= 12
    printed = capsys.readouterr().out
    assert "7 dimensions kept" in printed
    assert "accuracy" in printed
    table = pd.read_csv("embedding.csv", index_col="object")
    assert table.shape == (80, 7)
    assert Path("dimensions.png").stat().st_size > 10_000
    assert "skateboard" in Path("page.html").read_text(encoding="utf-8")
    exec(IN_PYRO, namespace)
    exec(TRUST, namespace)
    assert "What to do" in capsys.readouterr().out
    assert namespace["refined"].posterior.weights.stored.shape == (2, 200, 80, 7)
    exec(SCIENCE, namespace)
    printed = capsys.readouterr().out
    assert "expected calibration error 0.0" in printed
    assert "Reproducibility(100.0% of the dimensions of 2 models with 7 each" in printed
    assert "accuracy: no significant difference" in printed
    assert namespace["bound"].table.test_error.max() < namespace["bound"].value
    assert "50 participants 1,617 each" in " ".join(printed.split())


def test_swapping_priors_and_guides(monkeypatch):
    namespace = {}
    # As printed, but trained for less time; every prior and guide has tests of its own.
    short = pv.Training(schedule=pv.Anneal(steps=300))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    exec(SNIPPET.split("fit = ")[0] + SWAP + OWN_CODE, namespace)
    for own in ("my_prior", "my_guide"):
        body = OWN_CODE.split(f"def {own}")[1].split("\n\n")[0]
        assert len(body.splitlines()) <= 10


def test_many_fits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    # As printed, but trained for a moment only and without processes, which other tests start.
    short = pv.Training(schedule=pv.Anneal(steps=300), stop=pv.MaxEpochs(300))
    monkeypatch.setitem(pv.fit.__kwdefaults__, "training", short)
    with joblib.parallel_config(backend="sequential"):
        exec(SNIPPET.split("train, test")[0] + MANY_FITS, namespace)
    assert len(list(Path("fits").rglob("*.fit"))) == 4
    assert namespace["found"].reproducibility().score > 0.5


def test_the_page_on_clusters():
    page = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(code) == 5
    for snippet in code:
        compile(snippet, "clusters.md", "exec")
    for name in set(re.findall(r"\bpv\.([A-Za-z_.]+)", page)):
        attrgetter(name.rstrip("."))(pv)


def test_ways_to_bring_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array = np.array([[0, 1, 2], [2, 0, 1]])
    names = ["ant", "bee", "cat"]
    Path("responses.csv").write_text("head,left,right,winner,loser\n0,1,2,1,2\n")
    Path("names.txt").write_text("\n".join(names))
    Path("folder").mkdir()
    np.save("folder/train_90.npy", array)
    np.save("folder/test_10.npy", array)
    table = pd.DataFrame(
        {"left": ["ant"], "middle": ["bee"], "right": ["cat"], "answer": ["bee"], "choice": [2]}
    )
    features = np.random.default_rng(0).normal(size=(30, 4))
    namespace = {"array": array, "names": names, "table": table, "features": features}
    exec("import pyrovice as pv\n" + OWN_DATA, namespace)
    lines = [line for line in OWN_DATA.splitlines() if line.startswith("pv.")]
    assert [len(eval(line, namespace)) for line in lines] == [1, 2, 2, 1, 1, 1000]


def test_its_two_commands_exist():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    first_block = re.search(r"```\n(.*?)```", README, flags=re.DOTALL).group(1)
    commands = re.findall(r"^make (\S+)", first_block, flags=re.MULTILINE)
    assert commands == ["demo", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)


def test_its_commands_are_understood():
    (block,) = re.findall(r"## In a shell\n\n```\n(.*?)```", README, flags=re.DOTALL)
    for line in block.splitlines():
        program, command, *arguments = line.split("#")[0].split()
        assert program == "pyrovice"
        told = CliRunner().invoke(app, [command, "--help"]).stdout
        options = [word for word in arguments if word.startswith("-")]
        assert all(re.search(rf"(?<![\w-]){option}(?![\w-])", told) for option in options), line


def test_its_pictures_and_pages_are_there():
    for target in re.findall(r"\]\((?!https:)(.*?)\)", README):
        assert (Path(__file__).parents[2] / target).is_file()
