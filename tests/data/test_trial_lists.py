"""Lists of trials for experiment software, and the answers back."""

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv

NAMES = tuple("abcdefgh")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = np.sort([rng.choice(8, 3, replace=False) for _ in range(120)], axis=1)
    frame = pd.DataFrame(
        np.array(NAMES)[rows], columns=["object_1", "object_2", "object_3"], dtype=object
    )
    return frame.assign(gain=0.1, role=["ask"] * 100 + ["random"] * 20)


def test_a_list_has_every_triplet_once_in_another_order(table):
    found = pv.trial_list(table, seed=1)
    assert list(found) == ["trial", "left", "middle", "right", "role"]

    def content(frame):
        return sorted((*sorted(row[:3]), row[3]) for row in frame.to_numpy().tolist())

    assert content(found.iloc[:, 1:]) == content(table[[*table.columns[:3], "role"]])
    assert found.role.tolist() != table.role.tolist()
    pd.testing.assert_frame_equal(found, pv.trial_list(table, seed=1))


def test_every_object_stands_at_each_place_equally_often(table):
    found = pv.trial_list(table)
    times = np.array([found[["left", "middle", "right"]].eq(n).sum() for n in NAMES])
    assert (times.max(axis=1) - times.min(axis=1)).max() <= 3


def test_catch_trials_are_spread_and_have_one_odd_object(table):
    found = pv.trial_list(table, catch=3)
    catch = found[found.role == "catch"]
    assert catch.trial.tolist() == [31, 62, 93]
    assert [len(set(row)) for row in catch.iloc[:, 1:4].to_numpy().tolist()] == [2, 2, 2]


@pytest.mark.parametrize("way", ["zero", "one", "words", "names"])
def test_answers_come_back_with_roles(table, tmp_path, way):
    trials = pv.trial_list(table, catch=2, seed=2)
    place = np.random.default_rng(1).integers(0, 3, len(trials))
    shown = trials[["left", "middle", "right"]].to_numpy()
    odd = shown[np.arange(len(trials)), place]
    written = {
        "zero": place,
        "one": place + 1,
        "words": np.array(["left", "middle", "right"])[place],
    }
    trials["response"] = written.get(way, odd)
    trials["who"] = "ann"
    # What jsPsych writes for the instructions.
    trials = pd.concat([pd.DataFrame({"trial": [0]}), trials])
    trials.to_csv(tmp_path / "answers.csv", index=False)
    data = pv.read_answers(tmp_path / "answers.csv", names=NAMES, participant="who")
    assert len(data) == 120
    assert data.names == NAMES
    judged = trials[trials.role.isin(["ask", "random"])]
    assert data.trials.role.tolist() == judged.role.tolist()
    given = np.array(NAMES)[data.objects[np.arange(120), data.odd]]
    assert given.tolist() == odd[trials.role.iloc[1:] != "catch"].tolist()
    catch = trials.iloc[1:][(trials.role.iloc[1:] == "catch").to_numpy()]
    picked = odd[(trials.role.iloc[1:] == "catch").to_numpy()]
    passed = [
        [row.left, row.middle, row.right].count(one) == 1
        for row, one in zip(catch.itertuples(), picked, strict=True)
    ]
    assert data.reading.catch.passed.tolist() == passed
    assert data.reading.catch.participant.tolist() == ["ann", "ann"]


def test_what_is_unclear_is_asked_about(table):
    trials = pv.trial_list(table).assign(response=[1, 2] * 60)
    with pytest.raises(pv.DataError, match=r"not clear.*positions=\(0, 1, 2\)"):
        pv.read_answers(trials)
    assert len(pv.read_answers(trials, positions=(1, 2, 3))) == 120
    with pytest.raises(pv.DataError, match=r"no column 'key'.*answer="):
        pv.read_answers(trials, answer="key")
    with pytest.raises(pv.DataError, match="needs rows with the columns object_1"):
        pv.trial_list(trials)
