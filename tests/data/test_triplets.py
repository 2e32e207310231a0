import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyrovice as pv
from pyrovice import DataError, Triplets
from pyrovice.data.arrays import in_ascending_order


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Triplets([[0, 1]], [0]), r"shape \(1, 2\), expected \(n, 3\)"),
        (lambda: Triplets([0, 1, 2], [0]), r"shape \(3,\), expected \(n, 3\)"),
        (lambda: Triplets([[0, 1, 2], [0, 1]], [0, 1]), "ragged"),
        (lambda: Triplets([[0, 1, 2], [0, 1, 1]], [0, 0]), r"Row 1 repeats .* \[0, 1, 1\]"),
        (lambda: Triplets([[0, 1, 1]], [0]), "2 objects; a triplet needs at least three"),
        (lambda: Triplets([[2, 1, 0]], [0]), "not ascending.*from_array"),
        (lambda: Triplets([[-1, 1, 2]], [0]), "negative id -1"),
        (lambda: Triplets([[0, 1, 5]], [0], names="abc"), "single string"),
        (lambda: Triplets([[0, 1, 5]], [0], names=list("abc")), "id 5, but there are 3 names"),
        (lambda: Triplets([[1, 2, 3]], [0], names=list("abc")), "look 1-based: subtract 1"),
        (lambda: Triplets([[0, 1, 2.5]], [0]), "2.5 at row 0; expected whole numbers"),
        (lambda: Triplets([[0, 1, np.nan]], [0]), "nan at row 0"),
        (lambda: Triplets([[0, 1, np.inf]], [0]), "inf at row 0"),
        (lambda: Triplets([["a", "b", "c"]], [0]), "from_dataframe"),
        (lambda: Triplets([], []), "empty"),
        (lambda: Triplets(np.zeros((0, 3)), []), "empty"),
        (lambda: Triplets([[0, 1, 2]], [3]), "odd is 3 in row 0; expected a position"),
        (lambda: Triplets([[0, 1, 2]], [0, 1]), r"odd has shape \(2,\), expected \(1,\)"),
        (lambda: Triplets([[0, 1, 2]], [1], anchor=[1]), "anchor as the odd one"),
        (lambda: Triplets([[0, 1, 2]], [1], anchor=[-2]), "or -1 for none"),
        (lambda: Triplets([[0, 1, 2]], [1], participants=["a", "b"]), "one label per judgment"),
        (lambda: Triplets([[0, 1, 2]], [1], names=["a", "b"]), "id 2, but there are 2 names"),
        (lambda: Triplets([[0, 1, 2]], [1], names=["a", "b", "a"]), "not unique: 'a'"),
        (lambda: Triplets.from_array([[0, 1, 2]], odd="middle"), "odd='last'"),
        (lambda: Triplets.from_array([[0, 1, 2]], n_objects=2), "id 2"),
        (lambda: Triplets.from_array(np.zeros((2, 4))), r"shape \(2, 4\)"),
        (lambda: Triplets.concat([]), "no judgments"),
    ],
)
def test_bad_judgments_get_a_sentence(make, sentence):
    with pytest.raises(DataError, match=sentence):
        make()


def test_fewer_than_three_objects():
    with pytest.raises(DataError, match="at least three"):
        pv.simulate(np.ones((2, 1)), 5, seed=0)


def test_from_array_keeps_the_odd_object_wherever_it_stands():
    array = np.array([[4, 2, 0], [1, 0, 3]])
    for odd, column in (("last", 2), ("first", 0), ([1, 2], None)):
        t = Triplets.from_array(array, odd=odd)
        expected = array[:, column] if column is not None else array[[0, 1], [1, 2]]
        assert np.array_equal(t.objects[[0, 1], t.odd], expected)
        assert np.array_equal(t.objects, np.sort(array, axis=1))


def test_whole_floats_are_ids():
    assert Triplets.from_array([[0.0, 1.0, 2.0]]) == Triplets.from_array([[0, 1, 2]])


def test_objects_without_judgments_are_counted():
    assert Triplets.from_array([[0, 1, 2]], n_objects=9).n_objects == 9
    assert Triplets.from_array([[0, 1, 2]], names=list("abcde")).n_objects == 5


