"""Tables of features, from memory and from files, and what is wrong with some."""

import builtins

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.data.feature_tables import feature_tables
from pyrovice.errors import DataError

TABLE = pd.DataFrame(
    {"size": [1.0, 2.0, 3.0], "weight": [0.1, 0.2, 0.5]}, index=["cat", "dog", "cow"]
)


def test_blocks_are_brought_into_one_order():
    first, second = feature_tables({"a": TABLE, "b": TABLE.iloc[::-1] * 2})
    assert first.objects == second.objects == ("cat", "dog", "cow")
    np.testing.assert_array_equal(second.values, 2 * first.values)
    assert first.columns == ("size", "weight")


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_objects_may_be_called_what_pandas_takes_for_missing(tmp_path, ending):
    path = tmp_path / f"features{ending}"
    odd = TABLE.set_axis(["None", "NA", "NULL"])
    odd.to_csv(path, sep="," if ending == ".csv" else "\t")
    pd.testing.assert_frame_equal(pv.read_features(path), odd, check_names=False)


def test_an_array_has_rows_and_columns_by_number():
    (block,) = feature_tables(TABLE.to_numpy())
    assert block.objects is None
    assert block.columns == ("features 0", "features 1")
    (series,) = feature_tables(TABLE["size"])
    assert series.columns == ("size",)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({}, "empty dict"),
        (np.zeros(3), r"shape \(3,\); expected objects x features"),
        (np.zeros((3, 0)), "3 rows and 0 columns"),
        ("nothing.npy", "does not exist; expected .npy"),
        ([["a", "b"]], "expected a DataFrame indexed by object names"),
        (TABLE.assign(kind="pet"), r"1 column \('kind'\) of text.*set_index"),
        (TABLE.replace(2.0, np.nan), r"1 of 6 numbers.*1 object \('dog'\).*fillna"),
        (TABLE.replace(2.0, np.inf), "not finite"),
        (pd.concat([TABLE, TABLE[:1]]), r"1 object \('cat'\) more than once.*groupby"),
        (TABLE.set_axis(["size", "size"], axis=1), "two columns of the same name"),
        ({"a": TABLE, "b": TABLE[:2]}, r"'b': no row for 1 object \('cow'\) of 3"),
        ({"a": TABLE[:2], "b": TABLE}, r"'a' have no row for 1 object \('cow'\) of 'b'"),
        ({"a": TABLE, "b": TABLE.to_numpy()}, "one has names of objects and the other has not"),
        ({"a": np.ones((3, 1)), "b": np.ones((4, 1))}, "'a' have 3 rows and 'b' 4"),
    ],
)
def test_bad_tables_get_a_sentence(table, sentence):
    with pytest.raises((DataError, FileNotFoundError), match=sentence):
        feature_tables(table)


@pytest.mark.parametrize("ending", [".npy", ".txt", ".csv", ".tsv"])
def test_files_give_back_the_table(tmp_path, ending):
    path = tmp_path / f"features{ending}"
    named = ending in (".csv", ".tsv")
    if ending == ".npy":
        np.save(path, TABLE.to_numpy())
    elif ending == ".txt":
        np.savetxt(path, TABLE.to_numpy())
    else:
        TABLE.to_csv(path, sep="," if ending == ".csv" else "\t")
    found = pv.read_features(path)
    np.testing.assert_allclose(found.to_numpy(), TABLE.to_numpy())
    assert list(found.index) == (list(TABLE.index) if named else [0, 1, 2])
    (block,) = feature_tables(path)
    assert block.objects == (tuple(TABLE.index) if named else None)
    again = pv.read_features(path, names=["x", "y", "z"])
    assert list(again.index) == ["x", "y", "z"]


def test_a_table_of_numbers_alone_has_no_names(tmp_path):
    TABLE.to_csv(tmp_path / "numbers.csv", index=False)
    found = pv.read_features(tmp_path / "numbers.csv")
    assert isinstance(found.index, pd.RangeIndex)
    assert list(found) == ["size", "weight"]


def test_a_folder_of_one_file_per_object(tmp_path):
    for name, row in TABLE.iterrows():
        np.save(tmp_path / f"{name}.npy", row.to_numpy().reshape(1, 2))
    found = pv.read_features(tmp_path)
    assert list(found.index) == ["cat", "cow", "dog"]
    np.testing.assert_array_equal(found.loc["dog"], TABLE.loc["dog"])
    np.save(tmp_path / "long.npy", np.zeros(5))
    with pytest.raises(DataError, match="hold 2 to 5 numbers"):
        pv.read_features(tmp_path)


def test_names_from_a_file_and_layers_with_places(tmp_path):
    np.save(tmp_path / "layer.npy", np.arange(24.0).reshape(3, 4, 2))
    (tmp_path / "names.txt").write_text("cat\ndog\ncow\n")
    found = pv.read_features(tmp_path / "layer.npy", names=tmp_path / "names.txt")
    assert found.shape == (3, 8)
    assert list(found.index) == ["cat", "dog", "cow"]
    with pytest.raises(DataError, match="3 rows, and there are 2 names"):
        pv.read_features(tmp_path / "layer.npy", names=["cat", "dog"])


def test_bad_files_get_a_sentence(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"not numbers")
    with pytest.raises(DataError, match="does not hold a table of numbers"):
        pv.read_features(tmp_path / "a.npy")
    (tmp_path / "a.xls").write_text("")
    with pytest.raises(DataError, match=r"ends in '.xls'; expected .npy"):
        pv.read_features(tmp_path / "a.xls")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no \.npy file in the folder"):
        pv.read_features(tmp_path / "empty")
    np.save(tmp_path / "row.npy", np.zeros(3))
    with pytest.raises(DataError, match=r"shape \(3,\); expected numbers, a row per object"):
        pv.read_features(tmp_path / "row.npy")


def test_pickled_arrays_are_not_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="does not hold a table of numbers"):
        pv.read_features(tmp_path / "a.npy")


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    TABLE.rename_axis("object").reset_index().to_parquet(path)
    pd.testing.assert_frame_equal(pv.read_features(path), TABLE, check_names=False)
    TABLE.to_parquet(path)  # with the names as its index
    pd.testing.assert_frame_equal(pv.read_features(path), TABLE, check_names=False)


def test_parquet_that_is_none(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="does not hold a table of numbers"):
        pv.read_features(path)


def test_parquet_without_its_reader(tmp_path, monkeypatch):
    def missing(path):
        raise builtins.ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", missing)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"pip install 'pyrovice\[parquet\]'"):
        pv.read_features(path)
