"""What features explain, and how far new objects can be off, where the truth is known."""

import numpy as np
import pandas as pd
import pytest
from helpers.featured import featured

import pyrovice as pv
from pyrovice.results.explained import explained

QUICK = pv.Training(schedule=pv.Anneal(steps=500), stop=pv.MaxEpochs(600))


@pytest.mark.slow
def test_known_shares_come_back_and_noise_explains_nothing():
    table, X, share = featured(400, columns=8, dimensions=3, residual=0.3, seed=4)
    noise = np.random.default_rng(5).standard_normal((400, 20))
    data = pv.simulate((2 * X).clip(lower=0), 150_000, seed=1)
    prior = pv.Features({"real": table, "noise": pd.DataFrame(noise, index=table.index)})
    fit = pv.fit(data, prior=prior, dimensions=8, training=QUICK, progress=False)
    assert fit.n_dimensions == 3
    found = explained(fit.prune())
    mu = fit.prune().posterior.marginals()[0]
    order = [np.argmax([np.corrcoef(mu[:, j], X[k])[0, 1] for k in range(3)]) for j in range(3)]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(found["all"], share[order], atol=0.05)
    assert (found["noise"] < 0.02).all()


@pytest.mark.slow
def test_intervals_of_new_objects_cover_their_similarities():
    table, X, _ = featured(300, columns=8, dimensions=3, residual=0.3, seed=6)
    truth = pv.simulate((2 * X).clip(lower=0), 100_000, seed=2)
    old = truth[(truth.objects < 270).all(axis=1)].compact()
    prior = pv.Features(table)
    fit = pv.fit(old, prior=prior, dimensions=8, training=QUICK, progress=False)
    extended = fit.with_objects(table[270:])
    drawn = extended.draws(400, seed=0)
    similarities = np.einsum("nik,njk->nij", drawn[:, 270:], drawn[:, :270])
    true = np.clip(2 * X.to_numpy(), 0, None)
    true = true[270:] @ true[:270].T
    for level in (0.5, 0.8, 0.95):
        low, high = np.quantile(similarities, [(1 - level) / 2, (1 + level) / 2], axis=0)
        assert abs(((low <= true) & (true <= high)).mean() - level) < 0.1