def test_immutable():
    t = Triplets([[0, 1, 2]], [1])
    with pytest.raises(AttributeError, match="immutable"):
        t.odd = [2]
    with pytest.raises(ValueError, match="read-only"):
        t.objects[0, 0] = 7


def test_indexing_keeps_objects_and_people():
    t = Triplets([[0, 1, 2], [0, 1, 3]], [1, 2], participants=["ann", "bob"])
    assert t[np.array([False, True])] == t[1:] == t[[1]] == t[1]
    assert t[1].n_objects == 4
    assert t[1].participants.tolist() == ["bob"]
    assert t[1] != t[0]
    assert t != "something else"


def test_pickling_for_worker_processes(small):
    assert pickle.loads(pickle.dumps(small)) == small


def test_table_and_back():
    t = Triplets(
        [[0, 1, 2], [0, 2, 3]],
        [1, 0],
        names=["ant", "bee", "cat", "dog"],
        anchor=[-1, 2],
        participants=["x", "y"],
    )
    table = t.to_dataframe()
    assert table.loc[1, ["odd", "anchor"]].tolist() == ["ant", "dog"]
    again = Triplets.from_dataframe(table, anchor="anchor", participant="participant")
    assert again == t


def test_table_with_numbers_and_with_the_odd_one_in_its_own_column():
    table = pd.DataFrame({"a": [3, 1], "b": [0, 2], "c": [1, 0]})
    t = Triplets.from_dataframe(table, objects=["a", "b", "c"], odd="c")
    assert t == Triplets.from_array(table.to_numpy())


@pytest.mark.parametrize(
    ("change", "arguments", "sentence"),
    [
        ({}, {"odd": "answer"}, "no column 'answer'; it has"),
        (
            {"odd": ["cow"]},
            {},
            "row 0: .*an object in the column 'odd' that it does not show",
        ),
        ({"object_1": [None]}, {}, "row 0: .*lacks an object"),
        ({"odd": [None]}, {}, "row 0: .*has no answer in the column 'odd'.*leave out"),
        ({"where": [1]}, {"position": "where", "positions": [1, 1, 2]}, "three different"),
        ({"where": [4]}, {"position": "where"}, r"a 'where' other than \[1, 2, 3\]"),
        ({}, {"names": ["a", "b"]}, "row 0: .*not among the 2 names"),
        ({}, {"objects": ["object_1"]}, "expected the names of three columns"),
    ],
)
def test_bad_tables_get_a_sentence(change, arguments, sentence):
    table = pd.DataFrame({"object_1": ["a"], "object_2": ["b"], "object_3": ["c"], "odd": ["b"]})
    with pytest.raises(DataError, match=sentence):
        Triplets.from_dataframe(table.assign(**change), **arguments)


def test_all_bad_rows_of_a_table_are_named():
    table = pd.DataFrame({"object_1": list("abcdefgh"), "object_2": "x", "object_3": "y"})
    table["odd"] = ["a", "q", "c", "q", "q", "q", "q", "q"]
    with pytest.raises(DataError, match=r"row 1: .*\(6 such rows: also rows 3, 4, 5, \.\.\.\)"):
        Triplets.from_dataframe(table)


def test_a_misspelt_object_of_a_table_is_said():
    rng = np.random.default_rng(0)
    names = ["aardvark", "buffalo", "cat", "dolphin", "elephant"]
    table = pd.DataFrame([rng.permutation(names)[:3] for _ in range(100)])
    table = table.set_axis(["object_1", "object_2", "object_3"], axis=1)
    table.loc[5, "object_1"] = "bufalo"
    table["odd"] = table["object_1"]
    with pytest.warns(pv.PyroviceWarning, match=r"'bufalo' \(once, like 'buffalo'\)"):
        Triplets.from_dataframe(table)


def test_ids_with_gaps_or_from_one_are_said():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(5)[:3] for _ in range(60)])
    with pytest.warns(pv.PyroviceWarning, match=r"3 of the 8 ids up to 7 never occur \(4, 5, 6\)"):
        Triplets.from_array(rows + (rows == 4) * 3)
    with pytest.warns(pv.PyroviceWarning, match=r"\(0\). .* If they begin at 1, subtract 1"):
        Triplets.from_array(rows + 1)
    assert Triplets.from_array(rows + 1, n_objects=6).compact().n_objects == 5
    with pytest.raises(DataError, match=r"Row 1 holds the id 123456789.*labels with gaps"):
        Triplets.from_array([[0, 1, 2], [0, 1, 123456789]])


