"""A consensus of ten fits against its members, on judgments that none of them has seen."""

from __future__ import annotations

import warnings

import numpy as np

import pyrovice as pv
from benchmarks.harness.side_by_side import side_by_side
from benchmarks.quality.sizes import people
from pyrovice.criticism.resamples import RATES
from pyrovice.inference.fitting import train_plan
from pyrovice.inference.plan import Plan

PEOPLE, MIXED = "people", "people, three rates"
PRIOR = pv.SpikeSlab(0.125, 0.5, 0.6)
FITS = 10
DRAWS = 500


def run(quick: bool) -> str:
    cases = [("example", seed) for seed in range(3 if quick else FITS)]
    if not quick:
        cases += [(kind, seed) for kind in (PEOPLE, MIXED) for seed in range(FITS)]
    made = dict(zip(cases, side_by_side(fitted, cases), strict=True))
    lines = [
        f"Fits of several seeds, all with the default training, and `pv.consensus` of them, scored "
        f"on judgments that were held out ({DRAWS} draws each): the built-in example (2,000 of its "
        "judgments), and 90 % of the judgments of people on THINGS. In the last row the fits take "
        "turns at a half, one and two times the automatic learning rate.",
        "",
        "| data | fits | median fit, nats | best fit | consensus | better than the median by | "
        "kept by fits | by the consensus |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in dict.fromkeys(kind for kind, _ in cases):
        fits = [made[case] for case in cases if case[0] == kind]
        _, held_out = parts(kind)
        errors = [fit.evaluate(held_out, DRAWS).cross_entropy for fit in fits]
        together = pv.consensus(fits)
        error = together.evaluate(held_out, DRAWS).cross_entropy
        counts = [fit.n_dimensions for fit in fits]
        lines.append(
            f"| {kind} | {len(fits)} | {np.median(errors):.4f} | {min(errors):.4f} | {error:.4f} | "
            f"**{np.median(errors) - error:.4f}** | {min(counts)} to {max(counts)} | "
            f"{together.n_dimensions} |"
        )
    return "\n".join(lines)


def parts(kind: str) -> tuple[pv.Triplets, pv.Triplets]:
    """Judgments to fit, and judgments to score on."""
    if kind in (PEOPLE, MIXED):
        return people()
    train, held_out = pv.load_example().triplets.split(0.1, 0.5, seed=0)
    return train, held_out


def fitted(case: tuple[str, int]) -> pv.Fit:
    """One fit."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    kind, seed = case
    of_people = kind in (PEOPLE, MIXED)
    return train_plan(
        Plan.of(
            parts(kind)[0],
            prior=PRIOR if of_people else pv.SpikeSlab(),
            guide=pv.MeanField(),
            training=pv.Training(),
            dimensions=100 if of_people else 12,
            seed=seed,
            rate_factor=RATES[seed % len(RATES)] if kind == MIXED else 1.0,
        )
    )
