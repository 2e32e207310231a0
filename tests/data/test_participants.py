import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice import DataError, Triplets
from pyrovice.data.participants import (
    FOOD,
    THINGS,
    FailedCatch,
    OnePosition,
    QuickOnTheWhole,
    TooFast,
    review,
)


def judged(**columns):
    """Judgments of these people with these reaction times or positions, one list per person."""
    (name, by_person), *_ = columns.items()
    people = np.repeat(list(by_person), [len(values) for values in by_person.values()])
    n = len(people)
    t = pv.simulate(np.ones((9, 1)), n, seed=0)
    trials = pd.DataFrame({name: np.concatenate(list(by_person.values()))})
    return Triplets(t.objects, t.odd, participants=people, trials=trials)


def a_set(quick, fast, trials=20):
    """So many responses under 800 ms, so many more under 1,100 ms, the rest slower."""
    return [799.0] * quick + [1099.0] * fast + [1100.0] * (trials - quick - fast)


def test_too_fast_to_the_letter():
    data = judged(
        reaction_time={
            "five such sets": a_set(5, 5) * 5 + a_set(0, 0),
            "four such sets": a_set(5, 5) * 4 + a_set(4, 16) + a_set(9, 0),
            "fast enough but not quick": a_set(4, 16) * 9,
            "quick but not fast": a_set(9, 0) * 9,
            "a fifth that is not whole": a_set(5, 5) * 4 + a_set(19, 0, trials=19),
        }
    )
    excluded = TooFast()(data)
    assert excluded.index[excluded].tolist() == ["five such sets"]
    assert TooFast(sets=4)(data).sum() == 3


def test_sets_go_by_their_column_and_missing_times_do_not_count():
    data = judged(reaction_time={"ann": [700.0, 700.0, np.nan, 2000.0] * 5})
    sets = np.repeat(np.arange(5), 4)
    trials = data.trials.assign(set=sets)
    data = Triplets(data.objects, data.odd, participants=data.participants, trials=trials)
    # Two of three timed responses of each set are quick.
    assert TooFast()(data).tolist() == [True]
    assert TooFast(quick_share=0.6)(data).tolist() == [True]
    assert TooFast(quick_share=0.7)(data).tolist() == [False]


def test_one_position_to_the_letter():
    data = judged(
        position={
            "ann": [1] * 81 + [2] * 60 + [3] * 59,
            "bob": [1] * 80 + [2] * 60 + [3] * 60,
            "cas": [3] * 199,
        }
    )
    assert OnePosition()(data).to_dict() == {"ann": True, "bob": False, "cas": False}
    anchored = Triplets(
        data.objects,
        data.odd,
        anchor=(data.odd + 1) % 3,
        participants=data.participants,
        trials=data.trials,
    )
    assert not OnePosition()(anchored).any()


def test_the_rules_of_food():
    data = judged(reaction_time={"ann": [400.0, 450.0, 9000.0], "bob": [400.0, 600.0, 600.0]})
    assert QuickOnTheWhole()(data).to_dict() == {"ann": True, "bob": False}
    catch = pd.DataFrame({"participant": ["ann", "ann", "bob", "bob"], "passed": [1, 1, 1, 0]})
    assert FailedCatch(catch=catch)(data).to_dict() == {"ann": False, "bob": True}
    assert not FailedCatch(allowed=1, catch=catch)(data).any()
    result = review(data, QuickOnTheWhole(), FailedCatch(catch=catch))
    assert result.excluded == ["ann", "bob"]


def test_catch_trials_of_a_file(tmp_path):
    lines = ["head,winner,loser,worker_id,Center,Left,Right,Answer,sampleAlg"]
    lines += ["0,2,1,w1,ant,bee,cat,cat,random", "0,1,2,w2,ant,bee,cat,bee,random"]
    lines += ["0,0,1,w1,ant,ant,bee,ant,check", "0,1,0,w2,ant,ant,bee,bee,check"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    data = Triplets.read(tmp_path / "t.csv")
    result = review(data, FailedCatch())
    assert result.excluded == ["w2"]
    assert result.kept(data).participants.tolist() == ["w1"]
    with pytest.raises(DataError, match="no catch trials by participant"):
        review(data[:], FailedCatch())


def test_review_says_who_and_why_and_drops_nothing_by_itself():
    data = judged(position={"ann": [1] * 300, "bob": [1, 2, 3] * 100})
    result = review(data, OnePosition(), lambda data: OnePosition(share=0.2)(data))
    assert result.table["excluded"].to_dict() == {"ann": True, "bob": True}
    assert result.table[repr(OnePosition())].to_dict() == {"ann": True, "bob": False}
    assert "2 of 2 participants excluded, with 600 of 600 judgments" in repr(result)
    assert len(data) == 600
    only = review(data, OnePosition())
    assert only.excluded == ["ann"]
    assert set(only.kept(data).participants) == {"bob"}
    assert len(only.kept(data)) == 300


def test_rules_that_cannot_tell(small):
    with pytest.raises(DataError, match="do not say who judged"):
        review(small, *THINGS)
    data = judged(position={"ann": [1] * 5})
    with pytest.raises(DataError, match="TooFast needs the column 'reaction_time'"):
        review(data, *THINGS)
    with pytest.raises(DataError, match="QuickOnTheWhole needs"):
        review(data, *FOOD)
    with pytest.raises(DataError, match="no rule"):
        review(data)
