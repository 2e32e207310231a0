import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyrovice as pv
from pyrovice import DataError, PyroviceError, Triplets


def judged(n, people, seed, m=8):
    """Few objects, so that most triplets recur; rows can be told apart by their trials."""
    t = pv.simulate(np.ones((m, 1)), n, seed=seed)
    rng = np.random.default_rng(seed)
    rows = np.arange(n)
    return Triplets(
        t.objects,
        t.odd,
        names=t.names,
        participants=rng.integers(0, people, n),
        trials=pd.DataFrame({"row": rows}),
    )


def rows(part):
    return part.trials.row.tolist()


def triplets(part):
    return set(map(tuple, part.objects.tolist()))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(2, 8), stratify=st.booleans())
def test_folds_test_every_judgment_once_and_keep_triplets_whole(seed, k, stratify):
    t = judged(300, 4, seed)
    folds = t.folds(k, seed=seed, stratify=stratify)
    assert len(folds) == k
    assert sorted(row for _, test in folds for row in rows(test)) == list(range(300))
    for train, test in folds:
        assert sorted(rows(train) + rows(test)) == list(range(300))
        assert not triplets(train) & triplets(test)
        # A triplet holds about 5 judgments here.
        assert abs(len(test) - 300 / k) < 30


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), fraction=st.floats(0.05, 0.5), stratify=st.booleans())
def test_partitions_are_disjoint_and_equal(seed, fraction, stratify):
    t = judged(2000, 4, seed, m=30)
    parts = t.partitions(fraction, seed=seed, stratify=stratify)
    assert len(parts) * fraction < 1 + 1e-6
    assert (len(parts) + 1) * fraction > 1 - 1e-6
    together = [row for part in parts for row in rows(part)]
    assert len(together) == len(set(together))
    for i, part in enumerate(parts):
        assert abs(len(part) - fraction * 2000) < 10
        assert not any(triplets(part) & triplets(other) for other in parts[:i])


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.5])
def test_the_papers_partitions_use_everything(small, fraction):
    parts = small.partitions(fraction, seed=0)
    assert len(parts) == round(1 / fraction)
    assert sum(map(len, parts)) == len(small)


def test_every_part_has_its_share_of_every_participant():
    rng = np.random.default_rng(0)
    t = pv.simulate(np.ones((200, 1)), 5000, seed=0)
    # From 11 to some 2,000 judgments each; with 200 objects nearly no triplet recurs.
    people = np.concatenate(
        [np.repeat(np.arange(20), 11), rng.choice(4, 4780, p=[0.6, 0.3, 0.05, 0.05]) + 20]
    )
    t = Triplets(t.objects, t.odd, names=t.names, participants=people)
    each = np.bincount(people)
    for shares in ((0.9, 0.1), (0.2,) * 5):
        parts = t.split(*shares, seed=1, stratify=True)
        for share, part in zip(shares, parts, strict=True):
            own = np.bincount(part.participants, minlength=24)
            assert np.all(np.abs(own - share * each) <= 1 + 0.002 * each)
    # Without it, some of those with 11 judgments have too many in one part.
    plain = np.bincount(t.split(0.9, 0.1, seed=1)[1].participants, minlength=24)
    assert np.any(np.abs(plain - 0.1 * each) > 1 + 0.002 * each)


def test_what_several_people_judged_stays_whole_when_stratified():
    t = judged(400, 3, seed=0)
    for train, test in t.folds(4, seed=0, stratify=True):
        assert not triplets(train) & triplets(test)


def test_an_anchored_question_stays_with_the_plain_one_about_the_same_objects():
    t = pv.simulate(np.ones((9, 1)), 500, seed=0)
    anchor = np.where(np.arange(500) % 2, (t.odd + 1) % 3, -1)
    t = Triplets(t.objects, t.odd, anchor=anchor)
    for train, test in t.folds(5, seed=0):
        assert not triplets(train) & triplets(test)


def test_the_same_seed_gives_the_same_parts(small):
    assert small.folds(3, seed=1)[0][1] == small.folds(3, seed=1)[0][1]
    assert small.folds(3, seed=1)[0][1] != small.folds(3, seed=2)[0][1]
    assert small.partitions(0.3, seed=1)[2] == small.partitions(0.3, seed=1)[2]


@pytest.mark.parametrize("fraction", [0, -0.1, 0.6, np.nan, "half", None])
def test_bad_partitions(small, fraction):
    with pytest.raises(DataError, match="above 0 and at most"):
        small.partitions(fraction, seed=0)


@pytest.mark.parametrize("k", [1, 0, 2.5, "five", True])
def test_bad_folds(small, k):
    with pytest.raises(PyroviceError, match=r"k=.*at least 2"):
        small.folds(k, seed=0)


def test_too_few_for_so_many_folds():
    with pytest.raises(DataError, match="too few"):
        Triplets([[0, 1, 2]] * 5, [0] * 5).folds(2, seed=0)


def test_only_known_participants_can_be_spread(small):
    with pytest.raises(DataError, match="do not say who judged"):
        small.split(0.5, 0.5, seed=0, stratify=True)
