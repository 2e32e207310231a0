import dataclasses

import numpy as np
import pytest
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by
from scipy.optimize import minimize

import pyrovice as pv
from pyrovice.criticism.people_reliability import _Task
from pyrovice.results.posterior import Posterior, SiteDraws
from pyrovice.results.weights import NormalWeights

EMBEDDING = sparse_embedding(20, 3, seed=1).astype(np.float32)


def knowing(fit, data, *, weights=0.6, temperature=0.3):
    """A fit that knows the embedding and the spreads, and nobody's traits yet."""
    labels = data.people()
    n, d = len(labels), EMBEDDING.shape[1]
    mu = np.where(EMBEDDING > 0, EMBEDDING, -1).astype(np.float32)
    others = {
        "person_weight": SiteDraws(np.ones((1, 2, n, d), np.float32), ("person", "dimension")),
    }
    if temperature:
        others["person_temperature"] = SiteDraws(np.ones((1, 2, n), np.float32), ("person",))
    people = pv.People(weights=weights, temperature=temperature)
    return dataclasses.replace(
        fit,
        posterior=Posterior(NormalWeights(mu, np.full_like(mu, 1e-4)), others),
        model=pv.Model(fit.prior, len(mu), d, people=people, known_people=labels),
        judgments_by_person=(1,) * n,
        pruned=True,
    )


@pytest.fixture(scope="module")
def crowd():
    people = differing_people(60, 3, weights=0.6, temperature=0.3)
    return people, judged_by(people, EMBEDDING, 120, seed=2)


def test_estimates_are_the_most_probable_ones(crowd, small_fit):
    _, data = crowd
    found = _Task.of(knowing(small_fit, data), data).estimate(data)
    mine = data[data.participants == "p007"]
    i, j, k = EMBEDDING.astype(float)[mine.objects.T]
    shares = np.stack([j * k, i * k, i * j], axis=1)

    def loss(u):
        logits = shares @ np.exp(u[:3]) / np.exp(u[3])
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        scale = np.array([0.6, 0.6, 0.6, 0.3])
        return ((u / scale) ** 2).sum() / 2 - log_p[np.arange(len(mine)), mine.odd].sum()

    best = minimize(loss, np.zeros(4)).x
    got = [found[trait][7] for trait in ("weight 1", "weight 2", "weight 3", "temperature")]
    np.testing.assert_allclose(got, best, atol=2e-3)


def test_halves_are_equal_and_whole(crowd, small_fit):
    _, data = crowd
    task = _Task.of(knowing(small_fit, data), data)
    first, second = task.halves(np.random.default_rng(0))
    assert len(first) + len(second) == len(data)
    for person in data.people():
        sizes = [(half.participants == person).sum() for half in (first, second)]
        assert sizes[0] - sizes[1] in (0, 1)


def test_reliability_is_the_squared_correlation_with_the_truth(small_fit):
    """That of the estimates from all judgments, if nothing else can stand in for the trait."""
    people = differing_people(300, 3, weights=0.6, temperature=1e-6)
    data = judged_by(people, EMBEDDING, 120, seed=2)
    fit = knowing(small_fit, data, temperature=False)
    found = pv.people_reliability(fit, data, splits=2)
    assert found.index.tolist() == ["weight 1", "weight 2", "weight 3"]
    assert (found.people == 300).all()
    from_all = _Task.of(fit, data).estimate(data)
    for trait in found.index:
        expected = np.corrcoef(from_all[trait], np.log(people[trait]))[0, 1] ** 2
        # Over six seeds they are at most .04 apart.
        assert found.reliability[trait] == pytest.approx(expected, abs=0.08), trait
    r = found.correlation
    np.testing.assert_allclose(found.reliability, 2 * r / (1 + r))


def test_people_who_are_alike_cannot_be_told_apart(small_fit):
    people = differing_people(60, 3, weights=1e-6, temperature=1e-6)
    data = judged_by(people, EMBEDDING, 120, seed=3)
    found = pv.people_reliability(knowing(small_fit, data), data, splits=2)
    # The standard error of a correlation of 60 people is .13.
    assert found.correlation.abs().max() < 0.35
    assert (found.reliability >= 0).all()


def test_traits_of_a_fit_and_judgments_of_others(people_fit, people_data):
    who = people_data.participants.astype(object)
    who[who == "p003"] = "somebody else"
    who[:20] = None
    data = pv.Triplets(
        people_data.objects, people_data.odd, names=people_data.names, participants=who
    )
    found = pv.people_reliability(people_fit, data, splits=1)
    assert (found.people == 9).all()
    weights = [f"weight {dim}" for dim in people_fit.embedding()]
    assert found.index.tolist() == ["temperature", "lapse", *weights]
    assert found.reliability[weights].max() > 0.8


def test_what_cannot_be_split(small_fit, small, people_fit, people_data):
    with pytest.raises(pv.PyroviceError, match="of one mind"):
        pv.people_reliability(small_fit, small)
    with pytest.raises(pv.DataError, match="Of the people of this fit 0 made at least two"):
        pv.people_reliability(people_fit, small)
    two = people_data[np.isin(people_data.participants, ["p000", "p001"])]
    with pytest.raises(pv.DataError, match="2 made at least two"):
        pv.people_reliability(people_fit, two)
    with pytest.raises(ValueError, match="splits=0"):
        pv.people_reliability(people_fit, people_data, splits=0)
