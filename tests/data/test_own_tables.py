"""Tables of one's own: any columns, any spreadsheet, nothing lost."""

import builtins
import io
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.faces import CARELESS, FACES, PEOPLE, face_names, faces_table

import pyrovice as pv
from pyrovice import DataError, PyroviceWarning, Triplets

NAMES = ["None", "NA", "NULL", "café", "Bär", "cat", "nan"]
COLUMNS = {
    "objects": ["left", "middle", "right"],
    "odd": "answer",
    "participant": "who",
    "reaction_time": "rt",
    "set": "block",
}


def own_table(n=60):
    rng = np.random.default_rng(0)
    rows = [rng.choice(NAMES, 3, replace=False) for _ in range(n)]
    table = pd.DataFrame(rows, columns=COLUMNS["objects"])
    table["answer"] = [row[rng.integers(3)] for row in rows]
    table["who"] = np.repeat(["ann", "bob", "eve"], n // 3)
    table["rt"] = rng.gamma(4.0, 400.0, n).round(1)
    table["block"] = np.arange(n) // 10
    table["mood"] = "fine"
    return table


WRITERS = {
    "plain.csv": lambda t, path: t.to_csv(path, index=False),
    "excel.csv": lambda t, path: t.to_csv(path, index=False, encoding="utf-8-sig"),
    "german.csv": lambda t, path: t.to_csv(
        path, index=False, sep=";", decimal=",", encoding="utf-8-sig"
    ),
    "unicode.txt": lambda t, path: t.to_csv(path, index=False, sep="\t", encoding="utf-16"),
    "book.xlsx": lambda t, path: t.to_excel(path, index=False),
    "table.parquet": lambda t, path: t.to_parquet(path),
    "records.json": lambda t, path: t.to_json(path, orient="records"),
    "lines.jsonl": lambda t, path: t.to_json(path, orient="records", lines=True),
    "pandas.json": lambda t, path: t.to_json(path),
    "packed.csv.gz": lambda t, path: t.to_csv(path, index=False),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_table_is_the_same_table(name, tmp_path):
    table = own_table()
    WRITERS[name](table, tmp_path / name)
    got = Triplets.read(tmp_path / name, **COLUMNS)
    expected = Triplets.from_dataframe(table, **COLUMNS)
    assert got == expected
    assert set(got.names) == set(NAMES)
    assert got.reading.rows == len(table)
    pd.testing.assert_frame_equal(got.trials, expected.trials, check_dtype=False)


def test_what_is_beside_the_judgments_stays():
    table = own_table()
    data = Triplets.from_dataframe(table, **COLUMNS)
    assert data.trials["reaction_time"].tolist() == table["rt"].tolist()
    assert data.trials["set"].tolist() == table["block"].tolist()
    assert data.trials["mood"].tolist() == ["fine"] * len(table)
    shown = table[COLUMNS["objects"]].to_numpy()
    names = np.array(data.names)
    for k in range(3):
        place = data.trials[f"place_{k + 1}"].to_numpy() - 1
        objects = names[data.objects[:, k]]
        assert (shown[np.arange(len(table)), place] == objects).all()
    answered = shown[np.arange(len(table)), data.trials["position"] - 1]
    assert (answered == table["answer"]).all()


def test_a_table_comes_back_whole(tmp_path):
    data = Triplets.from_dataframe(own_table(), **COLUMNS)
    again = Triplets.from_dataframe(data.to_dataframe(), participant="participant")
    assert again == data
    pd.testing.assert_frame_equal(again.trials[list(data.trials)], data.trials, check_dtype=False)
    data.write(tmp_path / "t.csv")
    again = Triplets.read(tmp_path / "t.csv")
    assert again == data
    pd.testing.assert_frame_equal(again.trials[list(data.trials)], data.trials, check_dtype=False)


@pytest.mark.parametrize("from_file", [True, False])
def test_places_move_with_their_objects(from_file, tmp_path):
    """Objects in another order are other columns, but stood where they stood."""
    data = Triplets.from_dataframe(own_table(), **COLUMNS)
    other = data.names[::-1]
    if from_file:
        data.write(tmp_path / "t.csv")
        turned = Triplets.read(tmp_path / "t.csv", names=other)
    else:
        turned = Triplets.from_dataframe(
            data.to_dataframe(), participant="participant", names=other
        )

    def stood(t):
        places = t.trials[["place_1", "place_2", "place_3"]].to_numpy()
        return [
            {t.names[i]: place for i, place in zip(*row, strict=True)}
            for row in zip(t.objects.tolist(), places.tolist(), strict=True)
        ]

    assert stood(turned) == stood(data)
    assert turned.trials["position"].tolist() == data.trials["position"].tolist()


def test_rows_that_are_not_judgments_are_named_by_line(tmp_path):
    table = own_table()
    table.loc[3, "left"] = ""
    table.loc[[5, 9], "answer"] = "cow"
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError) as refused:
        Triplets.read(tmp_path / "t.csv", **COLUMNS)
    said = str(refused.value)
    assert "line 5: " in said
    assert "lacks an object" in said
    assert "line 7: " in said
    assert "also line 11" in said
    assert "--leave-out-bad-rows" in said
    assert "pandas" not in said
    with pytest.warns(PyroviceWarning, match="3 of 60 rows"):
        left = Triplets.read(tmp_path / "t.csv", bad_rows="leave out", **COLUMNS)
    assert len(left) == 57
    assert len(left.trials) == 57
    with pytest.warns(PyroviceWarning, match="3 of 60 rows"):
        same = Triplets.from_dataframe(table, bad_rows="leave out", **COLUMNS)
    assert same == left


def test_pandas_takes_some_names_for_missing(tmp_path):
    own_table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"called NA, None or NULL, pandas took them"):
        Triplets.from_dataframe(pd.read_csv(tmp_path / "t.csv"), **COLUMNS)


