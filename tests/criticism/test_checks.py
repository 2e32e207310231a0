from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from scipy.stats import chisquare

import pyrovice as pv
from pyrovice.criticism.checks.one_check import Check, run_checks
from pyrovice.criticism.checks.statistics import (
    Agreement,
    CannotTellError,
    Lapses,
    OddObjects,
    OwnWeights,
    ParticipantAccuracy,
    Positions,
    Surprises,
    statistics_for,
)
from pyrovice.model.simulation import choice_probabilities
from pyrovice.results.prediction import draw_answers


def world(kind, seed, n=6000, people=20):
    """Judgments of 40 objects in 4 dimensions, with something wrong or not."""
    X = sparse_embedding(40, 4, seed)
    t = pv.simulate(X, n, seed=seed)
    rng = np.random.default_rng([seed, 7])
    odd, who = t.odd.copy(), rng.integers(0, people, n)
    if kind == "random answers":
        lapses = rng.random(n) < 0.2
        odd[lapses] = rng.integers(0, 3, lapses.sum())
    elif kind == "position":
        odd[rng.random(n) < 0.1] = 0
    elif kind == "two groups":
        sees = [X * (np.arange(4) < 2), X * (np.arange(4) >= 2)]
        p = [choice_probabilities(seen, t.objects) for seen in sees]
        odd = draw_answers(np.where((who % 2 == 0)[:, None], *p), rng)
    elif kind == "one who guesses":
        odd[who == 0] = rng.integers(0, 3, (who == 0).sum())
    return pv.Triplets(t.objects, odd, names=t.names, participants=who)


def checked(kind, seed, **options):
    data = world(kind, seed, **options)
    fit = pv.fit(data, dimensions=8, seed=seed, progress=False)
    return pv.checks.report(fit, data)


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("nothing wrong", None),
        ("random answers", "surprises"),
        ("position", "positions"),
        ("two groups", "own weights"),
        ("one who guesses", "participant accuracy"),
    ],
)
def test_what_is_wrong_is_flagged(kind, flag):
    report = checked(kind, seed=1)
    assert report.flagged == ([] if flag is None else report.flagged)
    assert flag is None or flag in report.flagged
    if flag is not None:
        assert report.checks[flag].means in repr(report).replace("\n", " ")
    else:
        assert "Nothing is flagged" in repr(report)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_right_models_are_flagged_at_about_the_nominal_rate():
    flags = [checked("nothing wrong", seed).flagged for seed in range(50)]
    # 5 % of 50 is 2.5; seven or more would have a probability of 0.012.
    assert sum(map(bool, flags)) <= 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("random answers", "surprises"),
        ("position", "positions"),
        ("two groups", "own weights"),
    ],
)
@pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
def test_wrong_models_are_flagged_again_and_again(kind, flag):
    assert sum(flag in checked(kind, seed).flagged for seed in range(10)) >= 9


def test_statistics_by_hand(small_fit):
    t = pv.Triplets(
        [[0, 1, 2], [0, 1, 2], [0, 1, 3]],
        [0, 1, 2],
        names=small_fit.names,
        participants=["a", "a", "b"],
    )
    p = np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
    assert Agreement.of(small_fit, t)(t.odd, p) == 0.5
    assert Agreement.of(small_fit, t)(np.array([1, 1, 2]), p) == 1.0
    # Object 0 was odd once and 1.2 times expected, and so on.
    expected = np.array([1.2, 0.7, 0.5, 0.6])
    variance = np.array([0.5 + 0.16, 0.375 + 0.16, 0.375, 0.24])
    np.testing.assert_allclose(
        OddObjects.of(small_fit, t)(t.odd, p),
        ((np.array([1, 1, 0, 1]) - expected) ** 2 / variance).sum(),
    )
    np.testing.assert_allclose(
        Positions.of(small_fit, t)(t.odd, p),
        ((1 - p.sum(0)) ** 2 / (p * (1 - p)).sum(0)).sum(),
    )
    # "a" was predicted right once of two, 1.0 expected; "b" once of one, 0.6 expected.
    np.testing.assert_allclose(
        ParticipantAccuracy.of(small_fit, t)(t.odd, p), 0 / 0.5 + 0.4**2 / 0.24
    )


