import multiprocessing

import pyro
import pytest
from helpers.embeddings import sparse_embedding

import pyrovice as pv


@pytest.fixture(autouse=True)
def _fresh_parameter_store():
    pyro.clear_param_store()


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
    context.set_forkserver_preload(["pyrovice.cli", "pyrovice.sweeps.run", "torch._dynamo"])
    return context
