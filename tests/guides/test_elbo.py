import numpy as np
import pyro
import pytest
import torch
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta

import pyrovice as pv
from pyrovice.guides.elbo import TwoTermELBO


def test_terms_are_pyros_elbo(small_fit):
    for particles, vectorize in ((1, False), (3, False), (3, True)):
        options = {
            "num_particles": particles,
            "vectorize_particles": vectorize,
            "max_plate_nesting": 2,
        }
        pyro.set_rng_seed(5)
        log_likelihood, complexity = TwoTermELBO(**options).terms(small_fit.model, small_fit.guide)
        pyro.set_rng_seed(5)
        expected = Trace_ELBO(**options).loss(small_fit.model, small_fit.guide)
        assert (complexity - log_likelihood).item() == pytest.approx(expected, rel=1e-5)


def test_gradients_are_pyros(small_fit):
    gradients = []
    for use_terms in (True, False):
        guide = small_fit.guide.select(range(small_fit.model.dimensions))
        pyro.set_rng_seed(5)
        if use_terms:
            log_likelihood, complexity = TwoTermELBO().terms(small_fit.model, guide)
            (complexity - log_likelihood).backward()
        else:
            Trace_ELBO().loss_and_grads(small_fit.model, guide)
        gradients.append([p.grad for p in guide.parameters()])
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_reported_loss_is_pyros_over_n(small, small_fit):
    """The history's last losses agree with Pyro's own estimate, within its noise."""
    pyro.set_rng_seed(0)
    losses = [Trace_ELBO().loss(small_fit.model, small_fit.guide) for _ in range(100)]
    reported = small_fit.history.loss.iloc[-50:].mean() * len(small)
    spread = np.std(losses) * np.sqrt(1 / 100 + 1 / 50)
    assert abs(np.mean(losses) - reported) < 4 * spread


def test_subsampled_loss_is_unbiased_and_exact_for_everything(small, small_fit):
    delta = AutoDelta(small_fit.model)
    delta()
    whole = Trace_ELBO().loss(small_fit.model, delta)
    everything = torch.randperm(len(small), generator=torch.Generator().manual_seed(0))
    assert Trace_ELBO().loss(small_fit.model, delta, None, everything) == pytest.approx(
        whole, rel=1e-5
    )
    parts = [Trace_ELBO().loss(small_fit.model, delta, None, b) for b in everything.split(100)]
    assert np.mean(parts) == pytest.approx(whole, rel=1e-5)


def test_a_guide_without_gradients_is_refused(small):
    def guide():
        with pyro.plate("object", 20, dim=-2), pyro.plate("dimension", 3, dim=-1):
            pyro.sample("X", pv.SpikeSlab().distribution())

    with pytest.raises(pv.GuideError, match="no reparameterised gradient"):
        TwoTermELBO().terms(pv.Model(pv.SpikeSlab(), 20, 3, small), guide)
