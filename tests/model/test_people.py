import itertools

import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
import torch
from helpers.people import differing_people
from pyro import poutine
from pyro.infer import Trace_ELBO
from pyro.infer.inspect import get_model_relations
from scipy import stats

import pyrovice as pv
from pyrovice.errors import DataError, PyroviceError
from pyrovice.model.choices import similarities
from pyrovice.model.judgments import Judgments
from pyrovice.model.people import crowd as crowds
from pyrovice.model.people.traits import COPIED_FROM, of_each

M, D, P = 7, 3, 4
LABELS = ("ann", "bob", "cat", "dan")
GROUPED = {"ann": "x", "bob": "x", "cat": "y", "dan": "y"}


def reference(X, row, anchor, weight, temperature, lapse, own):
    """What one person answers, as the docstring of People says it."""
    seen = np.maximum(X + own, 0) * np.sqrt(weight)
    i, j, k = row
    s = np.array([seen[j] @ seen[k], seen[i] @ seen[k], seen[i] @ seen[j]]) / temperature
    allowed = np.arange(3) != anchor
    p = np.where(allowed, np.exp(s), 0)
    p /= p.sum()
    return (1 - lapse) * p + lapse * allowed / allowed.sum()


@pytest.fixture
def sites():
    rng = np.random.default_rng(0)
    drawn = {
        "X": rng.normal(0.4, 0.7, (M, D)),
        "person_weight": np.exp(rng.normal(0, 0.5, (P, D))),
        "person_temperature": np.exp(rng.normal(0, 0.3, P)),
        "person_lapse": rng.uniform(0.01, 0.3, P),
        "person_own": rng.normal(0, 0.3, (P, M, D)),
        "typical_lapse": np.array(0.07),
        "lapse_spread": np.array(1.0),
        "temperature_spread": np.array(0.3),
        "weight_spread": np.full(D, 0.5),
        "own_spread": np.full(D, 0.3),
    }
    return {name: torch.tensor(value) for name, value in drawn.items()}


def every_question(anchored, who):
    objects = np.array(list(itertools.combinations(range(M), 3)))
    anchor = np.arange(len(objects)) % 4 - 1 if anchored else np.full(len(objects), -1)
    return pv.Triplets(
        objects,
        (anchor + 1) % 3,
        names=range(M),
        anchor=anchor,
        participants=[who[i % len(who)] for i in range(len(objects))],
    )


def traits_of(sites, person, people):
    """Those of one person, or of the typical one."""
    known = person in LABELS
    p = LABELS.index(person) if known else 0
    usual = {
        "person_weight": np.ones(D),
        "person_temperature": 1.0,
        "person_lapse": sites["typical_lapse"].numpy() if people.varies("lapse") else 0.0,
        "person_own": np.zeros((M, D)),
    }
    found = [
        sites[site].numpy() if known and people.varies(trait) else usual[site]
        for site, trait in crowds.TRAIT.items()
    ]
    # Weights and temperatures are relative to everybody's.
    return [
        (values / stats.gmean(values) if relative else values)[p]
        if np.ndim(values) and np.shape(values)[0] == P
        else values
        for values, relative in zip(found, (True, True, False, False), strict=True)
    ]


KINDS = [
    pv.People(),
    pv.People(weights=False),
    pv.People(temperature=False),
    pv.People(weights=False, temperature=False, lapse=True),
    pv.People(lapse=True, own=True),
]


