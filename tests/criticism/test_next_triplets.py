"""Which triplets to ask next."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.fits import made_up

import pyrovice as pv
from pyrovice.criticism.asking.batch import Service, choose, error_kernel, spread_out, values
from pyrovice.criticism.asking.candidates import Candidates
from pyrovice.criticism.asking.goals import about_embedding, precision_of
from pyrovice.criticism.asking.information import Answering, expected_gain
from pyrovice.model.simulation import random_triplets


@pytest.fixture(scope="module")
def asked(small):
    return small.objects.astype(np.int64)


@pytest.fixture(scope="module")
def unsure(small_fit):
    """A made-up fit of 20 objects of which little is known."""
    fit = made_up(small_fit, 20, 3)
    weights = dataclasses.replace(fit.posterior.weights, sigma=np.full((20, 3), 0.4, np.float32))
    return dataclasses.replace(fit, posterior=dataclasses.replace(fit.posterior, weights=weights))


@pytest.fixture(scope="module")
def few(unsure):
    """A hundred judgments of its objects."""
    rng = np.random.default_rng(2)
    return pv.Triplets(random_triplets(20, 100, rng), np.zeros(100, int), names=unsure.names)


@pytest.fixture(scope="module")
def batch(unsure, few):
    return pv.next_triplets(unsure, 100, data=few, seed=3)


def rows(fit, table):
    places = pd.Index(fit.names).get_indexer(table.iloc[:, :3].to_numpy().ravel())
    return places.reshape(-1, 3)


# ------------------------------------------------------------------ exact


def test_gain_is_the_mutual_information_between_answer_and_draws(small_fit):
    triplets = random_triplets(20, 7, np.random.default_rng(0))
    X = small_fit.draws(100, 5).astype(float)
    expected = []
    for i, j, k in triplets:
        kept = np.stack([(X[:, a] * X[:, b]).sum(-1) for a, b in ((j, k), (i, k), (i, j))], 1)
        p = np.exp(kept) / np.exp(kept).sum(1, keepdims=True)
        mean = p.mean(0)
        expected.append(-(mean * np.log(mean)).sum() + (p * np.log(p)).sum(1).mean())
    assert expected_gain(small_fit, triplets, 5) == pytest.approx(expected, abs=1e-5)


def by_differences(fit, triplet, sites, person=None):
    """Fisher information about the nine blocks of three objects, by differences of log p."""
    X = sites["X"].double()
    d, h = X.shape[1], 1e-4

    def log_p(weights):
        kept = torch.stack([weights[b] @ weights[c] for b, c in ((1, 2), (0, 2), (0, 1))])
        return kept.log_softmax(0)

    at = X[torch.as_tensor(triplet)].clamp(min=1e-6)
    derivative = torch.zeros(3, 3, d, dtype=torch.float64)
    for place in range(3):
        for k in range(d):
            up, down = at.clone(), at.clone()
            up[place, k] += h
            down[place, k] -= h
            derivative[:, place, k] = (log_p(up) - log_p(down)) / (2 * h)
    p = log_p(at).exp()
    return torch.einsum("a,aqd,aqe->qde", p, derivative, derivative)


def test_information_is_that_of_fisher(small_fit):
    answering = Answering(small_fit, 2, 0)
    triplets = np.array([[0, 1, 2], [3, 8, 19]])
    found = answering.about_objects(triplets)
    for row, triplet in enumerate(triplets):
        expected = sum(by_differences(small_fit, triplet, s) for s in answering.sites) / 2
        torch.testing.assert_close(found[row].double(), expected, atol=1e-4, rtol=1e-3)


def test_information_about_a_person_is_that_about_the_logarithms_of_their_weights(people_fit):
    number, triplet, h = 2, [1, 5, 9], 1e-3
    answering = Answering(people_fit, 1, 0, number)
    sites = answering.sites[0]

    def log_p(log_weight):
        weight = (sites["person_weight"][number].log() + log_weight).exp().double()
        seen = sites["X"].double()[triplet] * weight.sqrt()
        kept = torch.stack([seen[b] @ seen[c] for b, c in ((1, 2), (0, 2), (0, 1))])
        return (kept / sites["person_temperature"][number]).log_softmax(0)

    steps = torch.eye(people_fit.posterior.shape[1]) * h
    derivative = torch.stack([(log_p(s) - log_p(-s)) / (2 * h) for s in steps], 1)
    expected = torch.einsum("a,ad,ae->de", log_p(steps[0] * 0).exp(), derivative, derivative)
    found = answering.about_person(np.array([triplet]))[0, 0].double()
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=2e-3)


def test_value_is_the_first_order_fall_of_the_error_that_matters(small_fit, asked):
    rng = np.random.default_rng(0)
    goal = about_embedding(small_fit, Answering(small_fit, 3, 0), asked, rng)
    triplet = np.array([[2, 7, 11]])
    at, information = goal.blocks_of(triplet), goal.information(triplet)

    def error(share):
        precision = goal.precision.double().clone()
        precision[at[0]] += share * information[0].double()
        return torch.einsum("bde,bed->", torch.linalg.inv(precision), goal.matters.double())

    slope = (error(0.0) - error(1e-4)) / 1e-4
    found = values(goal, goal.precision, at, information)[0]
    assert found.item() == pytest.approx(slope.item(), rel=1e-2)


def test_precision_has_the_information_of_the_judgments_and_no_less_than_the_posterior(
    small_fit, asked
):
    answering = Answering(small_fit, 4, 0)
    found = precision_of(small_fit, answering, asked, np.random.default_rng(0))
    mine = (asked == 4).any(1)
    of_four = answering.about_objects(asked[mine])[torch.as_tensor(asked[mine] == 4)].sum(0)
    off = ~torch.eye(len(of_four), dtype=torch.bool)
    torch.testing.assert_close(found[4][off], of_four[off], atol=1e-2, rtol=1e-3)
    known = torch.as_tensor(small_fit.posterior.sd()).clamp(min=1e-3) ** -2
    assert (found.diagonal(dim1=1, dim2=2) >= known * 0.999).all()


# ------------------------------------------------------------------ the batch


def test_a_batch_is_labelled_and_has_no_triplet_twice_or_again(unsure, few, batch):
    assert list(batch) == ["object_1", "object_2", "object_3", "gain", "role"]
    assert batch.role.tolist() == ["ask"] * 90 + ["random"] * 10
    found = rows(unsure, batch)
    assert (np.diff(found, axis=1) > 0).all()
    assert len(np.unique(found, axis=0)) == 100
    before = set(map(tuple, few.objects.tolist()))
    assert not before & set(map(tuple, found[:90].tolist()))
    means = batch.groupby("role").gain.mean()
    assert means["ask"] > 1.2 * means["random"]


def test_the_same_seed_gives_the_same_batch(unsure, few, batch):
    pd.testing.assert_frame_equal(batch, pv.next_triplets(unsure, 100, data=few, seed=3))


def test_the_random_share_is_uniform_over_all_triplets(small_fit, small):
    table = pv.next_triplets(small_fit, 600, random=1.0, seed=1)
    assert (table.role == "random").all()
    times = np.bincount(rows(small_fit, table).ravel(), minlength=20)
    # 90 expected; the standard deviation without replacement is below 8.
    assert times.min() > 60
    assert times.max() < 120
    before = set(map(tuple, small.objects.tolist()))
    again = [tuple(row) in before for row in rows(small_fit, table).tolist()]
    assert np.mean(again) > 0.5


def test_every_object_is_served(small_fit):
    table = pv.next_triplets(small_fit, 80, random=0.0, repeats=True)
    times = np.bincount(rows(small_fit, table).ravel(), minlength=20)
    assert times.min() >= 3  # a quarter of 12


def test_service_says_who_is_urgent_only_when_it_is_time():
    service = Service(6, 8, even=True)  # an object should come up once
    at = torch.tensor([[0, 1, 2], [3, 4, 5]])
    assert service.urgent(at, step=1) is None
    service.add(at[:1].repeat(4, 1))
    assert service.urgent(at, step=1).tolist() == [False, True]
    service.add(at[1:])
    assert service.urgent(at, step=1) is None


def test_no_near_duplicates_within_a_step():
    at = np.array([[0, 1, 2], [0, 1, 3], [3, 4, 5], [1, 6, 7]])
    assert spread_out(at, 3, most=1) == [0, 2]
    assert spread_out(at, 3, most=2) == [0, 1, 2]


def test_greedy_beats_the_best_taken_one_by_one(unsure, few):
    """What the batch leaves of the error that matters, against the best single triplets."""
    rng = np.random.default_rng(0)
    goal = about_embedding(unsure, Answering(unsure, 4, 0), few.objects.astype(np.int64), rng)
    pool = Candidates(unsure.names, None, np.empty(0, int), None)
    everything = pool.all
    single = values(goal, goal.precision, goal.blocks_of(everything), goal.information(everything))
    best = everything[np.argsort(-single.numpy())[:60]]
    found = choose(goal, pool, 60, np.random.default_rng(0))

    def left(chosen):
        precision = goal.precision.clone()
        at = torch.as_tensor(chosen)
        precision.index_put_((at.flatten(),), goal.information(chosen).flatten(0, 1), True)
        kernel = error_kernel(goal, precision) @ precision
        return kernel.diagonal(dim1=1, dim2=2).sum().item()

    assert left(found) < 0.9 * left(best)


def test_candidates_are_kept_to(small_fit):
    allowed = np.array([[0, 1, 2], [4, 3, 5], [7, 8, 9]])
    for given in (
        allowed,
        pd.DataFrame(
            np.array(small_fit.names)[allowed], columns=["object_1", "object_2", "object_3"]
        ),
        pv.Triplets(np.sort(allowed, 1), [0, 0, 0], names=small_fit.names),
    ):
        table = pv.next_triplets(small_fit, 3, candidates=given, random=0, repeats=True)
        found = {tuple(row) for row in rows(small_fit, table).tolist()}
        assert found == {(0, 1, 2), (3, 4, 5), (7, 8, 9)}


def test_repeats_are_asked_again_if_wanted(small_fit, small):
    one = small.objects[:5]
    with pytest.raises(pv.DataError, match=r"no candidates left.*repeats=True"):
        pv.next_triplets(small_fit, 5, candidates=one, random=0)
    assert len(pv.next_triplets(small_fit, 5, candidates=one, random=0, repeats=True)) == 5


# ------------------------------------------------------------------ goals


def test_objects_of_interest_are_in_every_chosen_triplet(small_fit):
    names = list(small_fit.names[:2])
    table = pv.next_triplets(small_fit, 40, objects=names, repeats=True)
    chosen = table[table.role == "ask"]
    assert chosen.iloc[:, :3].isin(names).any(axis=1).all()
    # Both together more often than by chance, which is one in eighteen.
    assert (chosen.iloc[:, :3].isin(names).sum(axis=1) == 2).mean() > 0.15


def test_a_dimension_is_asked_about_where_it_is(small_fit):
    of_all = pv.next_triplets(small_fit, 60, random=0, repeats=True)
    of_one = pv.next_triplets(small_fit, 60, random=0, repeats=True, dimension=2)
    weight = small_fit.embedding()[2]

    def mean(table):
        return weight.loc[table.iloc[:, :3].to_numpy().ravel()].mean()

    assert mean(of_one) > 1.2 * mean(of_all)


def test_one_person_is_asked_about_their_weights(people_fit):
    table = pv.next_triplets(people_fit, 30, person="p003", random=0.1, repeats=True)
    means = table.groupby("role").gain.mean()
    assert len(table) == 30
    assert means["ask"] > means["random"]


def test_new_objects_can_be_asked_about(small_fit):
    """An object that nobody has judged is the one to ask about."""
    fit = made_up(small_fit, 20, 3)
    data = pv.Triplets([[0, 1, 2]], [0], names=fit.names[:19])
    table = pv.next_triplets(fit, 20, data=data, objects=[fit.names[19]])
    chosen = table[table.role == "ask"].iloc[:, :3]
    assert (chosen == fit.names[19]).any(axis=1).all()


def test_many_objects_are_sampled_from(small_fit, monkeypatch):
    monkeypatch.setattr("pyrovice.criticism.asking.candidates.SAMPLE", 4_000)
    fit = made_up(small_fit, 60, 4)
    asked = random_triplets(60, 500, np.random.default_rng(0))
    data = pv.Triplets(asked, np.zeros(500, int), names=fit.names)
    table = pv.next_triplets(fit, 50, data=data)
    means = table.groupby("role").gain.mean()
    assert means["ask"] > 1.5 * means["random"]


@pytest.mark.parametrize(
    "choice",
    [pv.choices.Cosine(temperature=0.2), pv.choices.DotProduct(lapse=0.1, position=(0.1, 0, -0.1))],
)
def test_other_choices_work(small_fit, choice):
    fit = made_up(small_fit, 12, 3)
    fit = dataclasses.replace(fit, model=pv.Model(fit.prior, 12, 3, choice=choice))
    data = pv.Triplets([[0, 1, 2]], [0], names=fit.names)
    assert len(pv.next_triplets(fit, 10, data=data)) == 10


# ------------------------------------------------------------------ bad input


def test_bad_input_gets_a_sentence(small_fit, small, tmp_path):
    def ask(n=5, **given):
        return pv.next_triplets(given.pop("fit", small_fit), n, **given)

    point = dataclasses.replace(
        small_fit, posterior=point_posterior(small_fit), guide_family=pv.MAP()
    )
    with pytest.raises(pv.PyroviceError, match=r"no uncertainty.*guide=pv.MeanField\(\)"):
        ask(fit=point)
    with pytest.raises(TypeError, match="expected a Fit"):
        ask(fit=small)
    with pytest.raises(pv.DataError, match=r"n=2,000 triplets.*there are 1,140 to choose from"):
        ask(2000)
    with pytest.raises(pv.DataError, match=r"n=900 triplets.*left that.*repeats=True"):
        ask(1000, random=0.1)
    with pytest.raises(pv.DataError, match=r"1 object .'zebra'. that the fit does not know"):
        ask(candidates=[["zebra", "1", "2"]])
    with pytest.raises(pv.DataError, match="ids from 0 to 40"):
        ask(candidates=[[0, 1, 40]])
    with pytest.raises(pv.DataError, match="three different ones"):
        ask(candidates=[[0, 1, 1]])
    with pytest.raises(pv.DataError, match="no column 'object_1'"):
        ask(candidates=pd.DataFrame({"a": [1]}))
    with pytest.raises(pv.DataError, match="three objects in each"):
        ask(candidates=[[0, 1]])
    with pytest.raises(pv.PyroviceError, match="share from 0 to 1"):
        ask(random=2)
    with pytest.raises(pv.PyroviceError, match="one goal"):
        ask(objects=["1"], dimension=1)
    with pytest.raises(pv.PyroviceError, match="dimension=99"):
        ask(dimension=99)
    with pytest.raises(pv.DataError, match="does not know 1 object"):
        ask(objects=["zebra"])
    with pytest.raises(pv.PyroviceError, match="of one mind"):
        ask(person="ann")
    small_fit.save(tmp_path / "a.fit")
    loaded = pv.load(tmp_path / "a.fit")
    with pytest.raises(pv.DataError, match=r"does not hold the judgments.*data="):
        ask(fit=loaded)
    assert len(ask(fit=loaded, data=small)) == 5
    other = pv.Triplets([[0, 1, 2]], [0], names=["a", "b", "c"])
    with pytest.raises(pv.DataError, match="that the fit does not know"):
        ask(fit=loaded, data=other)


def point_posterior(fit):
    from pyrovice.results.posterior import Posterior
    from pyrovice.results.weights import PointWeights

    return Posterior(PointWeights(fit.posterior.loc()))


def test_what_is_left_is_counted_where_triplets_are_too_many_to_list():
    names = tuple(map(str, range(80)))  # 82,160 triplets, more than are listed
    pool = Candidates(names, None, np.array([5, 5, 9]), None)
    assert pool.all is None
    assert (pool.total(), pool.left()) == (82_160, 82_158)
    assert len(pool.at_random(100_000, np.random.default_rng(0))) == 82_160
    # Without the triplets of the 78 other objects.
    assert Candidates(names, None, np.empty(0, int), np.array([0, 1])).total() == 82_160 - 76_076