def test_own_weights_are_slopes_of_the_log_likelihood(small, small_fit):
    """The score by finite differences of a weight for one dimension."""
    t = pv.Triplets(small.objects[:60], small.odd[:60], participants=np.arange(60) % 2)
    X = small_fit.embedding().to_numpy().astype(float)
    p = choice_probabilities(X, t.objects)
    got = OwnWeights.of(small_fit, t)._slopes(t.odd, p)
    eps = 1e-5
    for person in range(2):
        rows = np.flatnonzero(t.participants == person)
        for k in range(X.shape[1]):

            def log_likelihood(weight, rows=rows, k=k):
                scaled = X.copy()
                # A weight of 1 + w on a dimension of S is its square root on X.
                scaled[:, k] *= np.sqrt(1 + weight)
                q = choice_probabilities(scaled, t.objects[rows])
                return np.log(q[np.arange(len(rows)), t.odd[rows]]).sum()

            slope = (log_likelihood(eps) - log_likelihood(-eps)) / (2 * eps)
            np.testing.assert_allclose((got[0] - got[1])[person, k], slope, rtol=1e-3, atol=1e-4)


def test_real_and_drawn_answers_together_are_what_each_is_alone(small, small_fit, monkeypatch):
    t = pv.Triplets(small.objects[:60], small.odd[:60], participants=np.arange(60) % 2)
    p = choice_probabilities(small_fit.embedding().to_numpy().astype(float), t.objects)
    drawn = draw_answers(p, np.random.default_rng(0))
    own = OwnWeights.of(small_fit, t)
    expected, calls = own._expected(p), []
    apart = own(t.odd, p), own(drawn, p)
    monkeypatch.setattr(OwnWeights, "_expected", lambda self, p: calls.append(p) or expected)
    assert own.of_both(t.odd, drawn, p) == apart
    assert len(calls) == 1


def test_tail_area_by_hand():
    def area(observed, replicated, one_sided):
        observed = np.full(len(replicated), observed)
        return Check("", "", observed, np.array(replicated), one_sided, None, 1).tail_area

    drawn = np.arange(1.0, 100.0)
    assert area(100.0, drawn, one_sided=True) == 0.01
    assert area(0.0, drawn, one_sided=True) == 1.0
    assert area(0.0, drawn, one_sided=False) == 0.02
    assert area(50.0, drawn, one_sided=False) == 1.0


def test_positions_on_the_screen(small, small_fit):
    """A bias to the left key is found where it is, whatever the ids."""
    rng = np.random.default_rng(0)
    order = rng.permuted(np.tile([0, 1, 2], (len(small), 1)), axis=1)
    shown = np.take_along_axis(small.objects, order, axis=1)
    column = np.argmax(order == small.odd[:, None], axis=1)
    column[rng.random(len(small)) < 0.15] = 0
    data = pv.Triplets.from_array(shown, odd=column, names=small.names)
    places = data.trials[["place_1", "place_2", "place_3"]]
    np.testing.assert_array_equal(places, np.argsort(order, axis=1) + 1)
    check = pv.checks.check(small_fit, data, pv.checks.Positions)
    assert check.tail_area < 0.005
    observed = check.details.observed
    np.testing.assert_array_equal(observed, np.bincount(column))
    # Objects were placed at random, so each place is expected equally often.
    assert chisquare(check.details.expected).pvalue > 0.2
    by_id = pv.Triplets(data.objects, data.odd, names=small.names)
    assert pv.checks.check(small_fit, by_id, pv.checks.Positions).tail_area > 0.005


def test_answers_are_not_drawn_from_the_numbers_of_a_users_seed(small, small_fit):
    """Participants assigned with the seed of the check must not go with its answers."""
    who = np.random.default_rng(0).integers(0, 20, len(small))
    data = pv.Triplets(small.objects, small.odd, names=small.names, participants=who)
    drawn = pv.checks.check(small_fit, data, pv.checks.ParticipantAccuracy, seed=0).replicated
    assert drawn[0] < 60  # chi-squared of 20 degrees of freedom; 200 and more if they did


def test_a_statistic_of_ones_own(small, small_fit):
    def longest_run(odd, probabilities):
        changes = np.flatnonzero(np.diff(odd))
        return np.diff(changes, prepend=-1, append=len(odd) - 1).max()

    check = pv.checks.check(small_fit, small, longest_run, draws=100)
    assert check.name == "longest_run"
    assert check.tail_area > 0.05
    same = pv.Triplets(small.objects, np.sort(small.odd), names=small.names)
    assert pv.checks.check(small_fit, same, longest_run, draws=100).tail_area < 0.05