@pytest.mark.parametrize("choice", [pv.choices.DotProduct(), "function"])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("who", [LABELS, (*LABELS, None), (None, "somebody else")])
@pytest.mark.parametrize("entries", [0, 10**9])
@pytest.mark.parametrize("people", KINDS, ids=repr)
def test_everybody_answers_as_the_definition_says(
    people, entries, who, anchored, choice, sites, monkeypatch
):
    monkeypatch.setattr(crowds, "ENTRIES_PER_JUDGMENT", entries)
    if choice == "function":

        def choice(X, judgments):
            return similarities(X, judgments).log_softmax(-1)

    asked = every_question(anchored, who)
    model = pv.Model(pv.SpikeSlab(), M, D, choice=choice, people=people, known_people=LABELS)
    got = model.choice_log_probability(sites, asked).exp().numpy()
    X = sites["X"].clamp(min=0).numpy()
    expected = [
        reference(X, row, a, *traits_of(sites, person, people))
        for row, a, person in zip(asked.objects, asked.anchor, asked.participants, strict=True)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


def test_some_of_the_dimensions_can_be_asked_about(sites):
    """As after pruning under a prior whose dimensions depend on each other."""
    asked = every_question(False, (*LABELS, None))
    model = pv.Model(pv.SpikeSlab(), M, D, people=pv.People(), known_people=LABELS)
    idle = torch.tensor([1.0, 1.0, 0.0])
    expected = model.choice_log_probability(sites | {"X": sites["X"] * idle}, asked)
    two = {name: sites[name][..., :2] for name in ("X", "person_weight", "weight_spread")}
    torch.testing.assert_close(model.choice_log_probability(sites | two, asked), expected)
    (newcomer,) = model.with_newcomers([sites | two], 1, seed=0)
    assert newcomer["new_weight"].shape == (2,)
    assert model.choice_log_probability(newcomer, asked).isfinite().all()


def test_what_all_have_in_common_is_not_theirs(sites):
    """A temperature of everybody would be the scale of X."""
    asked = every_question(False, (*LABELS, None))
    model = pv.Model(pv.SpikeSlab(), M, D, people=pv.People(), known_people=LABELS)
    more = sites | {
        "person_weight": sites["person_weight"] * torch.tensor([0.5, 2.0, 3.0]),
        "person_temperature": sites["person_temperature"] * 4,
    }
    torch.testing.assert_close(
        model.choice_log_probability(more, asked), model.choice_log_probability(sites, asked)
    )


@pytest.mark.parametrize("people", KINDS, ids=repr)
def test_gradients_are_finite_and_those_of_differences(people, sites):
    asked = every_question(True, (*LABELS, None))
    model = pv.Model(pv.SpikeSlab(), M, D, people=people, known_people=LABELS)
    names = [site for site, trait in crowds.TRAIT.items() if people.varies(trait)]
    judgments = Judgments.of(asked, people=LABELS)

    def answered(*values):
        given = sites | dict(zip(names, values, strict=True))
        log_p = model.choice_log_probability(given, judgments)
        return log_p.gather(-1, judgments.odd[:, None]).sum()

    values = [sites[name].clone().requires_grad_() for name in names]
    assert torch.autograd.gradcheck(answered, values)


@pytest.mark.parametrize("people", [*KINDS, pv.People(groups=GROUPED)], ids=repr)
def test_particles_do_not_mix(people):
    data = every_question(True, (*LABELS, None))
    model = pv.Model(pv.SpikeSlab(), M, D, data, people=people)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        # One value for all particles.
        guide = pv.MAP()(model)
        losses = [
            Trace_ELBO(
                particles,
                vectorize_particles=particles > 1,
                max_plate_nesting=model.structure.max_plate_nesting,
            ).loss(model, guide)
            for particles in (1, 4)
        ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_the_population_is_the_one_that_is_said():
    people = pv.People(weights=dist.Gamma(2.0, 4.0), lapse=True, groups=GROUPED)
    model = pv.Model(pv.SpikeSlab(), M, D, every_question(False, LABELS), people=people)
    torch.manual_seed(1)
    trace = poutine.trace(model).get_trace()
    trace.compute_log_prob()
    value = {
        name: node["value"].detach().numpy()
        for name, node in trace.nodes.items()
        if node["type"] == "sample"
    }
    spread, means = value["weight_spread"], value["group_log_weight"]
    expected = {
        "weight_spread": stats.gamma(2, scale=1 / 4).logpdf(spread),
        "group_log_weight": stats.norm(0, spread).logpdf(means),
        "person_weight": stats.lognorm(spread, scale=np.exp(means[[0, 0, 1, 1]])).logpdf(
            value["person_weight"]
        ),
        "temperature_spread": stats.halfnorm(0, 0.5).logpdf(value["temperature_spread"]),
        "person_temperature": stats.lognorm(value["temperature_spread"]).logpdf(
            value["person_temperature"]
        ),
        "typical_lapse": stats.beta(1, 20).logpdf(value["typical_lapse"]),
        "lapse_spread": stats.halfnorm(0, 1.5).logpdf(value["lapse_spread"]),
    }
    for name, log_p in expected.items():
        assert trace.nodes[name]["log_prob_sum"].item() == pytest.approx(log_p.sum(), rel=1e-4), (
            name
        )
    logit = np.log(value["person_lapse"] / (1 - value["person_lapse"]))
    typical = value["typical_lapse"]
    centre = np.log(typical / (1 - typical))
    of_lapses = stats.norm(centre, value["lapse_spread"]).logpdf(logit) - np.log(
        value["person_lapse"] * (1 - value["person_lapse"])
    )
    got = trace.nodes["person_lapse"]["log_prob_sum"].item()
    assert got == pytest.approx(of_lapses.sum(), rel=1e-3)


def test_a_number_fixes_a_spread():
    model = pv.Model(
        pv.SpikeSlab(), M, D, every_question(False, LABELS), people=pv.People(0.4, 0.2)
    )
    assert set(model.structure.latent) == {"X", "person_weight", "person_temperature"}
    node = model.structure.latent["person_weight"]
    assert node["fn"].base_dist.scale.flatten()[0].item() == pytest.approx(0.4)


def test_groups_are_relative_to_everybody_too(sites):
    people = pv.People(groups=GROUPED)
    model = pv.Model(pv.SpikeSlab(), M, D, people=people, known_people=LABELS)
    means = torch.tensor([[0.1, 0.2, 0.3], [-0.5, 0.0, 0.4]])
    found = model.relative(sites | {"group_log_weight": means})
    common = sites["person_weight"].log().mean(0)
    torch.testing.assert_close(found["group_log_weight"], means - common)
    torch.testing.assert_close(found["person_weight"].log().mean(0), torch.zeros(D).double())


def test_equal_people_are_equal():
    def people(scale):
        return pv.People(weights=dist.HalfNormal(scale), groups={"a": "x", "b": "y"})

    assert people(0.3) == people(0.3)
    assert hash(people(0.3)) == hash(people(0.3))
    assert people(0.3) != people(0.4)
    assert people(0.3) != pv.People()


def test_newcomers_cover_the_population(sites):
    model = pv.Model(pv.SpikeSlab(), M, D, people=pv.People(lapse=True), known_people=LABELS)
    drawn = list(model.with_newcomers([sites] * 400, 400, seed=0))
    weights = torch.stack([each["new_weight"] for each in drawn]).log().numpy()
    np.testing.assert_allclose(weights.mean(0), 0, atol=0.01)
    np.testing.assert_allclose(weights.std(0), 0.5, rtol=0.02)
    lapses = torch.stack([each["new_lapse"] for each in drawn]).logit().numpy()
    assert np.median(lapses) == pytest.approx(np.log(0.07 / 0.93), abs=0.02)


def test_somebody_new_is_an_average_over_the_population(sites):
    """Against plain Monte Carlo, written out."""
    people = pv.People()
    model = pv.Model(pv.SpikeSlab(), M, D, people=people, known_people=LABELS)
    asked = every_question(False, (None,))
    n = 400
    got = np.mean(
        [
            model.choice_log_probability(each, asked).exp().numpy()
            for each in model.with_newcomers([sites] * n, n, seed=0)
        ],
        axis=0,
    )
    rng = np.random.default_rng(0)
    X = sites["X"].clamp(min=0).numpy()
    many = 20_000
    w, t = np.exp(rng.normal(0, 0.5, (many, D))), np.exp(rng.normal(0, 0.3, many))
    i, j, k = asked.objects[0]
    s = np.stack([(w * X[a] * X[b]).sum(1) for a, b in ((j, k), (i, k), (i, j))], 1) / t[:, None]
    expected = (np.exp(s) / np.exp(s).sum(1, keepdims=True)).mean(0)
    # 20,000 draws have an error of about .001.
    np.testing.assert_allclose(got[0], expected, atol=0.005)


def test_simulated_people_answer_as_they_are():
    X = np.random.default_rng(1).gamma(1.0, 0.8, (5, 2))
    people = differing_people(2, 2, weights=1.0, lapse=0.1)
    data = pv.simulate(X, 60_000, seed=3, people=people)
    row = [0, 1, 2]
    here = (data.objects == row).all(1)
    for label, traits in people.iterrows():
        mine = data.odd[here & (data.participants == label)]
        share = np.bincount(mine, minlength=3) / len(mine)
        weights = traits[["weight 1", "weight 2"]].to_numpy()
        expected = reference(X, row, -1, weights, traits.temperature, traits.lapse, 0)
        # About 3,000 answers: a standard error below .01.
        np.testing.assert_allclose(share, expected, atol=0.03)


def test_groups_are_a_column_that_may_have_gaps():
    column = pd.Series(["x", "x", np.nan, "y"], index=["ann", "ann", "bob", "cat"])
    assert pv.People(groups=column).group_of() == {"ann": "x", "cat": "y"}
    assert pv.People(groups={"ann": "x", "bob": None}).group_of() == {"ann": "x"}


def test_numbers_of_numpy_fix_a_spread():
    assert pv.People(weights=np.float32(0.5), lapse=np.int64(1)) == pv.People(0.5, lapse=1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pv.People(weights=False, temperature=False), "is one mind: leave people= out"),
        (lambda: pv.People(weights=-1), "expected False, True, the spread as a positive number"),
        (lambda: pv.People(lapse=dist.Normal(0, 1)), "a distribution of positive numbers"),
        (lambda: pv.People(groups=["a"]), "expected the group of each person"),
        (lambda: pv.People(groups={"a": None}), "every value is missing"),
        (lambda: pv.People(groups=pd.DataFrame({"who": ["a"]})), r"set_index\('person'\)"),
        (lambda: pv.People(groups=pd.Series(["x", "y"], ["a", "a"])), "'a' in more than one group"),
        (lambda: pv.People(weights=False, groups={"a": "x"}), "weights=False: say weights=True"),
        (lambda: pv.Model(pv.SpikeSlab(), 3, 2, people="all"), "expected None for one mind"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(PyroviceError, match=message):
        make()


@pytest.mark.parametrize(
    ("people", "participants", "message"),
    [
        (pv.People(), None, "these judgments do not say: give participants"),
        (pv.People(), ["a"] * 4, "by one person, 'a'"),
        (pv.People(), [None] * 4, "by nobody who is known"),
        (pv.People(groups={"y": "x", "z": "y"}), list("abab"), r"people who did not judge \(2\)"),
        (pv.People(groups={"a": "x", "b": "y"}), list("abab"), "two groups of at least two people"),
    ],
)
def test_people_who_cannot_be_told_apart_are_refused(people, participants, message):
    data = pv.Triplets([[0, 1, 2]] * 4, [0, 1, 2, 0], participants=participants)
    with pytest.raises(DataError, match=message):
        pv.fit(data, people=people, dimensions=2, progress=False)


def test_groups_may_name_people_who_were_excluded():
    data = pv.Triplets([[0, 1, 2]] * 4, [0, 1, 2, 0], participants=list("abcd"))
    groups = {"a": "x", "b": "x", "c": "y", "d": "y"}
    with pytest.warns(pv.PyroviceWarning, match=r"left out \(1: 'gone'\)"):
        model = pv.Model(
            pv.SpikeSlab(), 3, 2, data, people=pv.People(groups=groups | {"gone": "x"})
        )
    assert model.people == pv.People(groups=groups)
    assert model.known_people == tuple("abcd")


def test_too_many_deviations_are_refused():
    with pytest.raises(PyroviceError, match="300 people from 1,854"):
        pv.Model(pv.SpikeSlab(), 1854, 100, people=pv.People(own=True), known_people=range(300))


def test_pyro_sees_who_depends_on_what():
    model = pv.Model(pv.SpikeSlab(), M, D, every_question(False, LABELS), people=pv.People())
    relations = get_model_relations(model)
    assert set(relations["sample_sample"]["odd"]) == {"X", "person_weight", "person_temperature"}
    assert set(relations["plate_sample"]["person"]) == {"person_weight", "person_temperature"}


def test_traits_of_many_judgments_have_the_derivatives_of_few():
    torch.manual_seed(0)
    trait = torch.rand(2, 6, requires_grad=True)
    who = torch.randint(0, 6, (COPIED_FROM,))
    each = of_each(trait, who)
    assert torch.equal(each, trait[:, who])
    weight = torch.rand(COPIED_FROM)
    (slope,) = torch.autograd.grad((each * weight).sum(), trait)
    summed = torch.zeros(6, dtype=torch.double).index_add_(0, who, weight.double())
    torch.testing.assert_close(slope.double(), summed.expand(2, 6), rtol=1e-5, atol=0.0)
