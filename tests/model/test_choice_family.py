"""The family of choices against their formulas, written out for one triplet at a time."""

import itertools

import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
import torch
from pyro import poutine

import pyrovice as pv
from pyrovice.data.places import places_of
from pyrovice.model.choices.kept_pairs import asked_kept
from pyrovice.model.judgments import Judgments

C = pv.choices
OBJECTS = np.array(list(itertools.combinations(range(7), 3)))
N = len(OBJECTS)
ORDERS = np.array(list(itertools.permutations(range(3))))
PLACES = ORDERS[np.arange(N) % 6]
ANCHOR = np.arange(N) % 4 - 1
FAVOURS = (0.8, 0.1, -0.5)


@pytest.fixture
def X():
    return np.random.default_rng(0).gamma(1.0, 0.7, (7, 3))


def judgments(anchor=None, places=None):
    """Judgments whose answers make no difference."""
    odd = np.zeros(N, int) if anchor is None else (anchor + 1) % 3
    trials = None if places is None else pd.DataFrame(places + 1).set_axis(
        ["place_1", "place_2", "place_3"], axis=1
    )  # fmt: skip
    return pv.Triplets(OBJECTS, odd, names=range(7), anchor=anchor, trials=trials)


def dot(x, y):
    return x @ y


def cosine(x, y):
    return x @ y / np.sqrt((x @ x + 1e-2) * (y @ y + 1e-2))


def euclidean(x, y):
    return -np.sqrt(((x - y) ** 2).sum() + 1e-4)


def contrast(x, y):
    return x @ y - 0.4 / 2 * (x @ x + y @ y)


FAMILY = {
    dot: C.DotProduct,
    cosine: lambda **given: C.Cosine(**({"temperature": 1.0} | given)),
    euclidean: C.Euclidean,
    contrast: lambda **given: C.Contrast(distinctive=0.4, **given),
}


def expected(similar, X, row, anchor=-1, places=None, temperature=1.0, lapse=0.0, favours=None):
    """The probability that each of three objects is the odd one."""
    i, j, k = X[row]
    scores = np.array([similar(j, k), similar(i, k), similar(i, j)]) / temperature
    allowed = np.arange(3) != anchor
    if favours is not None:
        for odd in range(3):
            if allowed[odd]:
                # With an anchor, people point at the object that is kept with it.
                answer = odd if anchor < 0 else 3 - anchor - odd
                scores[odd] += favours[places[answer]]
    p = np.where(allowed, np.exp(scores), 0)
    return (1 - lapse) * p / p.sum() + lapse * allowed / allowed.sum()


every_similarity = pytest.mark.parametrize("similar", FAMILY)
PARAMETERS = [
    {},
    {"temperature": 0.6},
    {"lapse": 0.2},
    {"favours": FAVOURS},
    {"temperature": 1.7, "lapse": 0.1, "favours": FAVOURS},
]


@every_similarity
@pytest.mark.parametrize("anchor", [None, ANCHOR], ids=["plain", "anchored"])
@pytest.mark.parametrize("given", PARAMETERS, ids=lambda given: "+".join(given) or "none")
def test_probabilities_are_those_of_the_formula(X, similar, anchor, given):
    named = {("position" if name == "favours" else name): v for name, v in given.items()}
    choice = FAMILY[similar](**named)
    asked = Judgments.of(judgments(anchor, PLACES), where=choice.asks_where)
    p = choice(torch.tensor(X), asked).exp().numpy()
    at = np.full(N, -1) if anchor is None else anchor
    should = [
        expected(similar, X, *case, **given) for case in zip(OBJECTS, at, PLACES, strict=True)
    ]
    np.testing.assert_allclose(p, should, rtol=1e-6)


@every_similarity
@pytest.mark.parametrize("anchor", [None, ANCHOR], ids=["plain", "anchored"])
def test_judgments_in_the_order_of_places_are_as_probable(X, similar, anchor):
    """Training lays judgments out by place; what a step makes of them is the same."""
    data = judgments(anchor, PLACES)
    choice = FAMILY[similar](
        temperature=dist.LogNormal(0.0, 0.3), lapse=dist.Beta(1.0, 20.0),
        position=dist.Normal(0.0, 0.3),
    )  # fmt: skip
    sites = {"temperature": 1.7, "lapse": 0.1, "position": np.array(FAVOURS)}
    told = Judgments.of(data, where=True)
    again = told.coming_again()
    assert again.by_place == (anchor is None)
    if again.by_place:
        assert again.places.T.tolist() == [[0, 1, 2]] * N
        np.testing.assert_array_equal(again.objects, told.objects.gather(0, told.places.argsort(0)))
        assert sorted(again.odd.tolist()) != sorted(told.odd.tolist())

    def step(shown):
        values = {name: torch.tensor(value, requires_grad=True) for name, value in sites.items()}
        weights = torch.tensor(X, requires_grad=True)
        with poutine.trace() as trace, poutine.condition(data=values):
            odd = choice.odd(weights, shown)
        assert set(trace.trace.nodes) == set(sites)
        log_p = odd.log_prob(shown.odd)
        return [log_p, *torch.autograd.grad(log_p.sum(), [weights, *values.values()])]

    at = np.full(N, -1) if anchor is None else anchor
    given = {"temperature": 1.7, "lapse": 0.1, "favours": np.array(FAVOURS) - np.mean(FAVOURS)}
    should = [
        expected(similar, X, row, where, places, **given)[odd]
        for row, where, places, odd in zip(OBJECTS, at, PLACES, data.odd, strict=True)
    ]
    plain, prepared = step(told), step(again)
    np.testing.assert_allclose(prepared[0].detach().exp(), should, rtol=1e-6)
    for a, b in zip(plain, prepared, strict=True):
        torch.testing.assert_close(a, b)


