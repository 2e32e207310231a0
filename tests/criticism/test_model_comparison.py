import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.criticism.better_choice import which_choice
from pyrovice.results.arviz_versions import import_arviz

SHORT = pv.Training(schedule=pv.Anneal(steps=300))

pytestmark = pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")


@pytest.fixture(scope="module")
def data():
    """30 objects in 4 dimensions."""
    return pv.simulate(sparse_embedding(30, 4, seed=3), 5000, seed=3)


@pytest.fixture(scope="module")
def fits(data):
    return {
        name: pv.fit(data, dimensions=dimensions, training=SHORT, progress=False)
        for name, dimensions in {"four": 4, "two": 2, "one": 1}.items()
    }


def test_the_true_number_of_dimensions_comes_first(data, fits):
    table = pv.compare(fits, data)
    assert table.index.tolist() == ["four", "two", "one"]
    assert table.elpd_diff.iloc[0] == 0
    assert (table.elpd_diff.iloc[1:] > 5 * table.dse.iloc[1:]).all()
    assert (table.judgments == len(data)).all()


def test_what_it_says_is_what_arviz_says(data, fits):
    table = pv.compare(fits, data, draws=200, seed=4)
    container = fits["two"].to_arviz(data, draws=200, seed=4)
    with warnings.catch_warnings():
        # A few judgments have a high Pareto k, which the table counts.
        warnings.simplefilter("ignore", UserWarning)
        loo = import_arviz().loo(container)
    elpd = loo.elpd_loo if hasattr(loo, "elpd_loo") else loo.elpd
    np.testing.assert_allclose(table.loc["two", "elpd_loo"], elpd, rtol=1e-6)
    np.testing.assert_allclose(table.loc["two", "se"], loo.se, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["too few dimensions", "a tight prior", "a flat prior"])
def test_leave_one_out_and_folds_agree_in_sign(data, case):
    other = {
        "too few dimensions": {"dimensions": 2},
        "a tight prior": {"dimensions": 4, "prior": dist.Normal(0.0, 0.1)},
        "a flat prior": {"dimensions": 12, "prior": dist.Normal(0.0, 3.0)},
    }[case]
    few = data if case != "a flat prior" else data.subset(1200, seed=0)
    fits = {
        "right": pv.fit(few, dimensions=4, progress=False),
        "wrong": pv.fit(few, **other, progress=False),
    }
    table = pv.compare(fits, few, folds=5)
    assert table.loc["wrong", "elpd_diff"] > 2 * table.loc["wrong", "dse"]
    assert table.loc["wrong", "diff_kfold"] > 2 * table.loc["wrong", "dse_kfold"]
    assert table.loc["right", "elpd_diff"] == table.loc["right", "diff_kfold"] == 0


def test_folds_score_every_judgment_once_by_a_fit_without_it(data, fits):
    few = data.subset(600, seed=0)
    fit = pv.fit(few, dimensions=2, training=SHORT, progress=False)
    table = pv.compare({"two": fit}, few, folds=2, draws=50)
    by_hand = 0.0
    for train, test in few.folds(2, seed=0):
        again = pv.fit(train, dimensions=2, training=SHORT, progress=False)
        p = again.predict(test, draws=50, seed=0)
        by_hand += np.log(p[np.arange(len(test)), test.odd]).sum()
    np.testing.assert_allclose(table.loc["two", "elpd_kfold"], by_hand, rtol=1e-6)


def test_point_estimates_are_compared_by_folds(data):
    few = data.subset(600, seed=0)
    point = pv.spose(few, rate=5.0, dimensions=2, training=SHORT, progress=False)
    with pytest.raises(pv.PyroviceError, match=r"point estimate.*folds=5"):
        pv.compare({"spose": point}, few)
    table = pv.compare({"spose": point}, few, folds=2, draws=5)
    assert "elpd_loo" not in table
    assert table.loc["spose", "elpd_kfold"] < 0


def test_bad_arguments_get_a_sentence(data, fits):
    with pytest.raises(pv.PyroviceError, match="expected fits by name"):
        pv.compare(list(fits.values()), data)
    with pytest.raises(pv.PyroviceError, match="'four' was fitted to other judgments"):
        pv.compare(fits, data[:100])
    with pytest.raises(pv.PyroviceError, match="folds=1; expected a whole number of at least 2"):
        pv.compare(fits, data, folds=1)


LAPSE = pv.choices.DotProduct(lapse=dist.Beta(1, 20))


@pytest.mark.parametrize(
    ("nats", "found"),
    [
        (31.0, "clearly better than that of 'plain', the best with another: by 31.0 nats with a "),
        (9.0, "No choice predicts clearly better: 'lapse' is ahead of 'plain'"),
    ],
)
def test_what_it_says_of_choices_is_what_to_type(fits, nats, found):
    plain = fits["four"]
    lapsing = replace(plain, model=pv.Model(plain.prior, plain.model.n_objects, 4, choice=LAPSE))
    table = pd.DataFrame(
        {"elpd_diff": [0.0, nats, nats + 1], "dse": [0.0, 5.0, 5.0]},
        index=["lapse", "plain", "two"],
    )
    says = which_choice(table, {"plain": plain, "lapse": lapsing, "two": fits["two"]})
    assert found in says
    typed = eval(says.rpartition("choice=")[2].removesuffix("."))
    assert typed == (LAPSE if nats > 10 else pv.choices.DotProduct())


def test_a_table_of_one_choice_says_nothing_of_choices(data, fits):
    assert pv.compare({"one": fits["one"]}, data[:], draws=50).attrs == {}
