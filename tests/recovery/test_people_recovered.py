"""Simulated people who differ are found to differ, and those who do not are not."""

import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by
from scipy.optimize import linear_sum_assignment

import pyrovice as pv

PEOPLE, D = 30, 3
TRUTH = 1.3 * sparse_embedding(24, D, seed=2)
SHORT = pv.Training(schedule=pv.Anneal(steps=700))


def fitted(people, **arguments):
    data = judged_by(people, TRUTH, 200, seed=3)
    people = pv.People(**arguments)
    return data, pv.fit(data, people=people, dimensions=6, training=SHORT, progress=False)


def true_dimensions(fit):
    """The number of the dimension of the fit that each true one has become, both from 1."""
    kept = fit.embedding().to_numpy()
    alike = np.corrcoef(kept.T, TRUTH.T)[: kept.shape[1], kept.shape[1] :]
    found, true = linear_sum_assignment(alike, maximize=True)
    assert (alike[found, true] > 0.9).all()
    return dict(zip((true + 1).tolist(), (found + 1).tolist(), strict=True))


@pytest.fixture(scope="module")
def different():
    people = differing_people(PEOPLE, D, weights=0.5, temperature=0.3, seed=4)
    groups = pd.Series(np.where(np.arange(PEOPLE) < PEOPLE // 2, "a", "b"), index=people.index)
    people["weight 2"] *= np.where(groups == "a", np.exp(0.6), np.exp(-0.6))
    return people, *fitted(people, groups=groups)


def test_weights_and_temperatures_are_found(different):
    people, _, fit = different
    table = fit.people()
    for true, found in true_dimensions(fit).items():
        r = np.corrcoef(np.log(table[f"weight {found}"]), np.log(people[f"weight {true}"]))[0, 1]
        assert r > 0.65
    r = np.corrcoef(np.log(table.temperature), np.log(people.temperature))[0, 1]
    # A person's temperature and weights explain much the same: measured .49.
    assert r > 0.3
    low, high = np.quantile(fit.site("temperature_spread"), (0.01, 0.99))
    assert low < 0.3 < high


def test_a_difference_of_groups_is_found_and_none_elsewhere(different):
    _, _, fit = different
    table = fit.groups(permutations=500).reset_index().set_index("dimension")
    there = true_dimensions(fit)[2]
    assert table["5 %"][there] > 0
    assert table["5 %"][there] < 1.2 < table["95 %"][there] + 0.6
    assert table["P(> 0)"][there] > 0.95
    assert table.p_value[there] < 0.05
    others = table.drop(index=there)
    assert ((others["5 %"] < 0) & (others["95 %"] > 0)).all()


def test_who_is_known_is_predicted_better_and_shuffled_people_gain_nothing(different):
    people, data, fit = different
    new = judged_by(people, TRUTH, 100, seed=5)
    one = pv.fit(data, dimensions=6, progress=False).evaluate(new).cross_entropy
    assert fit.evaluate(new).cross_entropy < one - 0.02
    strangers = pv.Triplets(new.objects, new.odd, names=new.names)
    assert fit.evaluate(strangers).cross_entropy < one + 0.005


def test_identical_people_are_seen_to_be_identical():
    people = differing_people(PEOPLE, D, weights=0.0, temperature=0.0, seed=6)
    _, fit = fitted(people)
    assert float(fit.site("weight_spread").mean()) < 0.15
    assert float(fit.site("temperature_spread").mean()) < 0.1
    table = fit.people()
    for k in fit.embedding():
        invented = (table[f"weight {k} 5 %"] > 1) | (table[f"weight {k} 95 %"] < 1)
        assert invented.mean() < 0.1
