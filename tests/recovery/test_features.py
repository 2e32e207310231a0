"""What features explain, and how far new objects can be off, where the truth is known."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.featured import featured

import pyrovice as pv
from pyrovice.results.explained import explained

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
    table, X, _ = featured(300, columns=8, dimensions=3, residual=0.3, seed=6)
    X = X - 0.4
    truth = pv.simulate((2.5 * X).clip(lower=0), 100_000, seed=2)
    old = truth[(truth.objects < 270).all(axis=1)].compact()
    prior = pv.Features(table)
    fit = pv.fit(old, prior=prior, dimensions=8, training=QUICK, progress=False)
    extended = fit.with_objects(table[270:])
    # How probably a new object is kept with an old one; dot products would have many exact zeros.
    thirds = torch.arange(0, 300, 5)
    drawn = [
        extended.model.kept_probability(each, thirds) for each in extended.posterior.each(200, 0)
    ]
    drawn = torch.stack(drawn)[:, 270:, :270].numpy()
    known = {"X": torch.tensor(2.5 * X.to_numpy(), dtype=torch.float32)}
    true = extended.model.kept_probability(known, thirds)[270:, :270].numpy()
    levels = np.array([0.5, 0.8, 0.95])
    ends = np.quantile(drawn, [(1 - levels) / 2, (1 + levels) / 2], axis=0)
    covered = ((ends[0] <= true) & (true <= ends[1])).mean(axis=(1, 2))
    np.testing.assert_allclose(covered, levels, atol=0.05)
