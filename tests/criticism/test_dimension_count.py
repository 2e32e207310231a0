"""How many dimensions: exact parts first, then a count of known truth."""

import dataclasses
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.criticism.dimension_count import (
    number_of_events,
    probability_of_counts,
    real_probability,
    still_to_come,
)
from pyrovice.criticism.dimension_words import advice_about, evidence, judgments_to_settle, verdict
from pyrovice.criticism.recurring_dimensions import recurring
from pyrovice.inference.plan import Plan
from pyrovice.inference.progress import Progress
from pyrovice.inference.svi import Trainer
from pyrovice.results.matching import correlations, same_dimensions

QUICK = pv.Training(schedule=pv.Anneal(steps=120), stop=pv.MaxEpochs(120))


@pytest.fixture(scope="module")
def data():
    return pv.simulate(sparse_embedding(25, 3, seed=4), 3000, seed=4)


@pytest.fixture(scope="module")
def fit(data):
    return pv.fit(data, dimensions=5, training=QUICK, progress=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("refits")


@pytest.fixture(scope="module")
def found(fit, data, store):
    return fit.dimensionality(data, resamples=6, store=store, progress=False)


# ------------------------------------------------------------------ exact


def test_number_of_events_is_the_sum_over_all_outcomes():
    p = [0.2, 0.7, 0.9, 0.5]
    expected = np.zeros(5)
    for happened in product([0, 1], repeat=4):
        expected[sum(happened)] += np.prod(
            [q if h else 1 - q for q, h in zip(p, happened, strict=True)]
        )
    np.testing.assert_allclose(number_of_events(p), expected)


def test_probability_grows_with_returns_and_is_surer_with_more_refits():
    few, many = (real_probability(np.arange(n + 1), n) for n in (6, 24))
    assert (np.diff(few) > 0).all()
    assert few[0] > many[0]
    assert few[-1] < many[-1]
    # However many: they share their judgments.
    assert real_probability(500, 1000) < 0.95


def test_the_line_between_real_and_not_is_the_same_for_all_dimensions():
    # By drawing: a line, and for each dimension the share that it has in the long run.
    rng, returned = np.random.default_rng(0), np.array([2, 5, 7, 12])
    worth = 12 * 24 / (12 + 24)
    line = rng.beta(3, 4, (100_000, 1))
    share = rng.beta(worth * returned / 12 + 0.5, worth * (1 - returned / 12) + 0.5, (100_000, 4))
    counts = np.bincount((share > line).sum(axis=1), minlength=5) / len(line)
    found = probability_of_counts(returned, 12)
    np.testing.assert_allclose(found, counts, atol=0.006)
    np.testing.assert_allclose(real_probability(returned, 12), (share > line).mean(0), atol=0.006)
    # Apart they would be surer of the count than together.
    apart = number_of_events(real_probability(returned, 12))
    assert spread(apart) < 0.95 * spread(found)


def spread(p):
    n = np.arange(len(p))
    return np.sqrt(p @ n**2 - (p @ n) ** 2)


def test_recurring_finds_every_dimension_where_it_is():
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (60, 5))
    orders = [rng.permutation(5)[: rng.integers(3, 6)] for _ in range(6)]
    noisy = [X[:, order] + rng.normal(0, 0.1, (60, len(order))) for order in orders]
    common = recurring(noisy)
    assert common.columns.shape == (6, 5)
    which = np.abs(correlations(common.centres, X)).argmax(axis=1)
    for order, columns in zip(orders, common.columns, strict=True):
        for dimension, column in zip(which, columns, strict=True):
            there = np.flatnonzero(order == dimension)
            assert column == (there[0] if len(there) else -1)
    assert (np.diff(common.found.sum(axis=0)) <= 0).all()


