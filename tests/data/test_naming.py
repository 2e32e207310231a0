"""Names: one spelling, look-alikes, and cells that spreadsheets would run."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.data.formulas import escape, unescape

NFC, NFD = "café", unicodedata.normalize("NFD", "café")
LINES = ["café dog car", f"dog {NFD} bus", f"car bus {NFD}"]


def test_normal_forms_are_one_object(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(LINES * 5), encoding="utf-8")
    assert pv.Triplets.read(path).names == ("bus", "café", "car", "dog")
    frame = pd.DataFrame(
        {"a": [NFC, NFD, "dog "], "b": ["dog", "car", NFD], "c": ["car", "\u00a0dog", "car"],
         "odd": [NFD, NFC, "dog"]}
    )  # fmt: skip
    data = pv.Triplets.from_dataframe(frame, objects=["a", "b", "c"])
    assert data.names == ("café", "car", "dog")
    assert [data.names[i] for i in data.objects[np.arange(3), data.odd]] == ["café", "café", "dog"]
    # Names that are given are matched in the same way.
    assert len(pv.Triplets.read(path, names=[NFD, "dog", "car", "bus"])) == 15


def test_names_given_in_two_ways():
    with pytest.raises(pv.DataError, match=r"'café' is written in several ways \('caf\\xe9', "):
        pv.Triplets([[0, 1, 2]], [0], names=[NFC, NFD, "dog"])
    with pytest.raises(pv.DataError, match=r"'dog' is written in several ways \('dog', 'dog\\xa0'"):
        pv.Triplets([[0, 1, 2]], [0], names=["dog", "dog\u00a0", "cat"])


def test_outer_white_space_survives_writing_and_reading(tmp_path):
    data = pv.Triplets([[0, 1, 2]], [0], names=["\u3000ant", "bee\u2003", "\tcat"])
    assert data.names == ("ant", "bee", "cat")
    data.write(tmp_path / "t.csv")
    assert pv.Triplets.read(tmp_path / "t.csv", names=data.names) == data


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Cat", "cat", "dog"], "'Cat' and 'cat'"),
        (["d\u200bog", "cat", "dog"], r"'dog' and 'd\\u200bog'|'d\\u200bog' and 'dog'"),
        (["ﬁsh", "fish", "dog"], r"'fish' and '\\ufb01sh'"),
        (["hot  dog", "hot dog", "cat"], "'hot  dog' and 'hot dog'"),
    ],
)
def test_look_alikes_are_named(names, said):
    frame = pd.DataFrame([names], columns=["object_1", "object_2", "object_3"])
    frame["odd"] = names[0]
    with pytest.warns(pv.PyroviceWarning, match=f"1 names are there more than once .*({said})"):
        data = pv.Triplets.from_dataframe(frame)
    assert data.n_objects == 3
    assert any("look alike" in note for note in data.describe().notes)


# ---------------------------------------------------------------------- spreadsheets

RUN = ["=1+1", "@cmd", "+x", "-y", "-5", "'=z", "''@", "'tis"]
ROWS = [[0, 1, 2], [3, 4, 5], [5, 6, 7]]


def test_formulas_are_said_and_can_be_escaped(tmp_path):
    data = pv.Triplets(ROWS, [0, 1, 2], names=RUN, participants=["=p", "q", "r"])
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.tsv"
    with pytest.warns(pv.PyroviceWarning, match=r"5 names or labels begin with =, \+, - or @ \('="):
        data.write(plain)
    data.write(safe, escape_formulas=True)
    assert "=1+1,@cmd" in plain.read_text()
    cells = [cell for line in safe.read_text().splitlines() for cell in line.split("\t")]
    assert not [cell for cell in cells if cell[0] in "=@+" or (cell[0] == "-" and cell != "-5")]
    for path in (plain, safe):
        assert pv.Triplets.read(path, names=RUN) == data


def test_an_embedding_too(small_fit, tmp_path):
    from dataclasses import replace

    fit = replace(small_fit, names=("=1+1", *small_fit.names[1:]))
    with pytest.warns(pv.PyroviceWarning, match="1 names or labels begin with"):
        fit.write_embedding(tmp_path / "plain.csv")
    fit.write_embedding(tmp_path / "safe.csv", escape_formulas=True)
    assert (tmp_path / "safe.csv").read_text().splitlines()[1].startswith("'=1+1,")
    one, other = (
        CliRunner().invoke(app, ["simulate", "10", "--like", str(tmp_path / name), "-o",
                                 str(tmp_path / f"{name}.txt")])
        for name in ("plain.csv", "safe.csv")
    )  # fmt: skip
    assert one.exit_code == other.exit_code == 0
    texts = [(tmp_path / f"{name}.txt").read_text() for name in ("plain.csv", "safe.csv")]
    assert texts[0] == texts[1]


@given(st.text(max_size=8))
def test_escaping_can_be_undone(text):
    assert unescape(escape(text)) == text
