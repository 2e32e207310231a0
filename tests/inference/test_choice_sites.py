"""What a fit says of its choice, against posteriors that are known."""

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch

import pyrovice as pv
from pyrovice.inference import choice_sites
from pyrovice.model.simulation import plausible_embedding

SHORT = pv.Training(schedule=pv.Anneal(150), stop=pv.MaxEpochs(150))
pytestmark = pytest.mark.filterwarnings("ignore::pyrovice.PyroviceWarning")
LAPSE = pv.choices.DotProduct(lapse=dist.Beta(1.0, 20.0))


def knowing(truth):
    """A prior that leaves next to nothing open about the weights."""
    centre = torch.tensor(truth, dtype=torch.float32)

    def prior(n_objects, dimensions):
        with (
            pyro.plate("object", n_objects, dim=-2),
            pyro.plate("dimension", dimensions, dim=-1),
        ):
            return pyro.sample("X", dist.Normal(centre, 0.001))

    return prior


def test_the_posterior_of_a_lapse_rate_given_the_weights(monkeypatch):
    # Where the weights are known the rate changes quickly, and a prior that is code takes its time.
    monkeypatch.setattr(choice_sites, "STEPS_APART", (8, 8))
    truth = plausible_embedding(12, 2, seed=0)
    data = pv.simulate(truth, 1500, seed=0, choice=pv.choices.DotProduct(lapse=0.2))
    fit = pv.fit(
        data, prior=knowing(truth), choice=LAPSE, dimensions=2, training=SHORT, progress=False
    )
    grid = torch.linspace(0.0005, 0.6, 1200)
    p = pv.Model(pv.SpikeSlab(), 12, 2).choice_log_probability(
        {"X": torch.tensor(truth, dtype=torch.float32)}, data
    )
    answered = p.exp().gather(-1, torch.tensor(data.odd.astype(int))[:, None])
    log_p = ((1 - grid) * answered + grid / 3).log().sum(0) + dist.Beta(1.0, 20.0).log_prob(grid)
    weight = torch.softmax(log_p, 0)
    mean = float((weight * grid).sum())
    sd = float((weight * (grid - mean) ** 2).sum().sqrt())
    found = fit.site("lapse").to_numpy().ravel()
    assert found.mean() == pytest.approx(mean, abs=0.5 * sd)
    assert found.std() == pytest.approx(sd, rel=0.35)


def test_the_guide_invents_lapses_and_the_fit_does_not():
    truth = plausible_embedding(20, 3, seed=1)
    data = pv.simulate(truth, 6000, seed=1)
    fit = pv.fit(data, choice=LAPSE, dimensions=5, training=SHORT, progress=False)
    found = fit.hyperparameters().loc[("lapse", "all")]
    assert found["5 %"] < 0.01
    assert found["95 %"] < 0.08
    assert found["mean"] < float(fit.guide.median()["lapse"]) + 0.002


def test_weights_and_temperature_trade_places_without_changing_an_answer():
    data = pv.simulate(plausible_embedding(10, 2, seed=0), 300, seed=0)
    choice = pv.choices.DotProduct(temperature=dist.LogNormal(0.0, 0.3))
    model = pv.Model(dist.Normal(0.0, 1.0), 10, 2, data, choice=choice)
    guide = pv.MeanField()(model)
    walk = choice_sites.Walk(guide, model, 10)
    torch.manual_seed(0)
    # Without judgments both would follow their priors, however they begin.
    sites = {"X": torch.randn(10, 2), "temperature": torch.tensor(3.0)}
    before = model.choice_log_probability(sites, data)
    drawn = []
    for _ in range(300):
        sites = walk._rescaled(sites)
        drawn.append((float(sites["temperature"]), float(sites["X"].square().sum())))
    torch.testing.assert_close(
        model.choice_log_probability(sites, data), before, rtol=1e-3, atol=1e-3
    )
    hot, squares = np.array(drawn).T
    np.testing.assert_allclose(squares / hot, squares[0] / hot[0], rtol=1e-3)
    # Along this line the density of t = log c is exp(-r² c²/2) c^(20 + 2) LogNormal(c² T₀).
    t = np.linspace(-2, 2, 4001)
    log_p = 22 * t - squares[0] * np.exp(2 * t) / 2
    log_p -= (np.log(hot[0]) + 2 * t) ** 2 / (2 * 0.3**2) + 2 * t
    weight = np.exp(log_p - log_p.max())
    mean = (weight * t).sum() / weight.sum()
    assert np.log(hot[50:] / hot[0]).mean() / 2 == pytest.approx(mean, abs=0.02)


def test_a_walk_that_runs_away_leaves_the_guides_draws(monkeypatch):
    monkeypatch.setattr(choice_sites, "_steady_draws", lambda walk, n: None)
    data = pv.simulate(plausible_embedding(10, 2, seed=0), 300, seed=0)
    with pytest.warns(pv.PyroviceWarning, match="posterior of lapse could not be sampled"):
        fit = pv.fit(data, choice=LAPSE, dimensions=2, training=SHORT, progress=False)
    assert fit.site("lapse").shape == (1, 500)


def test_a_step_that_is_too_long_is_halved(monkeypatch):
    monkeypatch.setattr(choice_sites, "STEP", 8.0)
    monkeypatch.setattr(choice_sites, "KEPT", (10, 10))
    monkeypatch.setattr(choice_sites, "HALVINGS", 7)
    data = pv.simulate(plausible_embedding(10, 2, seed=0), 300, seed=0)
    fit = pv.fit(data, choice=LAPSE, dimensions=2, training=SHORT, progress=False)
    assert fit.site("lapse").shape == (1, 10)
    assert np.isfinite(fit.site("lapse")).all()


class Heats:
    """A walk of given temperatures, one for each step that is tried."""

    def __init__(self, *heats):
        self.heats, self.draws_made = iter(heats), 0

    def draws(self, step):
        heat = next(self.heats)
        while True:
            self.draws_made += 1
            yield {}, heat


@pytest.mark.parametrize(
    ("heats", "draws_made", "steady"),
    [
        ((1.1,), 180, True),
        # Each path that is too hot ends early.
        ((2.0, 1.8, 1.2), 2 * 30 + 180, True),
        ((np.nan, np.inf, 1e20, 3.0, 1.0), 4 * 30 + 180, True),
        # A path may be too cold as well.
        ((0.2, 0.4, 0.8), 2 * 30 + 180, True),
        # Shorter steps that are no better are not tried for ever.
        ((2.0, 2.1, 1.9, 2.0, 1.95), 5 * 30, False),
        ((2.0, 2.1, 2.2), 3 * 30, False),
    ],
)
def test_steps_that_are_too_long_are_soon_given_up(heats, draws_made, steady):
    walk = Heats(*heats)
    found = choice_sites._steady_draws(walk, 180)
    assert walk.draws_made == draws_made
    assert (found is not None) == steady
    assert not steady or len(found) == 150


def test_a_temperature_beside_a_prior_that_learns_its_scale_is_said_to_be_unknown(monkeypatch):
    monkeypatch.setattr(choice_sites, "KEPT", (4, 4))
    data = pv.simulate(plausible_embedding(10, 2, seed=0), 300, seed=0)
    choice = pv.choices.DotProduct(temperature=dist.LogNormal(0.0, 0.3))
    with pytest.warns(pv.PyroviceWarning, match=r"learns its own scale \(scale\)"):
        pv.fit(data, prior=pv.ARD(), choice=choice, dimensions=2, training=SHORT, progress=False)
