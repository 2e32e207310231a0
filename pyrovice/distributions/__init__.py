"""Distributions that Pyro lacks: priors of an entry, and the odd one of three."""

from pyrovice.distributions.horseshoe import RegularizedHorseshoe
from pyrovice.distributions.odd_one_out import OddOneOut
from pyrovice.distributions.spike_and_slab import FAMILIES, OneSidedSpikeAndSlab, SpikeAndSlab

__all__ = [
    "FAMILIES",
    "OddOneOut",
    "OneSidedSpikeAndSlab",
    "RegularizedHorseshoe",
    "SpikeAndSlab",
]
