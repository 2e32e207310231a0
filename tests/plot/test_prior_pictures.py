"""The pictures in the docstrings of priors are drawn from their densities."""

import inspect

import numpy as np
import pytest
import torch
from scipy import stats

import pyrovice as pv
from pyrovice.model.distributions import OneSidedSpikeAndSlab, RegularizedHorseshoe

BLOCKS = "▁▂▃▄▅▆▇█"
# Midpoints, because a horseshoe has no value at zero itself.
X = torch.arange(-1.95, 2, 0.1)[:, None]
LEVELS = (np.arange(200) + 0.5) / 200


def quantiles(law):
    return torch.as_tensor(law.ppf(LEVELS), dtype=torch.float32)


def spike_slab():
    return pv.SpikeSlab().distribution().log_prob(X[:, 0]).exp()


def learned_spike_slab():
    # The three hyper-priors are independent: their levels are paired in different orders.
    rng = np.random.default_rng(0)
    pi = quantiles(stats.uniform())
    spike = quantiles(stats.lognorm(0.5, scale=0.25))[rng.permutation(200)]
    slab = quantiles(stats.lognorm(0.5, scale=1.0))[rng.permutation(200)]
    return OneSidedSpikeAndSlab(spike, slab, pi).log_prob(X).exp().mean(1)


def horseshoe():
    return RegularizedHorseshoe(quantiles(stats.halfnorm(scale=0.3)), 1.0).log_prob(X).exp().mean(1)


def ard():
    scales = quantiles(stats.halfnorm(scale=0.5)).numpy()
    return torch.as_tensor(stats.norm.pdf(X.numpy(), scale=scales).mean(1))


def cumulative_shrinkage():
    # Of the first dimension: it is none with probability v_1, whose mean is 1 / 6.
    wide, narrow = (
        stats.norm.pdf(X.numpy(), scale=quantiles(stats.halfnorm(scale=scale)).numpy()).mean(1)
        for scale in (0.5, 0.02)
    )
    return torch.as_tensor(5 / 6 * wide + 1 / 6 * narrow)


PICTURES = {
    pv.SpikeSlab: spike_slab,
    pv.LearnedSpikeSlab: learned_spike_slab,
    pv.Horseshoe: horseshoe,
    pv.ARD: ard,
    pv.CumulativeShrinkage: cumulative_shrinkage,
}


def draw(density):
    height = np.sqrt(np.asarray(density, dtype=float))
    return "".join(BLOCKS[min(7, int(8 * h / height.max()))] for h in height)


@pytest.mark.parametrize("prior", PICTURES, ids=lambda prior: prior.__name__)
def test_the_picture_is_of_the_density(prior):
    assert draw(PICTURES[prior]()) in inspect.getdoc(prior)


def test_the_pictures_differ():
    assert len({draw(density()) for density in PICTURES.values()}) == len(PICTURES)