@pytest.mark.parametrize(
    ("name", "unit", "row"), [("book.xlsx", "row", 5), ("records.json", "record", 4)]
)
def test_rows_are_counted_as_their_program_does(name, unit, row, tmp_path):
    table = own_table()
    table.loc[3, "answer"] = "cow"
    WRITERS[name](table, tmp_path / name)
    with pytest.raises(DataError, match=f"{unit} {row}: .* names an object"):
        Triplets.read(tmp_path / name, **COLUMNS)


def test_the_sheet_of_a_workbook(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["see the other sheet"]}).to_excel(book, sheet_name="about")
        own_table().to_excel(book, sheet_name="trials", index=False, startrow=0)
    with pytest.raises(DataError, match=r"2 sheets \('about', 'trials'\); say which"):
        Triplets.read(path, **COLUMNS)
    with pytest.raises(DataError, match="no sheet 'x'; it has 2 sheets"):
        Triplets.read(path, sheet="x", **COLUMNS)
    assert len(Triplets.read(path, sheet="trials", **COLUMNS)) == 60
    own_table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="is for Excel workbooks"):
        Triplets.read(tmp_path / "t.csv", sheet="trials", **COLUMNS)


def test_workbooks_of_known_formats_are_recognised(tmp_path):
    data = Triplets.from_dataframe(own_table(), **COLUMNS)
    data.to_dataframe().to_excel(tmp_path / "t.xlsx", index=False)
    assert Triplets.read(tmp_path / "t.xlsx") == data


def test_a_western_encoding_is_noticed_and_said(tmp_path):
    path = tmp_path / "t.csv"
    own_table().to_csv(path, index=False, encoding="cp1252")
    with pytest.warns(PyroviceWarning, match="read as Windows-1252, in which .* is 'café'"):
        data = Triplets.read(path, **COLUMNS)
    assert set(data.names) == set(NAMES)
    assert "Windows-1252" in str(data.reading)
    assert Triplets.read(path, encoding="cp1252", **COLUMNS) == data


