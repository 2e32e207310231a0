"""Odd data, seeds, priors and states of torch: a fit, or a sentence before any time is spent."""

import numpy as np
import pyro.distributions as dist
import pytest
import torch

import pyrovice as pv
from pyrovice.inference.stopping import MaxEpochs
from pyrovice.results import posterior

SHORT = pv.Training(stop=MaxEpochs(20))
pytestmark = pytest.mark.filterwarnings("ignore:All . dimensions", "ignore:These .* carry no dim")


def quick(data, **arguments):
    return pv.fit(data, progress=False, **{"dimensions": 4, "training": SHORT} | arguments)


@pytest.mark.parametrize(
    "data",
    [
        pv.Triplets([[0, 1, 2], [0, 1, 2]], [1, 2], anchor=[0, 0]),
        pv.Triplets([[0, 1, 2]] * 3, [0, 1, 2]),
        pv.Triplets([[0, 1, 2]], [1]),
    ],
    ids=["opposite anchored answers", "every answer once", "one judgment"],
)
def test_answers_that_cancel_out(data):
    fit = quick(data, dimensions="auto")
    assert np.isfinite(fit.embedding(pruned=False).to_numpy()).all()


@pytest.mark.parametrize("seed", [2**32, 2**64, -1, 0.5])
def test_seeds_that_torch_cannot_tell_apart(small, small_fit, seed):
    said = r"seed=.*; expected a whole number"
    for call in (
        lambda: quick(small, seed=seed),
        lambda: pv.sample(small, seed=seed),
        lambda: pv.refine(small_fit, small, seed=seed),
        lambda: pv.sweep(small, small, priors=[pv.SpikeSlab()], seeds=[seed]),
        lambda: small_fit.draws(2, seed),
        lambda: small_fit.predict(small, seed=seed),
        lambda: small_fit.elbo(small, seed=seed),
    ):
        with pytest.raises(pv.PyroviceError, match=said):
            call()


def test_the_largest_seed_is_one_of_its_own(small):
    fits = [quick(small, seed=seed).embedding(pruned=False) for seed in (0, 2**32 - 1)]
    assert not np.allclose(*fits)


@pytest.mark.parametrize(
    "prior",
    [
        lambda: pv.SpikeSlab(spike=1e-30),
        lambda: pv.SpikeSlab(slab=1e30),
        lambda: pv.LearnedSpikeSlab(spike=1e-12),
        lambda: pv.ARD(1e-40),
        lambda: pv.Horseshoe(1e20),
    ],
)
def test_scales_that_cannot_be_computed_with(prior):
    with pytest.raises(pv.PriorError, match=r"cannot be computed with; expected 1e-08 to 1e\+08"):
        prior()


def test_the_narrowest_spike(small):
    fit = quick(small, prior=pv.SpikeSlab(spike=1e-8))
    assert np.isfinite(fit.embedding(pruned=False).to_numpy()).all()


def test_a_prior_of_pyro_that_cannot_be_computed_with(small):
    with pytest.raises(pv.PyroviceError, match=r"The (loss|weights) became"):
        quick(small, prior=dist.Normal(0.0, 1e-30))


@pytest.mark.parametrize("switched_off", [torch.no_grad, torch.inference_mode])
def test_gradients_that_are_switched_off(small, switched_off):
    expected = quick(small).embedding(pruned=False)
    with switched_off():
        fit = quick(small)
        assert not torch.is_grad_enabled()
        sampled = pv.Triplets(small.objects[:50], small.odd[:50], names=small.names)
        with pytest.warns(pv.PyroviceWarning, match="one chain cannot say"):
            pv.sample(sampled, dimensions=1, draws=4, warmup=4, chains=1)
        fit.elbo(small, particles=2)
    assert fit.embedding(pruned=False).equals(expected)
    # It can be trained further outside.
    assert all(parameter.requires_grad for parameter in fit.guide.parameters())
    assert not any(parameter.is_inference() for parameter in fit.guide.parameters())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_numbers_too_coarse_to_train_with(small, dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with pytest.raises(pv.PyroviceError, match=f"is {dtype}; expected torch.float32 or torch"):
            quick(small)
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("what", ["names", "participants"])
def test_half_a_character(what):
    with pytest.raises(pv.DataError, match=rf"{what}: 'a\\ud800' holds half of a character"):
        pv.Triplets([[0, 1, 2]] * 3, [0, 0, 1], **{what: ["a\ud800", "b", "ü😀"]})


def test_no_fit_is_lost_to_code_that_runs_after_training(small, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("of a user's prior")

    monkeypatch.setattr(posterior, "redraw_prior_sites", broken)
    with pytest.warns(pv.PyroviceWarning, match=r"given X \(of a user's prior\)"):
        fit = quick(small, prior=pv.ARD())
    assert fit.site("scale").shape[2:] == (4,)


# ---------------------------------------------------------------------- what is said of the end


def test_a_number_of_epochs_is_not_convergence(small):
    fit = quick(small, training=pv.Training(stop=MaxEpochs(3)))
    assert not fit.converged
    assert "not converged" in repr(fit)


def test_a_fit_that_has_settled_by_then_says_so(small, small_fit):
    long_enough = len(small_fit.history) + 300
    fit = quick(small, dimensions=6, training=pv.Training(stop=MaxEpochs(long_enough)))
    assert fit.converged


@pytest.mark.parametrize(("rate", "advice"), [(1e6, "'auto'"), (1e30, "'auto'")])
def test_advice_after_divergence(small, rate, advice):
    with pytest.raises(pv.PyroviceError, match=rf"Training\(learning_rate={advice}\)"):
        quick(small, training=pv.Training(learning_rate=rate, schedule=None))
