"""What features explain, and how far new objects can be off, where the truth is known."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.featured import featured

import pyrovice as pv
from pyrovice.results.explained import explained

LEVELS = np.array([0.5, 0.8, 0.95])
QUICK = pv.Training(schedule=pv.Anneal(steps=500), stop=pv.MaxEpochs(600))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:All 3 dimensions were kept")
def test_known_shares_come_back_and_noise_explains_nothing():
    table, X, share = featured(400, columns=8, dimensions=3, residual=0.3, seed=4)
    noise = np.random.default_rng(5).standard_normal((400, 20))
    # Most weights below zero, so that dimensions cannot be rotated into each other.
    data = pv.simulate((2.5 * (X - 0.4)).clip(lower=0), 150_000, seed=1)
    prior = pv.Features({"real": table, "noise": pd.DataFrame(noise, index=table.index)})
    fit = pv.fit(data, prior=prior, dimensions=3, training=QUICK, progress=False)
    found = explained(fit)
    mu = fit.posterior.marginals()[0]
    order = [np.argmax([np.corrcoef(mu[:, j], X[k])[0, 1] for k in range(3)]) for j in range(3)]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(found["all"], share[order], atol=0.05)
    assert (found["noise"] < 0.02).all()


@pytest.mark.slow
def test_intervals_of_new_objects_cover_their_similarities():
    covered = np.mean([coverage_of_new_objects(seed) for seed in (6, 7, 8)], axis=0)
    np.testing.assert_allclose(covered, LEVELS, atol=0.05)


def coverage_of_new_objects(seed, m=320, old=240):
    """How often intervals of similarities between a new object and an old one hold the truth."""
    table, X, _ = featured(m, columns=8, dimensions=3, residual=0.3, seed=seed)
    X = 2.5 * (X - 0.4)
    truth = pv.simulate(X.clip(lower=0), 100_000, seed=seed)
    judged = truth[(truth.objects < old).all(axis=1)].compact()
    fit = pv.fit(judged, prior=pv.Features(table), dimensions=8, training=QUICK, progress=False)
    extended = fit.with_objects(table[old:])
    # How probably a pair is kept; dot products would have many exact zeros.
    thirds = torch.arange(0, m, 5)
    kept = [
        extended.model.kept_probability(each, thirds) for each in extended.posterior.each(100, 0)
    ]
    drawn = torch.stack(kept)[:, old:, :old].numpy()
    known = {"X": torch.tensor(X.to_numpy(), dtype=torch.float32)}
    true = extended.model.kept_probability(known, thirds)[old:, :old].numpy()
    ends = np.quantile(drawn, [(1 - LEVELS) / 2, (1 + LEVELS) / 2], axis=0)
    return ((ends[0] <= true) & (true <= ends[1])).mean(axis=(1, 2))