def test_two_that_are_little_alike_are_not_one_because_of_their_mean():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 200))
    shared = (a + b) / 2**0.5, (a + c) / 2**0.5
    # Each correlates at .87 with the mean of both, at .5 with each other.
    assert np.corrcoef(shared[0], shared[0] + shared[1])[0, 1] > 0.8
    assert recurring([each[:, None] for each in shared]).columns.shape == (2, 2)


def test_embeddings_without_dimensions_recur_nowhere():
    X = np.random.default_rng(0).gamma(1.0, 1.0, (20, 2))
    assert recurring([X[:, :0], X[:, :0]]).columns.shape == (2, 0)
    assert recurring([X, X[:, :0], X]).found.sum() == 4


def test_matches_are_one_to_one_and_above_the_threshold():
    X = np.random.default_rng(1).gamma(1.0, 1.0, (50, 3))
    twice = np.c_[X[:, 0], X[:, 0] + 0.01 * X[:, 1], X[:, 2]]
    matched = same_dimensions(twice, X)
    assert sorted(matched.tolist()) == [-1, 0, 2]
    assert same_dimensions(X, X[:, :0]).tolist() == [-1, -1, -1]


def test_the_rate_is_a_multiple_of_the_automatic_one(data):
    rates = []
    for factor in (0.5, 1.0, 2.0):
        plan = Plan.of(
            data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=QUICK, seed=0,
            dimensions=5, rate_factor=factor,
        )  # fmt: skip
        with plan.isolated():
            run, task = plan.begin()
            rates.append(Trainer(run, task, None, Progress(False, 0, "")).rate)
    np.testing.assert_allclose(np.array(rates) / rates[1], [0.5, 1.0, 2.0])


# ------------------------------------------------------------------ the count


def test_count_and_table_of_a_known_truth(fit, data, found):
    truth = sparse_embedding(25, 3, seed=4)
    real = same_dimensions(fit.embedding().to_numpy(), truth) >= 0
    assert (found.low, found.count, found.high) == (3, 3, 3)
    in_fit = found.table[found.table.in_fit]
    assert in_fit.index.tolist() == fit.embedding().columns.tolist()
    assert (in_fit.probability[real] > 0.9).all()
    assert found.distribution.sum() == pytest.approx(1)
    assert found.headline == "3 dimensions (90 % interval 3 to 3)"
    assert "3 are certain" in found.advice
    assert found.headline in repr(found)
    assert "came back in all 6" in found._repr_html_()


def test_what_only_all_judgments_show_is_in_the_count(fit, data, found, store, monkeypatch):
    monkeypatch.setattr("pyrovice.inference.many_fits.fit_many", lambda plans: iter(()))
    monkeypatch.setattr("pyrovice.criticism.dimension_count.still_to_come", lambda refits: 2.0)
    again = fit.dimensionality(data, resamples=6, store=store, progress=False)
    n = np.arange(len(again.distribution))
    assert again.distribution.sum() == pytest.approx(1)
    mean = found.distribution @ n[: len(found.distribution)]
    # Smaller shares have all three of them here, so that nothing was to come.
    assert again.distribution @ n == pytest.approx(mean + 2 - found.to_come, abs=1e-6)
    assert (again.low, again.count, again.high) == (3, 5, 8)
    pd.testing.assert_frame_equal(again.table, found.table)


def test_dimensions_of_too_few_objects_to_be_kept():
    """Three of four objects each: by another rule the fit has them, and refits do not."""
    few = pv.simulate(1.5 * np.repeat(np.eye(3), 4, axis=0), 1500, seed=0)
    with pytest.warns(pv.PyroviceWarning, match="more than five objects"):
        fit = pv.fit(few, dimensions=4, training=QUICK, progress=False)
    for given in (fit, fit.prune(min_objects=2)):
        found = given.dimensionality(few, resamples=2, progress=False)
        assert (found.low, found.count, found.high) == (0, 0, 0)
        assert "more than 5 objects" in repr(found) or "none of 2" in found.table.evidence.iloc[0]
        assert "Empty" not in repr(found)
    assert given.n_dimensions == len(found.table) == 3