def test_places_on_the_screen_are_kept():
    shown = [[4, 2, 0], [1, 0, 3]]
    t = Triplets.from_array(shown, odd=[1, 2])
    assert t.trials.position.tolist() == [2, 3]
    # The first object in ascending order, 0, stood third, then second.
    assert t.trials[["place_1", "place_2", "place_3"]].to_numpy().tolist() == [[3, 2, 1], [2, 1, 3]]
    table = pd.DataFrame(shown, columns=["a", "b", "c"]).assign(choice=[2, 3])
    again = Triplets.from_dataframe(table, objects=["a", "b", "c"], position="choice")
    assert again.trials.equals(t.trials)
    assert Triplets.from_array(shown).trials is None


def test_empty_table():
    columns = ["object_1", "object_2", "object_3", "odd"]
    with pytest.raises(DataError, match="empty"):
        Triplets.from_dataframe(pd.DataFrame(columns=columns))


def questions(t):
    return {(*row, a) for row, a in zip(t.objects.tolist(), t.anchor.tolist(), strict=True)}


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    shares=st.lists(st.floats(0.1, 0.4), min_size=1, max_size=3).filter(lambda s: sum(s) <= 1),
)
def test_split_is_disjoint_by_triplet(seed, shares):
    t = pv.simulate(np.ones((8, 1)), 400, seed=seed)
    parts = t.split(*shares, seed=seed)
    assert len(parts) == len(shares)
    for i, part in enumerate(parts):
        # A question holds about 7 judgments here, so a part is right to within a few of them.
        assert abs(len(part) - shares[i] * len(t)) < 60
        for other in parts[:i]:
            assert not questions(part) & questions(other)


def test_split_into_everything_loses_nothing(small):
    parts = small.split(0.8, 0.1, 0.1, seed=3)
    assert sum(map(len, parts)) == len(small)
    assert small.split(0.5, 0.5, seed=1)[0] == small.split(0.5, 0.5, seed=1)[0]
    assert small.split(0.5, 0.5, seed=1)[0] != small.split(0.5, 0.5, seed=2)[0]


@pytest.mark.parametrize(
    ("fractions", "sentence"),
    [
        ((0.9, 0.2), "sum to 1.1, more than the whole"),
        ((0.5, -0.1), "expected positive"),
        ((), "expected positive"),
        ((np.nan,), "expected positive"),
        (([0.5, 0.5],), "expected numbers"),
    ],
)
def test_bad_fractions(small, fractions, sentence):
    with pytest.raises(DataError, match=sentence):
        small.split(*fractions, seed=0)


def test_split_of_too_few():
    with pytest.raises(DataError, match="too few"):
        Triplets([[0, 1, 2]], [0]).split(0.5, 0.5, seed=0)


def test_repeats_by_hand():
    t = Triplets([[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2, 3]], [0, 0, 2, 1])
    row = t.repeats().iloc[0]
    assert len(t.repeats()) == 1
    assert row[["odd_1", "odd_2", "odd_3", "judgments"]].tolist() == [2, 0, 1, 3]


def test_an_anchor_makes_another_question():
    t = Triplets([[0, 1, 2]] * 4, [0, 0, 1, 1], anchor=[-1, -1, 2, 2])
    assert t.repeats()["judgments"].tolist() == [2, 2]
    assert t.repeats()["anchor"].fillna("none").tolist() == ["none", "2"]


def test_distinct_judgments_by_hand():
    t = Triplets([[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2, 3]], [0, 0, 2, 1])
    first, counts = t.distinct_judgments()
    assert dict(zip(first.tolist(), counts.tolist(), strict=True)) == {0: 2, 2: 1, 3: 1}


def test_many_objects_need_no_large_keys():
    m = 2_000_000
    t = Triplets([[0, 1, m - 1], [0, 1, m - 1]], [0, 1], names=range(m))
    assert len(t.repeats()) == 1


