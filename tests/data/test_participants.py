import numpy as np
import pandas as pd
import pytest

import pyrovice as pv
from pyrovice import DataError, Triplets
from pyrovice.data.agreement import agreement_with_others
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


def test_sets_of_single_responses_and_rules_that_exclude_everybody_are_said():
    data = judged(reaction_time={"ann": [700.0] * 100, "bob": [900.0] * 100})
    trials = data.trials.assign(set=np.arange(200))
    single = Triplets(data.objects, data.odd, participants=data.participants, trials=trials)
    with pytest.raises(pv.DataError, match="hold one response of a person"):
        TooFast()(single)
    found = pv.participants.review(data, TooFast(quick=2000, fast=2000))
    with pytest.raises(pv.DataError, match="exclude everybody, 2 people"):
        found.kept(data)


def test_a_rule_of_ones_own_is_called_after_its_function():
    data = judged(position={"ann": [1, 2], "bob": [1, 1]})

    def suspicious(data):
        return pd.Series({"bob": True})

    found = pv.participants.review(data, suspicious)
    assert found.exclusions["excluded_by"].to_dict() == {"bob": "suspicious"}
    assert "  suspicious: 1 (bob)" in repr(found)


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


def test_rules_in_words():
    assert [rule.in_words() for rule in (*THINGS, *FOOD)] == [
        "at least 5 sets of trials with 25 % of answers below 800 ms and 50 % below 1100 ms",
        "more than 40 % of at least 200 answers at one place",
        "a median reaction time below 500 ms",
        "at least one failed catch trial",
    ]
    assert FailedCatch(allowed=2).in_words() == "more than 2 failed catch trials"
    data = judged(position={"ann": [1] * 300, "bob": [1, 2, 3] * 100})
    once = review(data, OnePosition())
    assert once.exclusions["excluded_by"].tolist() == ["one place too often"]
    assert "one place too often (more than 40 % of at least 200 answers at" in repr(once)
    # Two of a kind are told apart.
    result = review(data, OnePosition(), OnePosition(share=0.9))
    assert result.exclusions["excluded_by"].tolist() == [
        "more than 40 % of at least 200 answers at one place; "
        "more than 90 % of at least 200 answers at one place"
    ]
    assert "OnePosition" not in repr(result)


def test_rules_that_cannot_tell(small):
    with pytest.raises(DataError, match="do not say who judged"):
        review(small, *THINGS)
    data = judged(position={"ann": [1] * 5})
    with pytest.raises(DataError, match="TooFast needs the column 'reaction_time'"):
        review(data, *THINGS)
    with pytest.raises(DataError, match="QuickOnTheWhole needs"):
        review(data, *FOOD)


def test_the_table_says_what_a_rule_is_chosen_by():
    data = judged(reaction_time={"ann": [400.0, np.nan, 900.0], "bob": [600.0, 800.0]})
    trials = data.trials.assign(position=[1, 1, 3, 2, 2])
    anchor = np.where(np.arange(5) == 2, (data.odd + 1) % 3, -1)
    data = Triplets(
        data.objects, data.odd, anchor=anchor, participants=data.participants, trials=trials
    )
    catch = pd.DataFrame({"participant": ["bob", "bob"], "passed": [False, False]})
    table = review(data, FailedCatch(catch=catch)).table
    assert table.index.tolist() == ["ann", "bob"]
    assert table.judgments.tolist() == [3, 2]
    assert table.median_time.tolist() == [650.0, 700.0]
    assert table.one_position.tolist() == [1.0, 1.0]
    assert table.catch_failed.tolist() == [0, 2]
    assert table.excluded.tolist() == [False, True]
    without = review(data)
    assert "catch_failed" not in without.table
    assert without.excluded == []
    assert len(without.kept(data)) == 5
    assert repr(without).startswith("2 participants, no rule applied\n")
    assert "median_time" in repr(without)


def plain_scores(data):
    """Of each judgment and answer: kept by others over what guessing would keep, by loops."""
    found = np.full((len(data), 3), -np.inf)
    for row in range(len(data)):
        for odd in range(3):
            if odd == data.anchor[row]:
                continue
            pair = set(np.delete(data.objects[row], odd))
            kept = guessed = 1.0
            for other in range(len(data)):
                mine = data.participants[row]
                own = mine is not None and data.participants[other] == mine
                left = [set(np.delete(data.objects[other], place)) for place in range(3)]
                if own or pair not in left or left.index(pair) == data.anchor[other]:
                    continue
                kept += left.index(pair) == data.odd[other]
                guessed += 1 / data.options[other]
            found[row, odd] = np.log(kept / guessed)
    return found


def test_agreement_is_with_the_counts_of_all_others():
    t = pv.simulate(np.eye(3).repeat(2, axis=0) * 2, 60, seed=0, anchored=0.3)
    who = np.array(["ann", "bob", "cid", None], dtype=object)[np.arange(60) % 4]
    data = Triplets(t.objects, t.odd, anchor=t.anchor, participants=who)
    score = plain_scores(data)
    hit = np.array(
        [
            (best := np.isclose(row, row.max()))[odd] / best.sum()
            for row, odd in zip(score, data.odd, strict=True)
        ]
    )
    found = agreement_with_others(data)
    assert sorted(found.index) == ["ann", "bob", "cid"]
    for person in found.index:
        assert found.agreement[person] == pytest.approx(hit[who == person].mean())

    told = np.flatnonzero(who != None)  # noqa: E711 (an array)

    def log_p(slope):
        p = np.exp(slope * score[told])
        return np.log(p[np.arange(len(told)), data.odd[told]] / p.sum(axis=1))

    slopes = np.linspace(0.005, 20, 4000)
    followed = np.exp(log_p(slopes[np.argmax([log_p(slope).sum() for slope in slopes])]))
    shares = np.linspace(0, 1, 2001)[:, None]
    for person in found.index:
        mine = who[told] == person
        mixed = shares / data.options[told][mine] + (1 - shares) * followed[mine]
        best = shares[np.log(mixed).sum(axis=1).argmax(), 0]
        assert found.lapse[person] == pytest.approx(best, abs=0.02)


def test_guesses_are_found():
    people = pd.DataFrame({"lapse": [0.001] * 8 + [0.6, 0.999]})
    data = pv.simulate(pv.load_example().embedding, 20_000, seed=3, people=people)
    table = review(data).table
    # Over five seeds at most .01 for the first eight, .49 to .55 and at least .99 for the others.
    assert table.lapse[:8].max() < 0.1
    assert 0.4 < table.lapse[8] < 0.7
    assert table.lapse[9] > 0.95
    assert table.agreement.nsmallest(2).index.tolist() == [9, 8]


def test_nobody_to_compare_with():
    data = judged(position={"ann": [1] * 5})
    assert agreement_with_others(data).isna().all(axis=None)
    assert review(data).table.lapse.isna().all()