@pytest.mark.parametrize("most", [4, 12])
def test_growth_goes_on_with_the_logarithm_of_the_judgments(most):
    shares = np.repeat([0.2, 0.4, 0.6, 0.8], [3, 3, 3, most])
    # Five more with every doubling.
    refits = pd.DataFrame({"share": shares, "real": 10 + 5 * np.log2(shares)})
    assert still_to_come(refits) == pytest.approx(5 * np.log2(1 / 0.8) / 2)
    settled = refits.assign(real=np.minimum(refits.real, 10 + 5 * np.log2(0.6)))
    assert still_to_come(settled) == still_to_come(refits.assign(real=7)) == 0
    assert still_to_come(refits.assign(real=-refits.real)) == 0


def test_refits_are_of_all_shares_and_rates(found):
    assert len(found.refits) == 6 + 9
    assert sorted(found.refits.share.unique()) == [0.2, 0.4, 0.6, 0.8]
    assert found.refits.groupby(["share", "rate"]).size().unstack().notna().all().all()
    assert (found.refits.real <= found.refits.kept).all()


def test_what_is_stored_is_not_fitted_again(fit, data, found, store, monkeypatch):
    monkeypatch.setattr(
        "pyrovice.inference.many_fits.fit_many", lambda plans: iter(()) if not plans else 1 / 0
    )
    again = fit.dimensionality(data, resamples=6, store=store, progress=False)
    pd.testing.assert_frame_equal(again.table, found.table)
    # Another seed is another result.
    with pytest.raises(ZeroDivisionError):
        fit.dimensionality(data, resamples=6, store=store, seed=1, progress=False)


def test_the_learning_rate_of_the_fit_does_not_matter(data, found, store, monkeypatch):
    other = pv.fit(
        data, dimensions=5, progress=False, seed=3,
        training=pv.Training(learning_rate=0.3, schedule=QUICK.schedule, stop=QUICK.stop),
    )  # fmt: skip
    monkeypatch.setattr("pyrovice.inference.many_fits.fit_many", lambda plans: iter(()))
    again = other.dimensionality(data, resamples=6, store=store, progress=False)
    assert (again.count, again.low, again.high) == (found.count, found.low, found.high)


def test_a_dimension_that_the_fit_has_missed_is_counted(fit, data, found, store, monkeypatch):
    monkeypatch.setattr("pyrovice.inference.many_fits.fit_many", lambda plans: iter(()))
    less = dataclasses.replace(fit._select(fit.kept_positions()[1:]), pruned=True)
    again = less.dimensionality(data, resamples=6, store=store, progress=False)
    assert again.count == found.count
    row = again.table.loc["+1"]
    assert not row.in_fit
    top = fit.embedding()[1].idxmax()
    assert row.evidence.startswith("not in this fit, highest on ")
    assert top in row.evidence
    assert "1 of them is not in this fit" in again.advice


@pytest.mark.slow
def test_processes_give_the_same(fit, data, found):
    apart = fit.dimensionality(data, resamples=2, n_jobs=2, progress=False)
    here = fit.dimensionality(data, resamples=2, progress=False)
    pd.testing.assert_frame_equal(apart.table, here.table, rtol=1e-3)


def test_the_page_the_diagnosis_and_the_figure_have_it(fit, data, found, tmp_path):
    diagnosed = pv.diagnose(fit, data, dimensionality=found, refits=0)
    assert found.headline in diagnosed.table.found["How many dimensions are there?"]
    fit.report(tmp_path / "page.html", dimensionality=found)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "How many, really?" in page
    assert found.headline in page
    assert found.table.evidence.iloc[0] in page
    left, right = pv.plot.dimensionality(found).axes
    assert left.get_title(loc="left") == found.headline
    heights = sorted(bar.get_height() for bar in right.patches)
    np.testing.assert_allclose(heights, sorted(found.table.probability.clip(lower=0.008)))
    with pytest.raises(pv.PyroviceError, match="expected what fit"):
        pv.plot.dimensionality(fit)