def test_subset_and_concat(small):
    part = small.subset(100, seed=0)
    assert len(part) == 100
    assert part == small.subset(100, seed=0)
    assert Triplets.concat([small[:10], small[10:]]) == small
    with pytest.raises(DataError, match="1 to 3000"):
        small.subset(5000, seed=0)
    with pytest.raises(DataError, match="differ in their names"):
        Triplets.concat([small, Triplets([[0, 1, 2]], [0])])
    named = Triplets(small.objects, small.odd, participants=np.zeros(len(small)))
    both = Triplets.concat([small, named])
    assert both.participants[0] is None
    assert both.participants[-1] == 0
    assert both.people() == (0.0,)


def test_digest_follows_content(small):
    assert small.digest() == small[:].digest()
    assert small.digest() != small[::-1].digest()


def test_who_answered_is_part_of_the_digest(small):
    def by(people):
        return Triplets(small.objects, small.odd, names=small.names, participants=people)

    one, other = (by(np.arange(len(small)) % n) for n in (3, 4))
    assert len({small.digest(), one.digest(), other.digest()}) == 3
    assert one.digest() == by(np.arange(len(small)) % 3).digest()
    assert one.digest(people=False) == other.digest(people=False) == small.digest()


def test_only_tables_are_tables():
    with pytest.raises(TypeError, match="expected a pandas DataFrame"):
        Triplets.from_dataframe([[0, 1, 2]])


def test_what_else_is_known_of_a_judgment_goes_where_it_goes():
    rng = np.random.default_rng(0)
    t = pv.simulate(rng.random((10, 3)), 40, seed=0)
    trials = pd.DataFrame({"reaction_time": rng.random(40), "row": np.arange(40)})
    t = pv.Triplets(t.objects, t.odd, names=t.names, trials=trials)
    part = t[t.odd == 1]
    assert part.trials.row.tolist() == np.flatnonzero(t.odd == 1).tolist()
    assert part.trials.index.tolist() == list(range(len(part)))
    both = pv.Triplets.concat([part, t[:3]])
    assert both.trials.row.tolist() == [*part.trials.row, 0, 1, 2]
    assert pickle.loads(pickle.dumps(t)).trials.equals(t.trials)
    plain = pv.Triplets(t.objects, t.odd, names=t.names)
    assert t == plain
    assert pv.Triplets.concat([t, plain]).trials is None
    with pytest.raises(pv.DataError, match="39 rows, expected 40"):
        pv.Triplets(t.objects, t.odd, trials=trials[1:])


def test_people_are_listed_once_and_in_order(small):
    def people(labels):
        labels = np.resize(np.array(labels, dtype=object), len(small))
        return Triplets(small.objects, small.odd, participants=labels).people()

    assert people(["bob", "ann"]) == ("ann", "bob")
    assert people([10, 9, 2]) == (2, 9, 10)
    assert set(people(["ann", 3])) == {"ann", 3}
    assert small.people() == ()


def test_a_judgment_may_be_of_nobody_who_is_known(tmp_path):
    t = Triplets([[0, 1, 2]] * 3, [0, 1, 2], participants=[7.0, np.nan, 8.0])
    assert t.participants.tolist() == [7, None, 8]
    assert t.people() == (7, 8)
    assert t[1:].participants.tolist() == [None, 8]
    t.write(tmp_path / "some.csv")
    again = Triplets.read(tmp_path / "some.csv")
    assert again.participants.tolist() == [7, None, 8]
    with pytest.raises(DataError, match="some are not known"):
        t.write(tmp_path / "some.txt")


def test_reviewing_participants_leaves_out_whoever_is_not_known():
    from pyrovice import participants

    t = Triplets([[0, 1, 2]] * 4, [0, 1, 2, 0], participants=["a", None, "b", "a"])
    found = participants.review(t, lambda data: pd.Series({"a": True, "b": False}))
    assert found.table.index.tolist() == ["a", "b"]
    assert found.kept(t).participants.tolist() == [None, "b"]


def test_rows_in_ascending_order():
    rng = np.random.default_rng(0)
    ids = rng.integers(-3, 3, (500, 3)).astype(np.int32)
    column = rng.integers(0, 3, 500)
    ascending, position = in_ascending_order(ids, column)
    np.testing.assert_array_equal(ascending, np.sort(ids, axis=1))
    chosen = ids[np.arange(500), column]
    np.testing.assert_array_equal(np.sort(ids, axis=1)[np.arange(500), position], chosen)
