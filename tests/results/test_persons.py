import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.errors import DataError, PyroviceError


@pytest.fixture
def data(people_data):
    return people_data


@pytest.fixture
def fit(people_fit):
    return people_fit


def test_a_row_per_person(fit, data):
    table = fit.people()
    assert tuple(table.index) == data.people()
    assert table.judgments.sum() == len(data)
    assert table.judgments["p003"] == (data.participants == "p003").sum()
    assert table.group["p000"] == "expert"
    assert pd.isna(table.group["p009"])
    draws = fit.site("person_weight").sel(person="p002", dimension=1)
    assert table.loc["p002", "weight 1"] == pytest.approx(float(draws.median()))
    assert table.loc["p002", "weight 1 5 %"] == pytest.approx(float(draws.quantile(0.05)))
    assert set(fit.prune().people()) == {
        c for c in table if "weight" not in c or int(c.split()[1]) <= fit.n_dimensions
    }


def test_a_person_sees_the_embedding_through_their_weights(fit):
    ann = fit.person("p004")
    drawn = fit.posterior.sites(200, 0)
    expected = drawn["X"] * np.sqrt(drawn["person_weight"][:, 4])[:, None]
    got = ann.embedding("mean", pruned=False)
    np.testing.assert_allclose(got, expected.mean(0), rtol=1e-5)
    assert got.index.tolist() == list(fit.names)
    assert ann.embedding().shape == fit.embedding().shape
    assert "p004" in repr(ann)
    assert ann.traits().loc["temperature", "median"] == fit.people().loc["p004", "temperature"]


def test_the_similarity_of_a_person_is_what_they_are_predicted_to_answer(fit):
    kept = fit.person("p004").similarity(draws=3, seed=1)
    others = [k for k in range(20) if k not in (2, 7)]
    objects = np.sort([[2, 7, k] for k in others], axis=1)
    asked = pv.Triplets(objects, [0] * 18, names=fit.names, participants=["p004"] * 18)
    p = fit.predict(asked, draws=3, seed=1)
    third = (objects == np.array(others)[:, None]).argmax(1)
    expected = p[np.arange(18), third].mean()
    assert kept.iloc[2, 7] == pytest.approx(expected, rel=1e-5)


def test_groups_are_compared_with_intervals_and_by_exchange(fit):
    table = fit.groups(permutations=200)
    assert table.index.get_level_values("groups").unique().tolist() == ["expert - novice"]
    drawn = fit.site("group_log_weight")
    difference = drawn.sel(group="expert", dimension=1) - drawn.sel(group="novice", dimension=1)
    row = table.loc[1].iloc[0]
    assert row["difference"] == pytest.approx(float(difference.mean()), abs=1e-5)
    assert row["P(> 0)"] == pytest.approx(float((difference > 0).mean()))
    assert table.p_value.between(1 / 201, 1).all()


def test_saved_and_loaded_people_are_the_same(fit, data, tmp_path):
    fit.save(tmp_path / "people.fit")
    again = pv.load(tmp_path / "people.fit")
    assert again.model.people == fit.model.people
    pd.testing.assert_frame_equal(again.people(), fit.people())
    pd.testing.assert_frame_equal(again.groups(100), fit.groups(100))
    np.testing.assert_array_equal(again.predict(data[:50]), fit.predict(data[:50]))
    assert again.guide()["person_weight"].shape == (10, fit.posterior.shape[1])


def test_arviz_knows_people_by_name(fit, data):
    found = fit.to_arviz(data, draws=20)
    assert found.posterior["person_temperature"].sel(person="p001").shape == (1, 20)
    assert found.posterior["group_log_weight"].dims == ("chain", "draw", "group", "dimension")
    assert found.prior["person_weight"].sizes["person"] == 10


def test_somebody_unknown_is_predicted_as_somebody_new(fit, data):
    few = data[:40]

    def by(who):
        return pv.Triplets(few.objects, few.odd, names=few.names, participants=who)

    nobody, stranger = fit.predict(by([None] * 40)), fit.predict(by(["zoe"] * 40))
    np.testing.assert_array_equal(nobody, stranger)
    without = pv.Triplets(few.objects, few.odd, names=few.names)
    np.testing.assert_array_equal(fit.predict(without), nobody)
    assert not np.allclose(fit.predict(by(["p000"] * 40)), nobody)


def test_refusals(fit, small_fit):
    with pytest.raises(DataError, match="person\\('zoe'\\): nobody of that name was fitted"):
        fit.person("zoe")
    for ask in (small_fit.people, lambda: small_fit.person("p001"), small_fit.groups):
        with pytest.raises(PyroviceError, match="of one mind"):
            ask()
    with pytest.raises(PyroviceError, match="expected one of 'median'"):
        fit.person("p001").embedding("loc")


def test_groups_have_their_columns_where_no_dimension_is_kept(fit, monkeypatch):
    monkeypatch.setattr(type(fit), "kept_positions", lambda self: [])
    monkeypatch.setattr(type(fit), "embedding", lambda self: [])
    table = fit.groups(permutations=1)
    assert table.empty
    assert list(table.index.names) == ["dimension", "groups"]