@pytest.mark.parametrize("encoding", ["cp1251", "shift_jis", "gbk"])
def test_other_encodings_are_asked_for(encoding, tmp_path):
    word = {"cp1251": "собака", "shift_jis": "いぬ", "gbk": "小狗"}[encoding]
    path = tmp_path / "t.csv"
    own_table().replace("café", word).to_csv(path, index=False, encoding=encoding, errors="replace")
    with pytest.raises(DataError, match=r"line \d+ is not UTF-8 text.*encoding="):
        Triplets.read(path, **COLUMNS)
    assert word in Triplets.read(path, encoding=encoding, **COLUMNS).names
    with pytest.raises(DataError, match="encoding='klingon' is unknown"):
        Triplets.read(path, encoding="klingon", **COLUMNS)
    with pytest.raises(DataError, match=r"line \d+ is not ascii text"):
        Triplets.read(path, encoding="ascii", **COLUMNS)


def test_a_damaged_file_is_not_taken_for_another_encoding(tmp_path):
    path = tmp_path / "t.csv"
    content = own_table().to_csv(index=False).encode()
    path.write_bytes(content.replace(b"cat", b"c\xe9t", 1))
    with pytest.raises(DataError, match=r"line \d+ is not UTF-8 text"):
        Triplets.read(path, **COLUMNS)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"$FL2@(#) SPSS", "an SPSS file.*read_spss"),
        (b"MATLAB 5.0 MAT-file, Platform", "a Matlab file.*loadmat"),
        (b"\x89HDF\r\n\x1a\n", "HDF5 or Matlab 7.3"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook.*save it as .xlsx"),
        (b"RDX3\nX\n", "an R file.*write.csv"),
    ],
)
def test_files_of_other_programs_are_called_by_their_name(start, sentence, tmp_path):
    path = tmp_path / "t.bin"
    path.write_bytes(start + b"\0" * 100)
    with pytest.raises(DataError, match=sentence):
        Triplets.read(path)


@pytest.mark.parametrize(
    ("name", "needs"), [("book.xlsx", "openpyxl"), ("table.parquet", "pyarrow")]
)
def test_what_to_install_is_said(name, needs, tmp_path, monkeypatch):
    WRITERS[name](own_table(), tmp_path / name)
    real = builtins.__import__

    def without(module, *rest, **more):
        if module.split(".")[0] == needs:
            raise ImportError(module)
        return real(module, *rest, **more)

    monkeypatch.delitem(sys.modules, needs, raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=f"needs {needs}: pip install 'pyrovice"):
        Triplets.read(tmp_path / name, **COLUMNS)


