import multiprocessing

import pyro
import pytest
from helpers.embeddings import sparse_embedding
from helpers.people import differing_people, judged_by
from helpers.snippets import QuickFits

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
def people_data():
    """20 objects, 3 dimensions, ten people with 300 judgments each."""
    people = differing_people(10, 3, weights=0.7)
    return judged_by(people, sparse_embedding(20, 3, seed=1), 300, seed=1)


@pytest.fixture(scope="session")
def people_fit(people_data):
    """Of people who differ in all but deviations of their own; nine of them are in two groups."""
    groups = {f"p{i:03d}": "novice" if i % 2 else "expert" for i in range(9)}
    people = pv.People(lapse=True, groups=groups)
    short = pv.Training(schedule=pv.Anneal(steps=400))
    return pv.fit(people_data, people=people, dimensions=4, training=short, progress=False)


@pytest.fixture(scope="session")
def processes():
    """Processes that have nothing in common with this one, and everything slow imported."""
    context = multiprocessing.get_context("forkserver")
    # The first optimiser of a process imports the latter.
    context.set_forkserver_preload(["pyrovice.cli", "pyrovice.sweeps.run", "torch._dynamo"])
    return context


@pytest.fixture(scope="session")
def quick_fits():
    """What stands for `pv.fit` where a page is run as printed."""
    return QuickFits()
