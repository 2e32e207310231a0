"""Split halves, groups of people, exclusions: what reviewers ask, in one call each."""

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by

import pyrovice as pv
from pyrovice import DataError, PyroviceError
from pyrovice.criticism.fits_alike import likeness, matched, share_as_large

SHORT = {"dimensions": 5, "training": pv.Training(schedule=pv.Anneal(steps=150))}
TRUTH = sparse_embedding(20, 3, seed=0)


@pytest.fixture(scope="module")
def crowd():
    people = differing_people(10, 3, weights=0.1, temperature=0.1)
    return judged_by(people, TRUTH, 400, seed=1)


def test_measures_are_correlations():
    rng = np.random.default_rng(0)
    X, Y = rng.gamma(1.0, 1.0, (2, 30, 4))
    S, T = X @ X.T, Y @ Y.T
    pairs = [(i, j) for i in range(30) for j in range(i)]
    expected = np.corrcoef([[S[p] for p in pairs], [T[p] for p in pairs]])[0, 1]
    assert likeness(S, T) == pytest.approx(expected)
    assert matched(X, X[:, ::-1]) == pytest.approx(1.0)
    r = np.corrcoef(X.T, Y.T)[:4, 4:]
    assert matched(X, Y) == pytest.approx((r.max(0).sum() + r.max(1).sum()) / 8)
    assert share_as_large(np.arange(9.0), 7.0) == pytest.approx(3 / 10)


@pytest.mark.parametrize("by", ["judgments", "people"])
def test_what_is_there_comes_back_in_the_other_half(crowd, by):
    found = pv.split_half(crowd, by=by, splits=2, permutations=99, **SHORT)
    # Measured .95 and .83: half as many judgments know their dimensions less well.
    assert found.summary.correlation["similarity"] > 0.9
    assert found.summary.correlation["dimensions"] > 0.65
    r = found.summary.correlation["similarity"]
    assert found.summary.corrected["similarity"] == pytest.approx(2 * r / (1 + r))
    assert (found.summary.p_value == 0.01).all()
    assert abs(found.null["similarity"].mean()) < 0.05
    assert (found.table.judgments_1 + found.table.judgments_2 == len(crowd)).all()
    assert f"Halves of the {by}, 2 splits" in repr(found)


def test_groups_that_differ_are_told_from_groups_that_do_not(crowd):
    other = judged_by(
        differing_people(10, 3, weights=0.1, temperature=0.1).rename(lambda who: f"q{who}"),
        TRUTH[:, [1, 2, 0]][::-1],
        400,
        seed=2,
    )
    both = pv.Triplets.concat([crowd, other])
    groups = {who: "q" if who.startswith("q") else "p" for who in both.people()}
    found = pv.compare_groups(both, groups, permutations=9, **SHORT)
    assert found.p_value["similarity"] == pytest.approx(0.1)  # the least that nine can give
    # Measured 1.06, and by chance up to .47.
    assert found.observed["similarity"] > 2 * found.null["similarity"].max()
    assert (found.people, found.judgments) == ((10, 10), (4000, 4000))
    half = {who: "even" if i % 2 else "odd" for i, who in enumerate(crowd.people())}
    same = pv.compare_groups(crowd, half, permutations=9, **SHORT)
    assert same.p_value["similarity"] > 0.1
    assert "people exchanged 9 times" in repr(same)


def test_excluding_somebody_like_the_others_changes_no_more_than_chance(crowd):
    found = pv.exclusion_effect(crowd, ["p003"], others=9, **SHORT)
    table = found.table
    assert table.loc["everybody", "similarity"] == pytest.approx(0, abs=1e-9)
    own = table.loc["without them"]
    assert own.judgments == len(crowd) - (crowd.participants == "p003").sum()
    assert len(table) == 11
    assert found.p_value["similarity"] > 0.1
    assert "Without 1 person (p003)" in repr(found)


def test_a_review_can_be_given(crowd):
    result = pv.participants.review(crowd, lambda data: pd.Series(True, index=["p001", "p002"]))
    found = pv.exclusion_effect(crowd, result, others=1, **SHORT)
    assert found.excluded == ("p001", "p002")
    assert "Without 2 people (p001, p002)" in repr(found)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda d: pv.split_half(d, by="rows"), PyroviceError, "expected 'judgments' or 'people'"),
        (lambda d: pv.split_half(d, prio=1), TypeError, "Got prio=.*expected arguments of fit"),
        (
            lambda d: pv.split_half(pv.Triplets(d.objects, d.odd), by="people"),
            DataError,
            "these judgments name 0; give participants",
        ),
        (lambda d: pv.compare_groups(d, {"p001": "a"}), DataError, r"There are 1 groups .*\(a\)"),
        (
            lambda d: pv.compare_groups(d, {"p001": "a", "p002": "b", "p003": "b"}),
            DataError,
            "only one person",
        ),
        (lambda d: pv.exclusion_effect(d, ["zoe"]), DataError, "excluded is 'zoe'; expected some"),
        (lambda d: pv.exclusion_effect(d, []), DataError, "excluded is nobody"),
    ],
)
def test_what_cannot_be_asked_is_said(crowd, call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(crowd)