@pytest.mark.parametrize("name", ["book.xlsx", "table.parquet"])
def test_damaged_workbooks_and_parquet_files(name, tmp_path):
    WRITERS[name](own_table(), tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be unpacked|not a readable"):
        Triplets.read(tmp_path / name, **COLUMNS)


def test_numbers_are_ids_and_labels_with_zeros_are_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,odd\n1,2,3,2\n2,3,4,4\n")
    ids = Triplets.read(path, objects=["a", "b", "c"], odd="odd", first_id=1)
    assert ids.names == ("0", "1", "2", "3")
    assert ids.objects.tolist() == [[0, 1, 2], [1, 2, 3]]
    path.write_text("a,b,c,odd\n001,002,003,002\n002,003,004,004\n")
    assert Triplets.read(path, objects=["a", "b", "c"], odd="odd").names[0] == "001"


def test_what_was_chosen_as_more_like_the_anchor():
    table = pd.DataFrame(
        {"target": ["a", "b"], "one": ["b", "c"], "other": ["c", "a"], "like": ["c", "c"]}
    )
    roles = {"objects": ["target", "one", "other"], "anchor": "target"}
    data = Triplets.from_dataframe(table, chosen="like", **roles)
    same = Triplets.from_dataframe(table.assign(odd=["b", "a"]), odd="odd", **roles)
    assert data == same
    # The answer is what was chosen: it stood right, then in the middle.
    assert data.trials["position"].tolist() == [3, 2]


CATCH = """a,b,c,answer,place,kind,ok,who
x,y,z,z,3,main,,ann
y,y,z,z,3,catch,yes,ann
y,y,z,y,1,Catch,no,bob
y,z,y,,,catch,,bob
z,y,x,z,1,main,,bob
"""


@pytest.mark.parametrize("answer", [{"odd": "answer"}, {"position": "place"}])
@pytest.mark.parametrize("told", [{}, {"passed": "ok"}])
def test_catch_trials_are_set_apart(answer, told, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(CATCH)
    roles = {"objects": ["a", "b", "c"], "participant": "who", "catch": "kind", **answer, **told}
    frame = pd.read_csv(path)
    for data in (Triplets.read(path, **roles), Triplets.from_dataframe(frame, **roles)):
        assert data.to_dataframe()["odd"].tolist() == ["z", "z"]
        assert "3 catch trials" in str(data.reading)
        # One was not answered: neither passed nor failed.
        assert data.reading.catch.to_dict("list") == {
            "participant": ["ann", "bob"],
            "passed": [True, False],
        }
        found = pv.participants.review(data, pv.participants.FailedCatch())
        assert found.excluded == ["bob"]
        assert not {"kind", *told.values()} & set(data.trials)


def test_catch_trials_with_an_anchor_are_passed_by_choosing_it():
    table = pd.DataFrame(
        {"target": list("abb"), "one": list("bba"), "other": list("cab"), "like": list("cba")}
    ).assign(test=[0, 1, 1])
    roles = {"objects": ["target", "one", "other"], "anchor": "target", "chosen": "like"}
    data = Triplets.from_dataframe(table, catch="test", **roles)
    assert len(data) == 1
    # What is not shown is no right answer either.
    elsewhere = Triplets.from_dataframe(table.assign(like=["c", "x", "x"]), catch="test", **roles)
    assert elsewhere.reading.catch["passed"].tolist() == [False, False]
    assert data.reading.catch["passed"].tolist() == [True, False]


def test_catch_trials_that_cannot_be():
    table = pd.read_csv(io.StringIO(CATCH))
    roles = {"objects": ["a", "b", "c"], "odd": "answer"}
    for arguments, sentence in [
        ({"passed": "ok"}, "say which column marks them: catch="),
        ({"catch": "who"}, "marks no catch trial; it holds 'ann', 'bob'"),
        ({"catch": "kind", "passed": "who"}, "'who' says 'ann' of a catch trial"),
        ({"catch": "test"}, "row 4 is a catch trial that does not show one object twice"),
    ]:
        with pytest.raises(DataError, match=sentence):
            Triplets.from_dataframe(table.assign(test=[0, 0, 1, 0, 1]), **roles, **arguments)


def test_columns_with_the_names_of_ours_are_not_confused():
    table = own_table().assign(odd="what they call odd", position="top")
    data = Triplets.from_dataframe(table, **COLUMNS)
    assert data.trials["odd_given"].iloc[0] == "what they call odd"
    assert data.trials["position_given"].iloc[0] == "top"
    assert data.to_dataframe().columns.is_unique
    with pytest.raises(DataError, match="pass odd='odd' instead of position='position'"):
        Triplets.from_dataframe(
            Triplets.from_dataframe(own_table(), **COLUMNS).to_dataframe(), position="position"
        )


def test_columns_are_places_only_if_they_can_be():
    table = own_table()
    shown = np.sort(table[COLUMNS["objects"]], axis=1)
    alphabetical = table.assign(**dict(zip(COLUMNS["objects"], shown.T, strict=True)))
    assert "position" not in Triplets.from_dataframe(alphabetical, **COLUMNS).trials
    told = Triplets.from_dataframe(alphabetical, on_screen=True, **COLUMNS)
    assert "position" in told.trials
    last = table.assign(right=table["answer"])
    last = last[(last["left"] != last["right"]) & (last["middle"] != last["right"])]
    assert "position" not in Triplets.from_dataframe(last, **COLUMNS).trials


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"odd": "a", "position": "b"}, "odd='a' and position='b': expected one of them"),
        ({"chosen": "a"}, "chosen='a' is what was chosen as more like the anchor"),
        ({"reaction_time_unit": "min"}, "expected 'ms' or 's'"),
        ({"objects": "abc"}, "expected the names of three columns"),
        ({"reaction_time": "time"}, "no column 'time'; it has"),
        ({"bad_rows": "drop"}, "expected 'refuse' or 'leave out'"),
    ],
)
def test_what_cannot_be_is_said(arguments, sentence):
    told = {name: value for name, value in COLUMNS.items() if name != "odd"} | arguments
    told = told if {"odd", "chosen"} & set(arguments) else told | {"odd": "answer"}
    with pytest.raises(DataError, match=sentence):
        Triplets.from_dataframe(own_table(), **told)


