import numpy as np
import pytest

from pyrovice import DataError, OverwriteError, PyroviceWarning, Triplets

ROWS = np.array([[3, 0, 1], [2, 1, 0], [0, 3, 2]])
EXPECTED = Triplets.from_array(ROWS)


def put(path, text):
    path.write_bytes(text.encode())
    return path


def test_npy(tmp_path):
    np.save(tmp_path / "t.npy", ROWS.astype(np.int16))
    assert Triplets.read(tmp_path / "t.npy") == EXPECTED
    assert Triplets.read(str(tmp_path / "t.npy"), format="vice") == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "3 0 1\n2 1 0\n0 3 2\n",
        "3\t0\t1\r\n2\t1\t0\r\n0\t3\t2\r\n",
        "3.0 0.0 1.0\n2.0 1.0 0.0\n0.0 3.0 2.0",
        "3.000000000000000000e+00 0 1\n  2 1 0\n0 3 2  \n",
        "\ufeff3 0 1\n\n2 1 0\n0 3 2\n\n\n",
    ],
    ids=["plain", "tabs and CRLF", "floats", "exponents and blanks", "BOM and blank lines"],
)
def test_txt(tmp_path, text):
    assert Triplets.read(put(tmp_path / "t.txt", text)) == EXPECTED


def test_participant_column(tmp_path):
    np.save(tmp_path / "t.npy", np.column_stack([ROWS, [0, 1, 0]]))
    assert Triplets.read(tmp_path / "t.npy").participants.tolist() == [0, 1, 0]


def test_folder(tmp_path):
    np.save(tmp_path / "train_90.npy", ROWS[:2])
    put(tmp_path / "test_10.txt", "5 1 2\n")
    train = Triplets.read(tmp_path)
    test = Triplets.read(tmp_path, part="test")
    assert train.n_objects == test.n_objects == 6
    assert (len(train), len(test)) == (2, 1)


def test_names_from_a_file(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    put(tmp_path / "names.txt", "ant\r\nbee\r\ncat\r\ndog\r\n\r\n")
    t = Triplets.read(tmp_path / "t.npy", names=tmp_path / "names.txt")
    assert t.names == ("ant", "bee", "cat", "dog")
    assert Triplets.read(tmp_path / "t.npy", names=t.names) == t
    assert Triplets.read(tmp_path / "t.npy", n_objects=7).n_objects == 7


@pytest.mark.parametrize("suffix", [".npy", ".txt"])
def test_write_and_read_back(tmp_path, small, suffix):
    small.write(tmp_path / f"t{suffix}")
    assert Triplets.read(tmp_path / f"t{suffix}") == small
    with pytest.raises(OverwriteError, match="exists and is not replaced"):
        small[:1].write(tmp_path / f"t{suffix}")
    assert Triplets.read(tmp_path / f"t{suffix}") == small


def test_write_refuses_what_the_format_cannot_hold(tmp_path):
    with pytest.raises(DataError, match="have an anchor"):
        Triplets([[0, 1, 2]], [0], anchor=[1]).write(tmp_path / "t.npy")
    with pytest.raises(DataError, match="participants have names"):
        Triplets([[0, 1, 2]], [0], participants=["ann"]).write(tmp_path / "t.npy")
    with pytest.raises(DataError, match=r"expected .npy or .txt for ids, .csv or .tsv"):
        Triplets([[0, 1, 2]], [0]).write(tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())


def test_participants_survive_writing(tmp_path):
    t = Triplets([[0, 1, 2], [0, 1, 3]], [0, 1], participants=[4, 2])
    t.write(tmp_path / "t.txt")
    assert Triplets.read(tmp_path / "t.txt") == t


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 1 2\n0 one 2\n", "line 2: '0 one 2' holds an id that is not a number"),
        ("0 1 2\n\n0 1\n", "line 3: '0 1' has 2 columns, but the first line has 3"),
        ("0 1 2\n0 1 2 3\n", "line 2: '0 1 2 3' has 4 columns, but the first line has 3"),
        ("0 1 2\n\n0 1.5 2\n", "line 3: .*not whole"),
        ("0 1 2\n0 1 nan\n", "line 2: '0 1 nan' holds an id that is not a number"),
        ("0 1 2\n\n\n4 4 2\n", "line 4: '4 4 2' repeats an object"),
        ("0 1 2\n-1 1 2\n", "line 2: '-1 1 2' holds a negative id"),
        ("", "is empty"),
        ("0 1\n1 2\n", "line 1 has 2 columns; expected rows of three"),
        ("0 1 2 3 4\n", "line 1 has 5 columns; expected rows of three"),
    ],
)
def test_bad_text_is_named_by_line(tmp_path, text, sentence):
    path = put(tmp_path / "bad.txt", text)
    with pytest.raises(DataError, match=sentence) as caught:
        Triplets.read(path, format="vice")
    assert "bad.txt" in str(caught.value)


