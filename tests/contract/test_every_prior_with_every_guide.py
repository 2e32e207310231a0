"""Swapping one argument changes nothing about what a fit can do."""

import numpy as np
import pytest
from contract.cases import GUIDES, PRIORS, pairs, refusal
from pyro.infer import Trace_ELBO

import pyrovice as pv
from pyrovice.guides import contains_mean_field
from pyrovice.model.priors import prior_of


def training(steps, learning_rate="auto"):
    # The paper's start is far from any optimum, so that there is something to learn.
    return pv.Training(
        start="noise",
        learning_rate=learning_rate,
        schedule=pv.Anneal(steps),
        stop=pv.MaxEpochs(steps),
    )


# A curvature wants a peak that is reached; a network learns slowly.
TRAINING = {"AutoLaplace": training(400, 0.1), "AutoIAFNormal": training(400, 0.01)}
# Starts from the prior's median, where all weights are next to nothing.
TRAINING["Features", "AutoLowRank"] = training(600, 0.05)
pytestmark = [
    pytest.mark.filterwarnings("ignore:All . dimensions were kept"),
    pytest.mark.filterwarnings("ignore:No dimension has more than five"),
    pytest.mark.filterwarnings("ignore:These .* carry no dimensions"),
]


@pytest.fixture(scope="module")
def data():
    truth = np.array([[2.0, 0.0], [1.7, 0.1], [1.5, 0.0], [1.2, 0.3], [1.9, 0.0], [0.1, 1.8],
                      [0.0, 1.6], [0.2, 1.4], [0.0, 2.0], [0.3, 1.5]])  # fmt: skip
    return pv.simulate(truth, 600, seed=0)


@pytest.mark.parametrize(("prior", "guide"), pairs())
def test_promises(data, tmp_path, prior, guide):
    def fit(by=GUIDES[guide]):
        return pv.fit(
            data,
            prior=PRIORS[prior],
            guide=by,
            dimensions=3,
            training=TRAINING.get((prior, guide)) or TRAINING.get(guide, training(150)),
            progress=False,
        )

    if refusal(prior, guide):
        with pytest.raises(pv.GuideError, match=refusal(prior, guide)):
            fit()
        return
    fitted = fit()
    loss = fitted.history.loss
    assert np.isfinite(loss).all()
    # A richer guide goes on from a plainer one, so that the plainer one's first steps are its own.
    goes_on = contains_mean_field(GUIDES[guide])
    first = fit(by=pv.MeanField()).history.loss if goes_on else loss
    assert loss.iloc[-20:].mean() < first.iloc[:5].mean()

    p = fitted.predict(data)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    assert fitted.evaluate(data).cross_entropy < np.log(3)
    for statistic in ("loc", "mean", "sd"):
        values = fitted.embedding(statistic, pruned=False)
        assert values.shape == (10, fitted.posterior.shape[1])
        assert (values.to_numpy() >= 0).all()
    assert (fitted.draws(3, seed=0) >= 0).all()
    # Where dimensions mean something in their order only, they stay in it.
    assert fitted.importance().is_monotonic_decreasing or fitted.columns is not None
    assert fitted.prune(rule="max").n_dimensions >= 1
    assert fitted.top_objects(2).shape[1] == fitted.n_dimensions
    assert np.nanmax(fitted.similarity().to_numpy()) <= 1
    assert np.isfinite(fitted.hyperparameters().to_numpy()).all()
    assert np.isfinite(Trace_ELBO().loss(fitted.model, fitted.guide))

    fitted.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert np.array_equal(loaded.predict(data), p)
    assert loaded.hyperparameters().equals(fitted.hyperparameters())
    given = prior_of(PRIORS[prior], data.names)
    expected = given.__name__ if prior == "own" else repr(given)
    assert repr(loaded.prior) == expected
