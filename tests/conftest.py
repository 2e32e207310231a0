import multiprocessing

import numpy as np
import pyro
import pytest

import pyrovice as pv


@pytest.fixture(autouse=True)
def _fresh_parameter_store():
    pyro.clear_param_store()


def sparse_embedding(m, d, seed):
    """Non-negative weights, about a third of them not zero, none of the objects blank."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(4.0, 0.4, (m, d)) * (rng.random((m, d)) < 0.3)
    X[np.arange(m), rng.integers(0, d, m)] = rng.gamma(4.0, 0.4, m)
    return X


@pytest.fixture(scope="session")
def small():
    """20 objects, 3 dimensions, 3,000 judgments."""
    return pv.simulate(sparse_embedding(20, 3, seed=1), 3000, seed=1)


@pytest.fixture(scope="session")
def small_fit(small):
    return pv.fit(small, dimensions=6, progress=False)


@pytest.fixture(scope="session")
def processes():
    """Processes that have nothing in common with this one, and everything slow imported."""
    context = multiprocessing.get_context("forkserver")
    # The first optimiser of a process imports the latter.
    context.set_forkserver_preload(["pyrovice", "torch._dynamo"])
    return context
