"""The guides against NUTS, which is exact in the limit."""

import numpy as np
import pytest
from conftest import sparse_embedding

import pyrovice as pv

PAIRS = np.triu_indices(12, 1)


def similarities(draws):
    return np.einsum("nik,njk->nij", draws, draws)[:, *PAIRS]


@pytest.fixture(scope="module")
def data():
    return pv.simulate(sparse_embedding(12, 2, seed=3), 3000, seed=3)


@pytest.fixture(scope="module")
def nuts(data):
    return pv.sample(data, dimensions=2, draws=400, warmup=250, chains=2)


def test_nuts_has_converged_after_alignment(nuts):
    assert nuts.converged
    # Measured: 1.015, with 215 or more effective draws of 800.
    assert nuts.mixing().r_hat.max() < 1.02
    assert nuts.mixing().ess_bulk.min() > 100


@pytest.mark.filterwarnings("ignore:All 2 dimensions were kept")
@pytest.mark.parametrize(
    ("guide", "sd_ratio"), [(pv.MeanField(), (0.85, 0.97)), (pv.LowRank(5), (0.92, 1.06))]
)
def test_guides_agree_with_nuts_about_similarities(data, nuts, guide, sd_ratio):
    exact = similarities(np.maximum(nuts.posterior.pooled, 0))
    fit = pv.fit(data, dimensions=2, guide=guide, progress=False)
    approximate = similarities(fit.draws(4000, seed=0))
    error = approximate.mean(0) - exact.mean(0)
    # Similarities reach 9.9. Measured: root mean square 0.025 and 0.022, largest 0.50 and 0.46
    # posterior standard deviations.
    assert np.sqrt((error**2).mean()) < 0.06
    assert (np.abs(error) / exact.std(0)).max() < 0.8
    # Measured medians: 0.92 for mean-field, which cannot covary, and 0.99 for low rank.
    low, high = sd_ratio
    assert low < np.median(approximate.std(0) / exact.std(0)) < high
