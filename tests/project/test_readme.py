"""The README runs as printed, and what it points at is there."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from helpers.snippets import python_in, run
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_ten_lines(tmp_path, monkeypatch, capsys, quick_fits):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pv, "fit", quick_fits)
    (snippet,) = python_in(README)
    assert len([line for line in snippet.splitlines() if line.strip()]) <= 10
    run(README)
    assert "accuracy" in capsys.readouterr().out
    table = pd.read_csv("embedding.csv", index_col="object")
    assert table.shape == (80, 7)
    assert Path("dimensions.pdf").read_bytes().startswith(b"%PDF")
    assert "skateboard" in Path("page.html").read_text(encoding="utf-8")


def test_the_first_screen_is_a_promise():
    """What it is, two commands, ten lines, a picture; the rest is in pages that it points at."""
    first = README.split("\n## ")[0]
    assert len(first.splitlines()) <= 40
    assert first.count("](docs/") == 1
    assert len(README.splitlines()) <= 120


def test_its_two_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
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
        assert (ROOT / target).is_file()
