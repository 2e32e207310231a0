"""On a full disk every file is there whole or not at all, and the error names it."""

import numpy as np
import pytest
from helpers.full_disk import full_disk
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.errors import OverwriteError, WriteError
from pyrovice.plot.style import PaperFigure
from pyrovice.storage.atomic import whole_file

pytestmark = pytest.mark.anywhere

DATA = pv.load_example().triplets
WRITERS = {
    "judgments.csv": lambda fit, path: DATA.write(path),
    "judgments.tsv": lambda fit, path: DATA.write(path),
    "judgments.txt": lambda fit, path: DATA.write(path),
    "judgments.npy": lambda fit, path: DATA.write(path),
    "embedding.csv": lambda fit, path: fit.write_embedding(path),
    "embedding.txt": lambda fit, path: fit.write_embedding(path),
    "figure.png": lambda fit, path: pv.plot.convergence(fit).savefig(path),
    "figure.pdf": lambda fit, path: pv.plot.convergence(fit).savefig(path),
    "page.html": lambda fit, path: fit.report(path),
    "saved.fit": lambda fit, path: fit.save(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_left_of_a_file_that_does_not_fit(small_fit, tmp_path, name):
    path = tmp_path / name
    with full_disk(256), pytest.raises(WriteError, match=f"{name} could not be written: "):
        WRITERS[name](small_fit, path)
    assert list(tmp_path.iterdir()) == []
    # With room, the same call works: nothing stands in its way.
    WRITERS[name](small_fit, path)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_figure_that_was_there_is_unharmed(small_fit, tmp_path):
    path = tmp_path / "figure.png"
    figure = pv.plot.convergence(small_fit)
    figure.savefig(path)
    before = path.read_bytes()
    with full_disk(256), pytest.raises(WriteError):
        figure.savefig(path, dpi=30)
    assert path.read_bytes() == before
    figure.savefig(path, dpi=30)
    assert path.read_bytes() != before


def test_figures_are_named_and_found_as_matplotlib_does(tmp_path):
    figure = PaperFigure()
    figure.savefig(str(tmp_path / "plain"))
    figure.savefig(tmp_path / "drawn.svg")
    figure.savefig(tmp_path / "odd.dat", format="pdf")
    (tmp_path / "link.png").symlink_to(tmp_path / "target.png")
    figure.savefig(tmp_path / "link.png")
    assert (tmp_path / "plain.png").read_bytes()[1:4] == b"PNG"
    assert (tmp_path / "drawn.svg").read_text().startswith("<?xml")
    assert (tmp_path / "odd.dat").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "target.png").exists()
    with pytest.raises(ValueError, match="not supported"):
        figure.savefig(tmp_path / "figure.nonsense")
    assert not (tmp_path / "figure.nonsense").exists()


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(ValueError, match="pickle"), whole_file(path) as file:
        np.save(file, np.array([object()]), allow_pickle=False)
    assert list(tmp_path.iterdir()) == []


def test_the_command_can_be_tried_again(tmp_path):
    path, held_out = tmp_path / "t.txt", tmp_path / "h.txt"
    arguments = ["convert", "example", "-o", str(path), "--held-out", str(held_out)]
    # The smaller file fits, and goes again: half of the data would be taken for all of it.
    arguments += ["--share", "0.9"]
    with full_disk(64_000):
        said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 1
    assert f"{held_out} could not be written: " in said.stderr
    assert list(tmp_path.iterdir()) == []
    assert CliRunner().invoke(app, arguments).exit_code == 0
    parts = [np.loadtxt(each) for each in (path, held_out)]
    assert sum(map(len, parts)) == len(DATA)


def test_files_of_others_stay_if_a_later_one_fails(tmp_path, monkeypatch):
    path, taken = tmp_path / "t.txt", tmp_path / "h.txt"
    write = pv.Triplets.write

    def meanwhile(triplets, where, **options):
        if where == taken:
            taken.write_text("of somebody else")
        write(triplets, where, **options)

    monkeypatch.setattr(pv.Triplets, "write", meanwhile)
    said = CliRunner().invoke(
        app, ["convert", "example", "-o", str(path), "--held-out", str(taken)]
    )
    assert said.exit_code == 1
    assert taken.read_text() == "of somebody else"
    assert not path.exists()


def test_a_long_name_has_a_draft_too(tmp_path):
    path = tmp_path / f"{'n' * 250}.csv"
    DATA[:3].write(path)
    with pytest.raises(OverwriteError):
        DATA[:3].write(path)
    assert len(list(tmp_path.iterdir())) == 1
