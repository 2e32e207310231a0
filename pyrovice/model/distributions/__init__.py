"""Distributions that Pyro lacks: priors of an entry, and the odd one of three."""

from pyrovice.model.distributions.horseshoe import RegularizedHorseshoe
from pyrovice.model.distributions.logit_normal import LogitNormal
from pyrovice.model.distributions.odd_one_out import LEAST_LAPSE, LapsingOddOneOut, OddOneOut
from pyrovice.model.distributions.spike_and_slab import (
    FAMILIES,
    OneSidedSpikeAndSlab,
    PositiveSpikeAndSlab,
    SpikeAndSlab,
)

__all__ = [
    "FAMILIES",
    "LEAST_LAPSE",
    "LapsingOddOneOut",
    "LogitNormal",
    "OddOneOut",
    "OneSidedSpikeAndSlab",
    "PositiveSpikeAndSlab",
    "RegularizedHorseshoe",
    "SpikeAndSlab",
]