def test_what_the_judgments_cannot_tell(small, small_fit):
    distinct = small[small.distinct_judgments()[0]]
    once = distinct[np.unique(distinct._questions(), return_index=True)[1]]
    report = pv.checks.report(small_fit, once)
    assert set(report.not_checked) == {"agreement", "participant accuracy", "own weights"}
    assert "no triplet was judged more than once" in repr(report)
    with pytest.raises(pv.DataError, match="agreement cannot be checked: no triplet"):
        pv.checks.check(small_fit, once, pv.checks.Agreement)
    with pytest.raises(CannotTellError, match="one participant"):
        OwnWeights.of(small_fit, pv.Triplets([[0, 1, 2]], [0], participants=["x"]))


def test_a_part_of_large_data_keeps_repeats_together(small, small_fit, monkeypatch):
    monkeypatch.setattr("pyrovice.criticism.checks.one_check.MOST_JUDGMENTS", 1000)
    report = pv.checks.report(small_fit, small)
    assert report.total == 3000
    assert 990 <= report.n <= 1010
    assert "of 3,000 judgments" in repr(report)
    checks, _ = run_checks(small_fit, small, [Agreement], 50, 0)
    assert checks[0].n == report.n


def test_details_and_table(small, small_fit):
    report = pv.checks.report(small_fit, small)
    odd = report.checks["odd objects"].details
    assert odd.observed.sum() == len(small)
    np.testing.assert_allclose(odd.expected.sum(), len(small), rtol=1e-5)
    assert odd.shown.sum() == 3 * len(small)
    assert list(report.table.columns) == [
        "observed", "drawn", "5 %", "95 %", "tail_area", "flagged",
    ]  # fmt: skip
    figure = pv.plot.checks(report)
    assert [axes.get_title().split("\n")[0] for axes in figure.axes] == list(report.checks)


def test_bad_arguments_get_a_sentence(small, small_fit):
    with pytest.raises(pv.PyroviceError, match="alpha=2"):
        pv.checks.report(small_fit, small, alpha=2)
    with pytest.raises(
        pv.PyroviceError, match="draws=100; expected a whole number of at least 320"
    ):
        pv.checks.report(small_fit, small, draws=100)
    with pytest.raises(TypeError, match=r"pv\.checks\.Agreement"):
        pv.checks.check(small_fit, small, "agreement")
    with pytest.raises(TypeError, match="expected Triplets"):
        pv.checks.report(small_fit, small.objects)
    strangers = pv.simulate(np.eye(3).repeat(3, axis=0), 100, seed=0)
    with pytest.raises(pv.DataError, match="other objects"):
        pv.checks.report(small_fit, strangers)


def test_the_check_of_weights_says_what_to_type(small_fit, people_fit, people_data):
    own = pv.checks.check(small_fit, people_data, pv.checks.OwnWeights, draws=20)
    assert "people=pv.People()" in own.means
    assert own.name == "own weights"
    beyond = pv.checks.check(people_fit, people_data, pv.checks.OwnWeights, draws=20)
    assert beyond.name == "own weights"
    assert "than their fitted weights" in beyond.means
    # What the model has learned is no longer amiss.
    assert own.tail_area < 0.05 < beyond.tail_area


def test_lapses_by_hand(small_fit):
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.0, 0.7, 0.3]])
    # The last three are against the most probable one; of a tie, the first is the least probable.
    assert Lapses()(np.array([0, 0, 1, 2]), p) == pytest.approx(2 / 3)
    assert Lapses()(np.array([0, 1, 2, 1]), p) == 0
    with pytest.raises(CannotTellError, match="no lapses"):
        Lapses.of(small_fit, None)


def test_checks_of_choices_say_what_to_type(small_fit, small):
    assert "lapse=dist.Beta(1, 20)" in Surprises.of(small_fit, small).means
    guessing = replace(
        small_fit,
        model=pv.Model(
            small_fit.prior, small.n_objects, 2, choice=pv.choices.DotProduct(lapse=0.1)
        ),
    )
    assert "lapses explain" in Surprises.of(guessing, small).means
    assert isinstance(Lapses.of(guessing, small), Lapses)
    assert statistics_for(guessing)[-1] is Lapses
    assert Lapses not in statistics_for(small_fit)
    places = pd.DataFrame(np.tile([1, 2, 3], (len(small), 1))).set_axis(
        ["place_1", "place_2", "place_3"], axis=1
    )
    told = pv.Triplets(small.objects, small.odd, names=small.names, trials=places)
    assert "position=dist.Normal(0, 0.3)" in Positions.of(small_fit, told).means
    assert "position=" not in Positions.of(small_fit, small).means
