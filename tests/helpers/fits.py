"""Fits that nobody had to wait for."""

import dataclasses

import numpy as np
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice.results.posterior import Posterior, SiteDraws
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


def made_up_people(fit, n, d, *, groups=0, m=40, seed=0, draws=100, **differ):
    """A fit of so many people, `groups` groups of them and one in none, and of `d` dimensions."""
    rng = np.random.default_rng(seed)
    fit = made_up(fit, m, d)
    labels = tuple(f"participant {i}" for i in range(n))
    named = (
        {person: f"group {i % groups}" for i, person in enumerate(labels[:-1])} if groups else {}
    )
    who = pv.People(groups=named or None, **differ)
    others = {}

    def site(name, values, *axes):
        others[name] = SiteDraws(np.asarray(values, np.float32)[None], axes)

    if who.varies("weights"):
        spread = rng.uniform(0.1, 0.7, d)
        weight = rng.normal(0, spread, (n, d)) + rng.normal(0, 0.2, (draws, n, d))
        site("person_weight", np.exp(weight), "person", "dimension")
        site("weight_spread", spread * np.exp(rng.normal(0, 0.1, (draws, d))), "dimension")
    if who.varies("temperature"):
        temperature = rng.normal(0, 0.3, n) + rng.normal(0, 0.1, (draws, n))
        site("person_temperature", np.exp(temperature), "person")
    if who.varies("lapse"):
        logit = rng.normal(-3, 0.8, n) + rng.normal(0, 0.3, (draws, n))
        site("person_lapse", 1 / (1 + np.exp(-logit)), "person")
        site("typical_lapse", np.full(draws, 0.05))
    if groups:
        mean = rng.normal(0, 0.3, (groups, d)) + rng.normal(0, 0.1, (draws, groups, d))
        site("group_log_weight", mean, "group", "dimension")
    return dataclasses.replace(
        fit,
        posterior=Posterior(fit.posterior.weights, others),
        model=pv.Model(fit.prior, m, d, people=who, known_people=labels),
        judgments_by_person=tuple(rng.integers(20, 900, n).tolist()),
    )