def test_a_missing_column_of_a_file_is_said(tmp_path):
    own_table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"t\.csv, line 1: has no column 'reply'; it has 'left'"):
        Triplets.read(tmp_path / "t.csv", objects=COLUMNS["objects"], odd="reply")


def test_seconds(tmp_path):
    table = own_table()
    expected = table["rt"].to_numpy()
    table["rt"] /= 1000
    with pytest.warns(PyroviceWarning, match="if these are seconds, say reaction_time_unit='s'"):
        Triplets.from_dataframe(table, **COLUMNS)
    data = Triplets.from_dataframe(table, reaction_time_unit="s", **COLUMNS)
    np.testing.assert_allclose(data.trials["reaction_time"], expected)


# ---------------------------------------------------------------------- the faces


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("faces") / "faces.csv"
    faces_table(each=25).to_csv(path, index=False)
    return path


def test_careless_people_are_excluded_by_the_rules_of_the_paper(faces):
    data = Triplets.read(faces)
    assert data.reading.format == "tripletTools"
    assert data.n_objects == FACES
    assert len(data.people()) == PEOPLE
    assert sorted(data.names) == sorted(face_names())
    found = pv.participants.review(data, *pv.participants.FOOD)
    assert sorted(found.excluded) == sorted(CARELESS)
    assert found.table.loc["w-007", "catch_failed"] == 5
    assert found.table["median_time"].notna().all()


def test_the_same_study_as_a_table_of_ones_own(faces, tmp_path):
    table = pd.read_csv(faces)
    judged = table[table["sampleAlg"] != "check"]
    data = Triplets.from_dataframe(
        judged,
        objects=["Center", "Left", "Right"],
        anchor="Center",
        chosen="Answer",
        participant="worker_id",
        reaction_time="rt",
    )
    read = Triplets.read(faces)
    assert data == read
    pd.testing.assert_series_equal(data.trials["position"], read.trials["position"])
    pd.testing.assert_series_equal(data.trials["reaction_time"], read.trials["reaction_time"])


def test_decimal_commas_that_pandas_left_as_text():
    table = own_table(6)
    expected = Triplets.from_dataframe(table, **COLUMNS)
    text = table["rt"].map(lambda time: str(time).replace(".", ","))
    assert Triplets.from_dataframe(table.assign(rt=text), **COLUMNS) == expected
    assert list(Triplets.from_dataframe(table.assign(rt=text), **COLUMNS).trials.reaction_time) == (
        list(table.rt)
    )
    # What could be thousands is not guessed at.
    with pytest.raises(DataError, match=r"not a number, such as '1,292'"):
        Triplets.from_dataframe(table.assign(rt="1,292"), **COLUMNS)


def test_the_value_that_is_wrong_is_shown():
    table = own_table(6)
    table["answer"] = table["answer"].astype(object)
    table.loc[2, "answer"] = "nobody"
    with pytest.raises(DataError, match=r"row 2: .* that it does not show, such as 'nobody'"):
        Triplets.from_dataframe(table, **COLUMNS)


def test_copied_rows_are_noted():
    table = own_table(30)
    twice = Triplets.from_dataframe(pd.concat([table, table.head(4)]), **COLUMNS)
    found = twice.describe()
    assert found.copies == 4
    assert "4 judgments are copies of others" in str(found)
    assert len(twice[~twice.to_dataframe().duplicated()]) == 30
    # The same answer at another speed is another answer.
    again = table.head(4).assign(rt=lambda t: t.rt + 1)
    assert Triplets.from_dataframe(pd.concat([table, again]), **COLUMNS).describe().copies == 0
