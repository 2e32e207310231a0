"""Fits that nobody had to wait for."""

import dataclasses

import numpy as np
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import NormalWeights


def made_up(fit, m, d, seed=0):
    """A fit of so many objects with long names, without the time that it takes to fit."""
    mu = sparse_embedding(m, d, seed).astype(np.float32)
    mu[mu == 0] = -0.1
    return dataclasses.replace(
        fit,
        names=tuple(f"rather long name {i}" for i in range(m)),
        posterior=Posterior(NormalWeights(mu, np.full_like(mu, 0.1))),
        model=pv.Model(fit.prior, m, d),
        fitted_guide=None,
        pruned=True,
    )