def test_where_places_are_not_known_all_six_orders_count_alike(X):
    choice = C.DotProduct(position=FAVOURS, lapse=0.1)
    p = choice(torch.tensor(X), Judgments.of(judgments())).exp().numpy()
    should = np.mean(
        [
            [expected(dot, X, row, -1, order, lapse=0.1, favours=FAVOURS) for row in OBJECTS]
            for order in ORDERS
        ],
        axis=0,
    )
    np.testing.assert_allclose(p, should, rtol=1e-6)


@every_similarity
def test_three_ways_to_the_same_similarities(X, similar):
    choice, asked = FAMILY[similar](), Judgments.of(judgments())
    weights = torch.tensor(X)
    by_pair = choice.similarity(weights, asked)
    of_all = choice.all_similarities(weights)
    by_row = choice.row_similarity(*(weights[place] for place in asked.objects))
    torch.testing.assert_close(of_all.flatten()[asked.pairs], by_pair)
    torch.testing.assert_close(by_row, by_pair)


@every_similarity
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e2, 1e4])
def test_finite_with_finite_gradients_at_any_scale(similar, scale):
    X = torch.rand(7, 2, generator=torch.Generator().manual_seed(0))
    X = (X * scale).requires_grad_()
    lapse, favours = torch.tensor(1e-30), torch.tensor([9.0, 0.0, -9.0])
    choice = FAMILY[similar](lapse=dist.Beta(1.0, 20.0), position=dist.Normal(0.0, 1.0))
    choice = choice.given({"lapse": lapse, "position": favours}, X)
    data = judgments(ANCHOR, PLACES)
    shown = Judgments.of(data, where=True)
    value = choice.answer(choice.similarity(X, shown), shown)
    value = value.gather(-1, shown.odd[:, None])
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(X.grad).all()


@every_similarity
@pytest.mark.parametrize(
    "given", [{}, {"temperature": 0.5, "lapse": 0.2}, {"position": FAVOURS, "lapse": 0.1}],
    ids=lambda given: "+".join(given) or "none",
)  # fmt: skip
def test_kept_pairs_by_the_short_cut_and_triplet_by_triplet(X, similar, given):
    choice, weights = FAMILY[similar](**given), torch.tensor(X, dtype=torch.float32)
    thirds = torch.tensor([0, 2, 3, 6])
    fast = choice.kept_probability(weights, thirds)
    slow = asked_kept(lambda asked: choice(weights, asked), 7, thirds)
    torch.testing.assert_close(fast, slow, equal_nan=True, rtol=1e-4, atol=1e-6)
    large = choice.kept_probability(30 * weights, thirds)
    slow = asked_kept(lambda asked: choice(30 * weights, asked), 7, thirds)
    torch.testing.assert_close(large, slow, equal_nan=True, rtol=1e-3, atol=1e-5)


def test_contrast_lies_between_dot_products_and_squared_distances(X):
    weights, asked = torch.tensor(X), Judgments.of(judgments())
    one = C.Contrast(distinctive=0.0)(weights, asked)
    torch.testing.assert_close(one, C.DotProduct()(weights, asked))
    squared = -C.Euclidean().similarity(weights, asked).square() / 2
    other = C.Contrast(distinctive=1.0)(weights, asked)
    torch.testing.assert_close(other, squared.log_softmax(-2).mT, rtol=1e-3, atol=1e-3)


def test_a_temperature_is_a_scale_of_the_weights_and_cosines_have_none(X):
    weights, asked = torch.tensor(X), Judgments.of(judgments())
    for choice in (C.DotProduct, C.Euclidean, lambda **t: C.Contrast(distinctive=0.3, **t)):
        hot = choice(temperature=4.0)
        larger = weights * 4.0 ** (1 / hot.degree)
        torch.testing.assert_close(
            hot(larger, asked), choice()(weights, asked), rtol=1e-3, atol=1e-3
        )
    cosines = C.Cosine(temperature=0.2)
    torch.testing.assert_close(
        cosines(1e4 * weights, asked), cosines(1e5 * weights, asked), rtol=1e-5, atol=1e-5
    )


