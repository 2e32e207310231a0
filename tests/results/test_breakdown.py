import numpy as np
import pytest

import pyrovice as pv
from pyrovice.results.breakdown import break_down
from pyrovice.results.scores import evaluate


@pytest.fixture(scope="module")
def judged(small):
    who = np.array(["ann", "bob", "cid"])[np.arange(len(small)) % 3]
    return pv.Triplets(small.objects, small.odd, names=small.names, participants=who)


def test_by_object_is_the_evaluation_of_its_judgments(judged, small_fit):
    table = small_fit.breakdown(judged, by="object", draws=10)
    assert table.index.tolist() == list(judged.names)
    p = small_fit.predict(judged, draws=10)
    for name in judged.names[:3]:
        shown = (judged.objects == int(name)).any(axis=1)
        alone = evaluate(p[shown], judged[shown])
        row = table.loc[name]
        assert row.n == alone.n
        assert row.accuracy == pytest.approx(alone.accuracy)
        assert row.cross_entropy == pytest.approx(alone.cross_entropy)
    assert table.n.sum() == 3 * len(judged)


def test_by_participant(judged, small_fit):
    table = small_fit.breakdown(judged, by="participant")
    assert table.index.tolist() == ["ann", "bob", "cid"]
    overall = small_fit.evaluate(judged)
    assert np.average(table.accuracy, weights=table.n) == pytest.approx(overall.accuracy)
    # The model expects about what it gets, give or take a standard error or three.
    assert (np.abs(table.accuracy - table.expected_accuracy) < 3 * table.accuracy_se).all()


def test_someone_who_answers_at_random_is_seen(judged, small_fit):
    odd = judged.odd.copy()
    careless = judged.participants == "bob"
    odd[careless] = np.random.default_rng(0).integers(0, 3, careless.sum())
    data = pv.Triplets(judged.objects, odd, names=judged.names, participants=judged.participants)
    table = small_fit.breakdown(data, by="participant")
    behind = (table.expected_accuracy - table.accuracy) / table.accuracy_se
    assert behind.idxmax() == "bob"
    assert behind["bob"] > 5


def test_objects_that_nobody_judged_are_there():
    t = pv.Triplets([[0, 1, 2]], [0], names=["a", "b", "c", "d"])
    table = break_down(np.array([[0.5, 0.3, 0.2]]), t)
    assert table.n.tolist() == [1, 1, 1, 0]
    assert np.isnan(table.accuracy["d"])


def test_bad_arguments(small, small_fit):
    with pytest.raises(pv.PyroviceError, match="expected one of 'object', 'participant'"):
        small_fit.breakdown(small, by="trial")
    with pytest.raises(pv.DataError, match="do not say who made them"):
        small_fit.breakdown(small, by="participant")


def test_judgments_of_nobody_who_is_known_are_the_last_row(judged, small_fit):
    who = judged.participants.astype(object)
    who[:100] = None
    some = pv.Triplets(judged.objects, judged.odd, names=judged.names, participants=who)
    p = small_fit.predict(judged, draws=10)
    table = break_down(p, some, "participant")
    assert table.index.tolist() == ["ann", "bob", "cid", None]
    assert table.n.sum() == len(judged)
    alone = evaluate(p[:100], judged[:100])
    assert table.n.iloc[-1] == 100
    assert table.cross_entropy.iloc[-1] == pytest.approx(alone.cross_entropy)
    nobody = pv.Triplets(judged.objects, judged.odd, participants=np.full(len(judged), None))
    assert break_down(p, nobody, "participant").index.tolist() == [None]
