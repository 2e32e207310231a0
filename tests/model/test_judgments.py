import itertools

import numpy as np
import torch

import pyrovice as pv
from pyrovice.model.choices import DotProduct
from pyrovice.model.judgments import Judgments


def all_triplets(m):
    return np.array(list(itertools.combinations(range(m), 3)))


def log_likelihood(X, judgments):
    return DotProduct()(X, judgments).gather(-1, judgments.odd[:, None]).squeeze(-1)


def test_aggregated_judgments_stand_for_all_of_them():
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.random((6, 3)))
    t = pv.simulate(rng.random((6, 3)), 500, seed=0)
    few = Judgments.aggregated(t)
    assert len(few) <= 60
    assert few.weight.sum() == 500
    torch.testing.assert_close(
        (log_likelihood(X, few) * few.weight).sum(), log_likelihood(X, Judgments.of(t)).sum()
    )


def test_distinct_judgments_are_left_as_they_are():
    t = pv.Triplets(all_triplets(8), np.zeros(56))
    assert Judgments.aggregated(t).weight is None


def test_parts_are_a_partition():
    t = pv.simulate(np.random.default_rng(0).random((9, 2)), 1000, seed=0)
    whole = Judgments.of(t)
    parts = whole.parts(300)
    assert [len(part) for part in parts] == [300, 300, 300, 100]
    rows = torch.cat([part.rows for part in parts])
    assert sorted(rows.tolist()) == list(range(1000))
    for part in parts:
        assert part.total == 1000
        assert torch.equal(part.pairs, whole.pairs[:, part.rows])
        assert torch.equal(part.odd, whole.odd[part.rows])


def two_people(n=600):
    t = pv.simulate(np.random.default_rng(0).random((5, 2)), n, seed=1)
    who = np.where(np.arange(n) % 3 == 0, "bob", "ann")
    return pv.Triplets(t.objects, t.odd, participants=who)


def test_people_are_kept_apart_where_they_are_asked_for():
    data = two_people()
    together, apart = Judgments.aggregated(data), Judgments.aggregated(data, people=("ann", "bob"))
    assert together.person is None
    assert len(together) == 30 < len(apart) <= 60
    assert apart.weight.sum() == together.weight.sum() == 600
    rows = {
        (*pair.tolist(), odd.item(), person.item()): times.item()
        for pair, odd, person, times in zip(
            apart.pairs.T, apart.odd, apart.person, apart.weight, strict=True
        )
    }
    everyone = Judgments.of(data, people=("ann", "bob"))
    for key, times in rows.items():
        same = (torch.tensor(key[:3]) == everyone.pairs.T).all(1) & (everyone.odd == key[3])
        assert (same & (everyone.person == key[4])).sum() == times


def test_somebody_whom_the_model_does_not_know():
    data = two_people()
    person = Judgments.of(data, people=("bob",)).person
    assert torch.equal(person, torch.where(torch.arange(600) % 3 == 0, 0, -1))
    assert Judgments.of(pv.Triplets(data.objects, data.odd), people=("bob",)).person.eq(-1).all()
    assert torch.equal(Judgments.of(data, people=("bob",))[torch.tensor([3, 4])].person,
                       torch.tensor([0, -1]))  # fmt: skip
