"""Simulated people who weigh dimensions differently."""

import numpy as np
import pandas as pd

import pyrovice as pv


def differing_people(n, dimensions, *, weights=0.5, temperature=0.3, lapse=None, seed=0):
    """A table of `n` people, as `fit.people()` gives it."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        np.exp(rng.normal(0, weights, (n, dimensions))),
        index=[f"p{i:03d}" for i in range(n)],
        columns=[f"weight {k}" for k in range(1, dimensions + 1)],
    )
    table["temperature"] = np.exp(rng.normal(0, temperature, n))
    if lapse is not None:
        table["lapse"] = lapse
    return table


def judged_by(people, embedding, each, *, seed=0, anchored=0.0):
    """Judgments of these people, about `each` by everybody."""
    n = each * len(people)
    return pv.simulate(embedding, n, seed=seed, people=people, anchored=anchored)