def test_learned_favours_are_relative_to_their_mean(X):
    choice = C.DotProduct(position=dist.Normal(0.0, 0.3))
    sites = {"position": torch.tensor([0.5, 0.2, -0.1])}
    torch.testing.assert_close(choice.relative(sites)["position"], torch.tensor([0.3, 0.0, -0.3]))
    assert choice.relative({"lapse": 1}) == {"lapse": 1}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: C.DotProduct(lapse=-0.1), r"lapse=-0.1\); expected a share from 0 to below 1"),
        (lambda: C.DotProduct(lapse=1), r"lapse=1\); expected a share"),
        (lambda: C.Euclidean(lapse=dist.Normal(0.0, 1.0)), r"lapse=Normal\(loc=0, scale=1\)\);"),
        (lambda: C.DotProduct(lapse=dist.Gamma(1.0, 9.0)), r"to learn it, lapse=dist.Beta"),
        (lambda: C.DotProduct(temperature=0), r"expected a positive number to fix it"),
        (lambda: C.Cosine(temperature=dist.Normal(0.0, 1.0)), r"Cosine\(temperature=Normal"),
        (lambda: C.DotProduct(lapse=dist.Beta(torch.ones(2), 1.0)), r"lapse=Beta\(.*expected a"),
        (lambda: C.DotProduct(lapse=True), r"lapse=True\); expected"),
        (lambda: C.DotProduct(position=0.3), r"three numbers for the three places"),
        (lambda: C.DotProduct(position=(0, float("nan"), 0)), r"three numbers"),
        (lambda: C.Contrast(distinctive="much"), r"distinctive='much'\); expected a number"),
    ],
)  # fmt: skip
def test_bad_parameters_get_a_sentence(make, sentence):
    with pytest.raises(pv.ChoiceError, match=sentence):
        make()


def test_values_are_equal_by_content_and_print_what_was_typed():
    one, same = (C.DotProduct(lapse=dist.Beta(1, 20), temperature=2) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != C.DotProduct(lapse=dist.Beta(1.0, 21.0), temperature=2)
    assert C.DotProduct() != C.Euclidean()
    assert C.DotProduct(position=np.array([1, 0, -1])) == C.DotProduct(position=(1, 0, -1))
    said = "DotProduct(temperature=2.0, lapse=Beta(concentration1=1, concentration0=20))"
    assert repr(one) == said
    assert [repr(each()) for each in (C.DotProduct, C.Cosine)] == ["DotProduct()", "Cosine()"]


def test_positions_need_places():
    learns = C.DotProduct(position=dist.Normal(0, 0.3))
    with pytest.raises(pv.DataError, match=r"where each object stood on the screen.*place_1"):
        pv.fit(judgments(), choice=learns, dimensions=2, progress=False)
    with pytest.raises(pv.DataError, match=r"\[1.0, 1.0, 3.0\] in row 0; expected 1, 2 and 3"):
        pv.fit(
            judgments(places=np.array([[0, 0, 2]] * N)), choice=learns, dimensions=2, progress=False
        )


def test_lapses_of_people_and_of_the_choice_are_not_both():
    data = pv.load_example(people=3).triplets.subset(300, seed=0)
    with pytest.raises(pv.PyroviceError, match="have lapses; leave one of them out"):
        pv.Model(
            pv.SpikeSlab(),
            80,
            2,
            data,
            choice=C.DotProduct(lapse=0.1),
            people=pv.People(lapse=True),
        )


def test_equal_judgments_at_other_places_are_other_judgments():
    t = pv.Triplets(
        [[0, 1, 2]] * 30, [0] * 30,
        trials=pd.DataFrame(ORDERS[[0] * 10 + [1] * 20] + 1).set_axis(
            ["place_1", "place_2", "place_3"], axis=1
        ),
    )  # fmt: skip
    assert len(Judgments.aggregated(t)) == 1
    apart = Judgments.aggregated(t, where=True)
    assert sorted(apart.weight.tolist()) == [10, 20]
    assert apart[torch.tensor([0])].places.shape == (3, 1)
    assert len(Judgments.aggregated(t, people=["ann"], where=True)) == 2


@pytest.mark.parametrize("anchored", [0.0, 1.0])
def test_simulated_answers_favour_a_place_and_say_where_objects_stood(anchored):
    choice = C.DotProduct(position=(1.0, 0.0, -1.0))
    data = pv.simulate(np.ones((6, 1)), 6000, seed=0, choice=choice, anchored=anchored)
    places = places_of(data)
    assert (np.sort(places, axis=1) == [0, 1, 2]).all()
    answer = data.odd if not anchored else 3 - data.anchor - data.odd
    at = places[np.arange(6000), answer]
    np.testing.assert_array_equal(at + 1, data.trials.position)
    shares = np.bincount(at) / 6000
    if anchored:
        # Each pair of places is left a third of the time.
        e = np.exp([1.0, 0.0, -1.0])
        should = [sum(e[i] / (e[i] + e[j]) for j in range(3) if j != i) / 3 for i in range(3)]
    else:
        should = np.exp([1.0, 0.0, -1.0]) / np.exp([1.0, 0.0, -1.0]).sum()
    np.testing.assert_allclose(shares, should, atol=0.02)
    again = pv.simulate(np.ones((6, 1)), 6000, seed=0, choice=choice, anchored=anchored)
    assert again == data
