"""The population behind a fit, against autograd, exact Normals and brute force."""

import numpy as np
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by
from scipy import stats

import pyrovice as pv
from pyrovice.model.choices import log_probability
from pyrovice.model.people import Crowd
from pyrovice.results.population import OFF_BY, SPREADS, Population, redraw_people
from pyrovice.results.trait_evidence import Evidence, evidence_of_answers

D, P = 3, 5


@pytest.fixture(scope="module")
def model():
    people = differing_people(P, D, seed=1)
    data = judged_by(people, sparse_embedding(12, D, seed=0), 80, seed=1, anchored=0.3)
    return pv.Model(pv.SpikeSlab(), 12, D, data, people=pv.People(lapse=True))


@pytest.fixture(scope="module")
def sites(model):
    torch.manual_seed(0)
    return {
        "X": torch.rand(12, D),
        "person_weight": torch.rand(P, D) + 0.5,
        "person_temperature": torch.rand(P) + 0.5,
        "person_lapse": torch.rand(P) / 5 + 0.02,
        "typical_lapse": torch.tensor(0.1),
        "weight_spread": torch.full((D,), 0.4),
        "temperature_spread": torch.tensor(0.3),
        "lapse_spread": torch.tensor(1.0),
    }


def test_evidence_is_score_and_fisher_information(model, sites):
    """By automatic differentiation of everybody's answers, in float64."""
    traits = ["person_weight", "person_temperature", "person_lapse"]
    found = evidence_of_answers(model, sites, traits)
    exact = {name: value.double() for name, value in sites.items()}
    asked = model.judgments()

    def log_p(line):
        given = exact | {
            "person_weight": line[:, :D].exp(),
            "person_temperature": line[:, D].exp(),
            "person_lapse": line[:, D + 1].sigmoid(),
        }
        return log_probability(model.answers.as_given(), given, asked)

    line = torch.cat(
        [
            exact["person_weight"].log(),
            exact["person_temperature"].log()[:, None],
            exact["person_lapse"].logit()[:, None],
        ],
        1,
    )
    slopes = torch.autograd.functional.jacobian(log_p, line).nan_to_num(0.0)
    p = log_p(line).exp()
    for person in range(P):
        own = slopes[:, :, person]
        fisher = torch.einsum("nok,no,nol->kl", own, p, own)
        score = own[torch.arange(len(asked)), asked.odd].sum(0)
        torch.testing.assert_close(found.precision[person].double(), fisher, rtol=2e-3, atol=1e-2)
        shift = fisher @ line[person] + score
        torch.testing.assert_close(found.shift[person].double(), shift, rtol=2e-3, atol=5e-2)


def one_trait(precision, shift, people, answers=None):
    """A population of temperatures alone."""
    n = len(shift)
    crowd = Crowd(people, pv.choices.DotProduct(), range(n), 5, 2)
    sites = {"person_temperature": torch.ones(n), "temperature_spread": torch.tensor(0.3)}
    evidence = Evidence(precision[:, None, None], shift[:, None])
    return Population(crowd, sites, ["person_temperature"], evidence, answers)


def drawn(population, n):
    torch.manual_seed(0)
    found = [population.values() for _ in population.steps(n)]
    return {name: torch.stack([each[name] for each in found]).numpy() for name in found[0]}


def expected_covariance(variance):
    """Of a trait of people who have a scale in common."""
    return np.diag(variance) + OFF_BY**2


def test_with_the_spread_given_traits_are_the_exact_normals():
    precision, shift = torch.tensor([0.0, 4.0, 50.0]), torch.tensor([0.0, 3.0, -20.0])
    people = pv.People(weights=False, temperature=0.3)
    found = np.log(drawn(one_trait(precision, shift, people), 8000)["person_temperature"])
    prior = expected_covariance(np.full(3, 0.09))
    expected = np.linalg.inv(np.diag(precision.numpy()) + np.linalg.inv(prior))
    # Some 4,000 independent draws.
    np.testing.assert_allclose(found.mean(0), expected @ shift.numpy(), atol=0.03)
    np.testing.assert_allclose(np.cov(found.T), expected, atol=0.02)


def test_what_people_have_in_common_is_no_difference_between_them():
    """An embedding whose scale is off: someone of whom little is known is like all others."""
    precision = torch.tensor([50.0] * 6 + [0.5])
    population = one_trait(precision, precision, pv.People(weights=False))
    found = drawn(population, 2000)
    ratio = found["person_temperature"][:, -1] / found["person_temperature"][:, 0]
    # Measured 1.00 and .13; everybody around one would have 1 / e and .6.
    assert np.median(ratio) == pytest.approx(1, abs=0.1)
    assert found["temperature_spread"].mean() < 0.25


