"""The guides against NUTS, which is exact in the limit, on a problem small enough for it."""

from __future__ import annotations

import time
import warnings

import numpy as np
from numpy.typing import NDArray

import pyrovice as pv

GUIDES = (pv.MeanField(), pv.LowRank(5))


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    rng = np.random.default_rng(3)
    m, d, n = 12, 2, 3000
    truth = rng.gamma(4.0, 0.4, (m, d)) * (rng.random((m, d)) < 0.3)
    truth[np.arange(m), rng.integers(0, d, m)] = rng.gamma(4.0, 0.4, m)
    data = pv.simulate(truth, n, seed=3)
    began = time.perf_counter()
    draws, warmup = (40, 40) if quick else (600, 250)
    nuts = pv.sample(data, dimensions=d, draws=draws, warmup=warmup, chains=2)
    seconds = time.perf_counter() - began
    mixing = nuts.mixing()
    exact = similarities(np.maximum(nuts.posterior.pooled, 0))
    lines = [
        f"{m} objects, {d} dimensions, {n:,} judgments, {pv.SpikeSlab()}. NUTS: 2 chains of "
        f"{draws} draws after {warmup}, dimensions aligned, {seconds:.0f} s; R-hat of the weights "
        f"at most {mixing.r_hat.max():.3f}, at least {mixing.ess_bulk.min():.0f} effective draws. "
        f"Compared are the similarities of the {m * (m - 1) // 2} pairs, whose posterior means "
        f"under NUTS reach {exact.mean(0).max():.1f}.",
        "",
        "| guide | posterior mean: rms error | largest error in NUTS's sd | sd over NUTS's: median "
        "| smallest | largest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    fits = {str(guide): pv.fit(data, dimensions=d, guide=guide, progress=False) for guide in GUIDES}
    began = time.perf_counter()
    refined = pv.refine(fits["MeanField()"], data, draws=40 if quick else 600)
    fits[f"MeanField(), refined ({time.perf_counter() - began:.0f} s)"] = refined
    for guide, fit in fits.items():
        draws = refined.posterior.pooled if fit is refined else fit.draws(4000, seed=0)
        found = similarities(np.maximum(draws, 0))
        error = found.mean(0) - exact.mean(0)
        ratio = found.std(0) / exact.std(0)
        lines.append(
            f"| {guide} | {np.sqrt((error**2).mean()):.3f} | "
            f"{(np.abs(error) / exact.std(0)).max():.2f} | {np.median(ratio):.2f} | "
            f"{ratio.min():.2f} | {ratio.max():.2f} |"
        )
    return "\n".join(lines)


def similarities(draws: NDArray[np.floating]) -> NDArray[np.floating]:
    """S of every draw, one column per pair of objects."""
    first, second = np.triu_indices(draws.shape[1], 1)
    return np.einsum("nik,njk->nij", draws, draws)[:, first, second]
