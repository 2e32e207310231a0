"""Names of dimensions go wherever the dimensions go."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.results.dimension_names import listed_objects, own_objects
from pyrovice.results.posterior import Posterior, SiteDraws
from pyrovice.results.saved_fits import to_bytes
from pyrovice.results.weights import PointWeights
from pyrovice.storage.archive import pack, unpack


@pytest.fixture(scope="module")
def named(small_fit):
    return small_fit.label({1: "round", 3: "small"})


def with_weights(fit, X):
    """A fit of these weights, all of whose dimensions are kept."""
    X = np.asarray(X, np.float32)
    return dataclasses.replace(
        fit,
        names=tuple(f"o{i}" for i in range(len(X))),
        posterior=Posterior(PointWeights(X)),
        model=pv.Model(fit.prior, *X.shape),
        fitted_guide=None,
        pruned=True,
    )


def test_tables_have_names_where_there_are_some(named, small_fit):
    assert list(named.embedding()) == ["round", 2, "small"]
    assert list(named.top_objects(2)) == ["round", 2, "small"]
    assert named.importance()["round"] == small_fit.importance()[1]
    np.testing.assert_array_equal(named.embedding()["small"], small_fit.embedding()[3])
    assert list(small_fit.embedding()) == [1, 2, 3]


def test_a_name_that_no_table_would_show_is_said(small_fit):
    X = np.random.default_rng(0).uniform(0.5, 1.0, (20, 3)) * [1.0, 0.0, 1.0]
    fit = dataclasses.replace(with_weights(small_fit, X), pruned=False)
    assert fit.kept_positions().tolist() == [0, 2]
    with pytest.warns(pv.PyroviceWarning, match="dimension 2 is not among those.*Kept are 1, 3"):
        named = fit.label({2: "hidden"})
    assert "hidden" in list(named.embedding(pruned=False))


def test_names_follow_their_dimensions(named, small):
    turned = named._select(np.array([2, 0]))
    assert list(turned.embedding(pruned=False)) == ["small", "round"]
    assert list(named.prune().embedding()) == ["round", 2, "small"]
    first, second = pv.align([named, named])
    assert list(first.embedding()) == list(second.embedding()) == ["round", 2, "small"]
    assert named._select(np.array([1])).dimension_names == ()


def test_refining_keeps_names(named, small):
    with pytest.warns(pv.PyroviceWarning, match="one chain cannot say"):
        refined = pv.refine(named.prune(), small, draws=4, chains=1)
    same = refined.embedding(pruned=False)["small"].corr(named.embedding()["small"])
    assert same > 0.9


def test_names_are_saved_and_exported(named, tmp_path):
    named.save(tmp_path / "a.fit")
    assert list(pv.load(tmp_path / "a.fit").embedding()) == ["round", 2, "small"]
    named.write_embedding(tmp_path / "a.csv")
    assert list(pd.read_csv(tmp_path / "a.csv")) == ["object", "round", "dim_2", "small"]


def test_arviz_has_names_as_coordinates(named, small_fit):
    posterior = named.to_arviz(draws=10).posterior
    assert posterior.dimension.values.tolist() == ["round", "2", "small"]
    plain = small_fit.to_arviz(draws=10).posterior
    np.testing.assert_array_equal(posterior.X.sel(dimension="small"), plain.X.sel(dimension=3))
    assert "round" in named.site("X", draws=2).dimension


def test_people_have_weights_by_name(people_fit):
    fit = people_fit.label({1: "round"})
    assert fit.people()["weight round"].equals(people_fit.people()["weight 1"])
    assert "round" in fit.groups().index.get_level_values("dimension")


def test_hyperparameters_are_called_by_name(named):
    count = named.posterior.shape[1]
    scale = SiteDraws(np.arange(2.0 * count).reshape(1, 2, count), ("dimension",))
    posterior = dataclasses.replace(named.posterior, others={"scale": scale})
    table = dataclasses.replace(named, posterior=posterior).hyperparameters()
    assert table.loc[("scale", "small"), "mean"] == 2 + count / 2
    assert table.loc[("scale", 2), "mean"] == 1 + count / 2


def test_names_can_be_changed_and_taken_away(named):
    again = named.label({"round": "flat", "small": None})
    assert list(again.embedding()) == ["flat", 2, 3]
    assert again.label({1: ""}).dimension_names == ()
    assert list(named.label({"2": " two \n words "}).embedding())[1] == "two words"
    assert list(named.label(named.suggest_labels()).embedding()) == list(named.suggest_labels())


@pytest.mark.parametrize(
    ("names", "error", "sentence"),
    [
        ({0: "a"}, pv.PyroviceError, r"no dimension 0; expected the numbers 1 to \d, or one of"),
        ({"flat": "a"}, pv.PyroviceError, "no dimension 'flat'"),
        ({True: "a"}, pv.PyroviceError, "no dimension True"),
        ({2: "round"}, pv.PyroviceError, "Two dimensions would be called 'round'"),
        ({2: "7"}, pv.PyroviceError, "is a number"),
        ({2: "object"}, pv.PyroviceError, "would be misread"),
        ({2: "=1+1"}, pv.PyroviceError, "would be misread"),
        ({2: "x" * 61}, pv.PyroviceError, "has 61 letters; expected at most 60"),
        ({2: 3.5}, TypeError, "is a float; expected text"),
        (["a"], TypeError, r"label\(list\); expected a dict such as \{1: 'animal'\}"),
        ("no.json", FileNotFoundError, "no.json does not exist"),
    ],
)
def test_names_that_cannot_be(named, names, error, sentence):
    with pytest.raises(error, match=sentence):
        named.label(names)


def test_a_file_of_names(named, small_fit, tmp_path):
    path = tmp_path / "names.json"
    saved = {"fit": {"judgments": named.data_digest[:16], "seed": 0}, "names": {"2": "red"}}
    path.write_text(json.dumps(saved))
    assert list(named.label(path).embedding()) == ["round", "red", "small"]
    path.write_text('{"1": "flat"}')
    assert next(iter(small_fit.label(str(path)).embedding())) == "flat"
    path.write_text(json.dumps(saved | {"fit": {"judgments": "another", "seed": 0}}))
    with pytest.raises(pv.DataError, match="were given to another fit"):
        named.label(path)
    for content, sentence in (("[1]", "is not a file of names; expected"), ("{", "is not a file")):
        path.write_text(content)
        with pytest.raises(pv.DataError, match=sentence):
            named.label(path)


@pytest.mark.parametrize("names", [["a"], [1] * 6, "abcdef"])
def test_names_in_a_damaged_file_are_refused(named, names, tmp_path):
    path = tmp_path / "a.fit"
    path.write_bytes(to_bytes(named))
    record, arrays = unpack(path)
    path.write_bytes(pack(record | {"dimension_names": names}, arrays))
    with pytest.raises(pv.SavedFitError, match="names"):
        pv.load(path)


def test_names_go_to_the_same_dimensions_of_another_fit(named, small_fit):
    turned = small_fit._select(np.array([1, 2, 0]))
    assert turned.label(named).dimension_names == ("", "small", "round")
    unlike = with_weights(small_fit, np.random.default_rng(0).random((20, 3)))
    unlike = dataclasses.replace(unlike, names=named.names)
    assert unlike.label(named).dimension_names == ()
    with pytest.raises(pv.DataError, match="of other objects"):
        with_weights(small_fit, np.eye(3)).label(named)


def test_no_object_stands_for_two_dimensions(small_fit):
    # The first object is strong in both, and nearer to the largest weight of the second.
    fit = with_weights(small_fit, [[2.0, 1.0], [2.1, 0.1], [0.3, 0.9], [0.0, 0.0]])
    own = own_objects(fit, 1)
    assert own == {1: ["o1"], 2: ["o0"]}
    # A dimension with nothing of its own keeps its first.
    both = with_weights(small_fit, [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    assert own_objects(both, 2) == {1: ["o0"], 2: ["o0"]}


def test_suggestions_from_long_names_can_be_taken(small_fit):
    names = tuple(f"the_stimuli_of_2024/a_picture_of_object_{i:02d}_v2.jpg" for i in range(20))
    fit = dataclasses.replace(small_fit, names=names)
    suggested = fit.suggest_labels()
    assert list(fit.label(suggested).embedding()) == suggested.tolist()
    first = names.index(fit.top_objects(1).iloc[0, 0])
    assert f"{first:02d}" in suggested.iloc[0]


def test_suggestions_from_features(small_fit):
    fit = with_weights(small_fit, [[1.0, 0.2], [0.8, 0.0], [0.0, 0.9], [0.0, 0.8]])
    table = pd.DataFrame(
        {"hot": [3.0, 2.5, 0.0, 0.1], "noise": [1.0, -1.0, 1.0, -1.0], "kind": list("aabb")},
        index=["o0", "o1", "o2", "o3"],
    )
    assert fit.suggest_labels(table).tolist() == ["hot", "o2, o3"]
    assert fit.suggest_labels().tolist() == ["o0, o1", "o2, o3"]
    with pytest.raises(pv.DataError, match=r"no row for 1 of the objects \(o3\)"):
        fit.suggest_labels(table[:3])


def test_notebooks_show_dimensions_with_their_objects(named):
    shown = named._repr_html_()
    assert repr(named) in shown
    assert ", ".join(named.top_objects(6)["round"]) in shown
    assert shown.count("<tr>") == 1 + 3


def test_lists_of_objects_have_short_names(small_fit):
    weights = [[1.0, 0.0], [0.8, 0.0], [0.0, 0.9], [0.0, 0.8]]
    long = [f"faces_of_the_second_study_{kind}_front_view.png" for kind in "abcd"]
    fit = dataclasses.replace(with_weights(small_fit, weights), names=tuple(long))
    assert listed_objects(fit, 2) == {1: "…a…, …b…", 2: "…c…, …d…"}
    shown = fit._repr_html_()
    assert "…a…, …b…" in shown
    assert "study" not in shown