@pytest.mark.parametrize("truth", [0.05, 0.3, 1.0])
def test_the_spread_is_its_exact_posterior(truth):
    """By numerical integration with everybody's trait integrated out."""
    rng = np.random.default_rng(int(100 * truth))
    variance = rng.uniform(0.02, 0.5, 40)
    seen = rng.normal(0, np.sqrt(truth**2 + variance))
    prior = dist.HalfNormal(0.5)
    population = one_trait(
        torch.tensor(1 / variance).float(),
        torch.tensor(seen / variance).float(),
        pv.People(weights=False, temperature=prior),
    )
    found = drawn(population, 3000)["temperature_spread"]
    grid = SPREADS.numpy()
    log_p = stats.halfnorm(0, 0.5).logpdf(grid) + np.log(grid)
    log_p += [
        stats.multivariate_normal(cov=expected_covariance(spread**2 + variance)).logpdf(seen)
        for spread in grid
    ]
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    mean = (p * grid).sum()
    sd = np.sqrt((p * (grid - mean) ** 2).sum())
    # About a thousand independent draws.
    assert found.mean() == pytest.approx(mean, abs=0.15 * sd)
    assert found.std() == pytest.approx(sd, rel=0.15)


class Counts:
    """Answers of people who count events at the rate exp(u) for some hours."""

    def __init__(self, counts, hours):
        self.counts, self.hours = counts, hours

    def __len__(self):
        return len(self.counts)

    def __call__(self, u):
        return (self.counts[:, None] * u - self.hours * u.exp()).sum(-1)


def test_what_answers_say_beyond_a_normal_is_in_the_draws():
    """Skewed, where few events are counted very much so; by numerical integration."""
    counts, hours = torch.tensor([0.0, 1.0, 2.0, 6.0, 20.0, 0.0]), 4.0
    # Deliberately poor: the information at u = 0, and no look at the counts.
    precision, shift = torch.full((6,), hours), counts - hours
    population = one_trait(
        precision,
        shift,
        pv.People(weights=False, temperature=dist.HalfNormal(0.5)),
        Counts(counts, hours),
    )
    found = drawn(population, 24_000)
    u, spread = np.linspace(-5, 3, 801), SPREADS.numpy()
    log_answers = counts.numpy()[:, None] * u - hours * np.exp(u)
    # Everybody's trait by what they have in common and the spread, (people, common, spreads, u).
    common = np.linspace(-3, 3, 61)
    sums, means, squares = (np.zeros((6, len(common), len(spread))) for _ in range(3))
    for i, c in enumerate(common):
        joint = np.exp(log_answers[:, None] + stats.norm(c, spread[:, None]).logpdf(u))
        sums[:, i] = joint.sum(2)
        means[:, i], squares[:, i] = joint @ u / sums[:, i], joint @ u**2 / sums[:, i]
    log_p = np.log(sums).sum(0) + stats.norm(0, OFF_BY).logpdf(common)[:, None]
    log_p += stats.halfnorm(0, 0.5).logpdf(spread) + np.log(spread)
    both = np.exp(log_p - log_p.max())
    both /= both.sum()
    mean, square = ((each * both).sum((1, 2)) for each in (means, squares))
    sd, p = np.sqrt(square - mean**2), both.sum(0)
    # A few hundred independent draws. The Normal would be off by one to three of these sds.
    log_temperature = np.log(found["person_temperature"])
    np.testing.assert_allclose((log_temperature.mean(0) - mean) / sd, 0, atol=0.2)
    np.testing.assert_allclose(log_temperature.std(0), sd, rtol=0.15)
    assert found["temperature_spread"].mean() == pytest.approx(p @ spread, rel=0.08)


def test_traits_that_explain_the_same_vary_together():
    """A person's weights and temperature are told apart by little, and the draws know it."""
    information = torch.tensor([[10.0, 9.5], [9.5, 10.0]])
    crowd = Crowd(pv.People(0.5, 0.5), pv.choices.DotProduct(), range(3), 5, 1)
    sites = {"person_weight": torch.ones(3, 1), "person_temperature": torch.ones(3)}
    evidence = Evidence(information.expand(3, 2, 2), torch.zeros(3, 2))
    population = Population(crowd, sites, list(sites), evidence)
    found = drawn(population, 24_000)
    lines = np.stack(
        [np.log(found["person_weight"][:, 0, 0]), np.log(found["person_temperature"][:, 0])]
    )
    # People by traits.
    prior = np.kron(expected_covariance(np.full(3, 0.25)), np.eye(2))
    of_all = np.linalg.inv(np.kron(np.eye(3), information.numpy()) + np.linalg.inv(prior))
    np.testing.assert_allclose(np.cov(lines), of_all[:2, :2], atol=0.02)


def test_traits_that_are_held_answer_as_those_that_are_sampled(model, sites):
    crowd, asked = model.answers, model.judgments()
    held = crowd.holding(sites)(sites["X"], asked)
    torch.testing.assert_close(held, log_probability(crowd, sites, asked))


def test_where_people_have_only_entries_of_their_own_nothing_is_drawn_anew(model):
    own = pv.People(weights=False, temperature=False, own=True)
    other = pv.Model(pv.SpikeSlab(), 12, D, model.data, people=own, known_people=model.known_people)
    assert redraw_people(pv.MeanField()(other), other, 5) == {}
