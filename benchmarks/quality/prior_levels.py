"""Hyper-parameters of priors with one, two and three levels: calibrated, and as NUTS has them.

Simulation-based calibration (Talts et al., 2018): draw everything from the prior, simulate answers,
sample the posterior, and note the rank of the true value among the draws. If the sampler is right,
ranks are uniform. Then the hyper-parameters of mean-field fits are set beside those of NUTS.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from numpy.typing import NDArray
from scipy import stats

import pyrovice as pv
from pyrovice.model.structure import draw_prior

OBJECTS, DIMENSIONS, JUDGMENTS = 8, 2, 200
DRAWS, WARMUP = 120, 120
RANKS, BINS = 60, 5
# Of all tests together.
LEVEL = 0.05
METHOD = {"draws": DRAWS, "warmup": WARMUP, "chains": 2, "progress": False}


def one_level(n_objects, dimensions):
    """A scale of all weights."""
    scale = pyro.sample("scale", dist.LogNormal(0.0, 0.5))
    with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
        return pyro.sample("X", dist.Normal(0.0, scale))


def two_levels(n_objects, dimensions):
    """Scales of dimensions around a scale of them all."""
    overall = pyro.sample("overall", dist.LogNormal(0.0, 0.5))
    with pyro.plate("dimension", dimensions, dim=-1):
        scale = pyro.sample("scale", dist.LogNormal(overall.log(), 0.3))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(0.0, scale))


def three_levels(n_objects, dimensions):
    """The same, with an uncertain centre of the overall scale."""
    centre = pyro.sample("centre", dist.Normal(0.0, 0.5))
    overall = pyro.sample("overall", dist.LogNormal(centre, 0.3))
    with pyro.plate("dimension", dimensions, dim=-1):
        scale = pyro.sample("scale", dist.LogNormal(overall.log(), 0.3))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(0.0, scale))


PRIORS = (one_level, two_levels, three_levels)


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    times = 6 if quick else 30
    ranks = {prior.__name__: ranks_of(prior, times) for prior in PRIORS}
    tests = sum(len(by_site) for by_site in ranks.values())
    lines = [
        f"{OBJECTS} objects, {DIMENSIONS} dimensions, {JUDGMENTS} judgments; {times} simulations a "
        f"prior, 2 chains of {DRAWS} draws after {WARMUP}, thinned to {RANKS - 1}. Flat: chi² test "
        f"of {BINS} bins, at the level {LEVEL} for all {tests} tests together (p above "
        f"{LEVEL / tests:.3f} each). Sites with a value per dimension by their mean.",
        "",
        "| prior | site | histogram of ranks | p | flat |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, by_site in ranks.items():
        for site, found in by_site.items():
            counts = np.histogram(found, bins=BINS, range=(0, RANKS))[0]
            p = stats.chisquare(counts).pvalue
            flat = "yes" if p > LEVEL / tests else "NO"
            lines.append(f"| {name} | {site} | {' '.join(map(str, counts))} | {p:.2f} | {flat} |")
    lines += ["", "| prior | site | NUTS | mean field |", "| --- | --- | --- | --- |"]
    for prior in PRIORS:
        lines += beside_nuts(prior)
    return "\n".join(lines)


def simulated(prior, seed: int) -> tuple[dict[str, float], pv.Triplets]:
    """True hyper-parameters, and answers of somebody who has them."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        drawn = draw_prior(pv.Model(prior, OBJECTS, DIMENSIONS))
    X = drawn.pop("X").relu().numpy()
    truth = {name: float(value.mean()) for name, value in drawn.items()}
    return truth, pv.simulate(X, JUDGMENTS, seed=seed)


def draws_of(fit: pv.Fit, site: str) -> NDArray[np.floating]:
    """All draws of a site, those of dimensions as their mean."""
    draws = fit.site(site)
    draws = draws.mean([dim for dim in draws.dims if dim not in ("chain", "draw")])
    return draws.to_numpy().ravel()


def ranks_of(prior, times: int) -> dict[str, list[int]]:
    """The rank of every true value in each of several simulations."""
    found: dict[str, list[int]] = {}
    for seed in range(times):
        truth, data = simulated(prior, seed)
        fit = pv.sample(data, prior=prior, dimensions=DIMENSIONS, seed=seed, **METHOD)
        for site, value in truth.items():
            drawn = draws_of(fit, site)
            thinned = drawn[np.linspace(0, len(drawn) - 1, RANKS - 1).astype(int)]
            found.setdefault(site, []).append(int((thinned < value).sum()))
    return found


def beside_nuts(prior) -> list[str]:
    """Posterior means and sds of one more simulation, by NUTS and by a mean-field fit."""
    _, data = simulated(prior, 1000)
    exact = pv.sample(data, prior=prior, dimensions=DIMENSIONS, **METHOD)
    fit = pv.fit(data, prior=prior, dimensions=DIMENSIONS, progress=False)
    rows = []
    for site in exact.sites():
        if site != "X":
            a, b = draws_of(exact, site), draws_of(fit, site)
            rows.append(
                f"| {prior.__name__} | {site} | {a.mean():.2f} ± {a.std():.2f} | {b.mean():.2f} ± "
                f"{b.std():.2f} |"
            )
    return rows
