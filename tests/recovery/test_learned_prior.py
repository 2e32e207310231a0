"""The sparsity that judgments were simulated with comes back, with an honest interval."""

import numpy as np
import pytest

import pyrovice as pv


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_learned_spike_slab_recovers_pi(seed):
    rng = np.random.default_rng(seed)
    pi, m, d = 0.7, 80, 5
    from_spike = rng.random((m, d)) < pi
    X = rng.normal(size=(m, d)) * np.where(from_spike, 0.1, 1.2)
    data = pv.simulate(np.maximum(X, 0), 30_000, seed=seed)
    fit = pv.fit(data, prior=pv.LearnedSpikeSlab(), dimensions=10, seed=seed, progress=False)
    table = fit.hyperparameters().droplevel("dimension")
    assert table.loc["pi", "5 %"] < pi < table.loc["pi", "95 %"]
    assert table.loc["pi", "95 %"] - table.loc["pi", "5 %"] < 0.25
    assert table.loc["slab", "5 %"] < 1.2 < table.loc["slab", "95 %"]
