"""Threads of one process: Pyro serves one of them at a time, and is left as it was found."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pyro
import pytest
import torch
from pyro import poutine

import pyrovice as pv
from pyrovice.model.pyro_lock import pyro_locked

SHORT = pv.Training(stop=pv.MaxEpochs(40))
pytestmark = pytest.mark.filterwarnings("ignore:All . dimensions", "ignore:Training ended")


def quick(data, seed=0, **arguments):
    return pv.fit(
        data, seed=seed, progress=False, **{"dimensions": 4, "training": SHORT} | arguments
    )


def weights(fit):
    return fit.embedding(pruned=False).to_numpy()


def test_fits_in_threads_are_those_of_one_after_another(small):
    alone = [weights(quick(small, seed)) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: weights(quick(small, seed)), range(4)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not poutine.runtime._PYRO_STACK


def test_what_runs_beside_a_fit_leaves_it_alone(small):
    """Draws, priors and predictions in one thread, fits with code and without in another."""
    fitted = quick(small, prior=pv.ARD())
    alone = weights(quick(small, prior=pv.ARD(), seed=3))

    def others(_):
        fitted.hyperparameters()
        fitted.elbo(small, particles=2)
        pv.Model(pv.LearnedSpikeSlab(), 5, 2).structure  # noqa: B018
        return fitted.predict(small, draws=2)

    with ThreadPoolExecutor(3) as pool:
        fit = pool.submit(quick, small, 3, prior=pv.ARD())
        found = list(pool.map(others, range(6)))
        np.testing.assert_array_equal(weights(fit.result()), alone)
    assert all(np.array_equal(each, found[0]) for each in found)


@pytest.mark.filterwarnings("ignore:Not known to have converged")
def test_chains_run_in_threads_too(small):
    """A backend of threads must not wait for the thread that waits for it."""
    fitted = quick(small, dimensions=2)
    apart = pv.refine(fitted, small, draws=6, chains=2)
    with joblib.parallel_config(backend="threading"):
        inside = pv.refine(fitted, small, draws=6, chains=2)
    np.testing.assert_array_equal(weights(apart), weights(inside))


def leaking(n_objects, dimensions):
    """A prior that dies with a handler and a plate open."""
    poutine.trace().__enter__()
    pyro.plate("left open", 3, dim=-4).__enter__()
    raise RuntimeError("broken prior")


def test_a_fit_that_fails_leaves_pyro_as_it_was(small):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken prior"):
            quick(small, prior=leaking)
        assert not poutine.runtime._PYRO_STACK
        assert not poutine.runtime._DIM_ALLOCATOR._stack
    quick(small)
    assert not pyro.settings.get("module_local_params")


def test_handlers_of_the_caller_stay(small):
    with poutine.block():
        before = list(poutine.runtime._PYRO_STACK)
        with pytest.raises(RuntimeError, match="broken prior"):
            quick(small, prior=leaking)
        assert before == poutine.runtime._PYRO_STACK


def test_random_numbers_of_the_program_go_on_as_before(small):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with pytest.raises(RuntimeError, match="broken prior"):
        quick(small, prior=leaking)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)


def take_the_lock(queue):
    with pyro_locked():
        queue.put("free")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_does_not_inherit_a_lock_that_is_held():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    held, done = multiprocessing.Event(), multiprocessing.Event()

    def hold():
        with pyro_locked():
            held.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        held.wait(60)
        child = context.Process(target=take_the_lock, args=(queue,))
        child.start()
        try:
            assert queue.get(timeout=60) == "free"
        finally:
            done.set()
            child.kill()