def test_files_that_are_not_what_they_say(tmp_path):
    with pytest.raises(DataError, match="not a NumPy array"):
        Triplets.read(put(tmp_path / "a.npy", "0 1 2\n"))
    with pytest.raises(DataError, match="not a number"):
        Triplets.read(put(tmp_path / "b.txt", "cat dog car\n"), format="vice")
    np.save(tmp_path / "c.npy", np.array([["a", "b", "c"]]))
    with pytest.raises(DataError, match="<U1"):
        Triplets.read(tmp_path / "c.npy")
    np.save(tmp_path / "d.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="not a NumPy array"):
        Triplets.read(tmp_path / "d.npy")
    np.savez(tmp_path / "e.npz", ROWS)
    with pytest.raises(DataError, match=r"'\.npz'; expected \.npy"):
        Triplets.read(tmp_path / "e.npz")


def test_missing_things(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Triplets.read(tmp_path / "nothing.npy")
    with pytest.raises(FileNotFoundError, match=r"no train_90\.npy or train_90\.txt"):
        Triplets.read(tmp_path)
    np.save(tmp_path / "train_90.npy", ROWS)
    with pytest.raises(FileNotFoundError, match=r"no test_10\.npy"):
        Triplets.read(tmp_path, part="test")
    with pytest.raises(DataError, match="'train', 'test', 'inference'"):
        Triplets.read(tmp_path, part="valid")
    with pytest.raises(FileNotFoundError, match="one name per line"):
        Triplets.read(tmp_path / "train_90.npy", names=tmp_path / "names.txt")
    with pytest.raises(DataError, match="chooses from a folder"):
        Triplets.read(tmp_path / "train_90.npy", part="train")
    with pytest.raises(DataError, match="format='csv' is unknown"):
        Triplets.read(tmp_path / "train_90.npy", format="csv")
    put(tmp_path / "train_90.txt", "0 1 2\n")
    with pytest.raises(DataError, match=r"both train_90\.npy and train_90\.txt"):
        Triplets.read(tmp_path)


def test_one_based_ids_with_too_few_names(tmp_path):
    np.save(tmp_path / "t.npy", ROWS + 1)
    with pytest.raises(DataError, match="look 1-based"):
        Triplets.read(tmp_path / "t.npy", names=list("abcd"))


def test_many_rows_are_put_together_from_stretches(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("0 1 2\n0 2 3\n0 one 2\n1 2 3\n")
    monkeypatch.setattr("pyrovice.data.readers.table.ROWS_AT_ONCE", 2)
    with pytest.raises(DataError, match="line 3: '0 one 2' holds an id that is not a number"):
        Triplets.read(path)
    with pytest.warns(PyroviceWarning, match="1 of 4 rows"):
        found = Triplets.read(path, bad_rows="leave out")
    assert found == Triplets.from_array([[0, 1, 2], [0, 2, 3], [1, 2, 3]])