def test_the_shell_says_the_same(fit, data, found, store, tmp_path):
    fit.save(tmp_path / "my.fit")
    data.write(tmp_path / "data.csv")
    arguments = [tmp_path / "my.fit", tmp_path / "data.csv", "--resamples", 6, "--store", store]
    files = ["-o", tmp_path / "table.csv", "--figure", tmp_path / "figure.png"]
    asked = ["dimensions", *arguments, *files, "--json", "--quiet"]
    said = CliRunner().invoke(app, [str(each) for each in asked])
    assert said.exit_code == 0, said.output
    record = json.loads(said.stdout)
    assert (record["count"], record["low"], record["high"]) == (3, 3, 3)
    assert len(record["dimensions"]) == len(found.table)
    table = pd.read_csv(tmp_path / "table.csv", index_col="dimension")
    np.testing.assert_allclose(table.probability, found.table.probability)
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_other_judgments_are_refused(fit, data):
    with pytest.raises(pv.DataError, match="not the judgments that were fitted"):
        fit.dimensionality(data[:1000])
    with pytest.raises(ValueError, match="resamples"):
        fit.dimensionality(data, resamples=1)


# ------------------------------------------------------------------ words


def table(*probabilities, lacking=0):
    n = len(probabilities)
    return pd.DataFrame(
        {
            "probability": probabilities,
            "verdict": [verdict(p) for p in probabilities],
            "in_fit": np.arange(n) < n - lacking,
        },
        index=range(1, n + 1),
    )


REFITS = pd.DataFrame({"share": [0.6, 0.8], "real": [3, 3]})


def test_advice_in_words():
    assert advice_about(table(1, 0.95), REFITS, 1000, None, 0.0) == "2 are certain."
    said = advice_about(table(1, 0.95, 0.7, 0.6, 0.2, 0.01), REFITS, 1000, 12_000, 0.0)
    assert said == (
        "2 are certain, 2 more are likely, 1 is possible; about 12,000 more judgments would settle "
        "them. Do not interpret dimension 6 yet: with fewer judgments it does not come back."
    )
    growing = REFITS.assign(real=[2, 3])
    said = advice_about(table(1), growing, 1000, None, 0.4)
    assert "still grows with the judgments" in said
    assert "only all" not in said
    said = advice_about(table(1), growing, 1000, None, 1.7)
    assert said.endswith("allow for about 2 dimensions that only all of them show.")
    assert "more than 10,000" in advice_about(table(0.7), REFITS, 1000, None, 0.0)


def test_evidence_names_rates_at_which_it_never_came_back():
    rates = np.array([0.5, 1.0, 2.0])
    said = evidence(np.array([True, False, False]), rates, 0.9, ())
    assert said.endswith("never at once or twice the automatic learning rate")
    said = evidence(np.array([True, False, True]), rates, 0.9, ())
    assert said.endswith("never at the automatic learning rate")
    assert "none of 3" in evidence(np.zeros(3, bool), rates, np.nan, ())


def test_judgments_to_settle_follow_the_slope():
    rng = np.random.default_rng(0)
    shares = np.repeat([0.2, 0.4, 0.6, 0.8], 50)
    odds = -0.5 + 3 * np.log(shares / 0.8)
    found = rng.random((200, 4)) < (1 / (1 + np.exp(-odds)))[:, None]
    # The odds of .75 are reached where -.5 + 3 log(times) = logit(.75).
    times = np.exp((np.log(0.75 / 0.25) + 0.5) / 3)
    assert judgments_to_settle(found, shares, 10_000, 0.8) == pytest.approx(
        (times - 1) * 10_000, rel=0.25
    )
    assert judgments_to_settle(found[:, :0], shares, 10_000, 0.8) is None
