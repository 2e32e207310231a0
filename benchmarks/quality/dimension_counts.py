"""Does the interval of the number of dimensions hold? Judgments simulated from known embeddings.

Each case is stored in the folder `dimension_store` as soon as it is done, so that a run that was
killed goes on where it was. `dimension_counts_large` has the two large published embeddings.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pyrovice as pv
from benchmarks.harness.data import SHAPES, embedding
from benchmarks.paper.data import EMBEDDINGS, FOOD_REPEATS, JUDGMENTS
from pyrovice.criticism.resamples import RATES
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, fit_or_error
from pyrovice.model.simulation import plausible_embedding
from pyrovice.results.matching import same_dimensions

STORE = Path(__file__).parents[1] / "dimension_store"
# The paper's: every triplet of FOOD once, and some again.
SIZES = {EMBEDDINGS[name]: n for name, n in JUDGMENTS.items()} | {"food_vice6": 7140 + FOOD_REPEATS}
SEEDS = (0, 1)
DEFINITION = (
    "A true dimension is recoverable if it correlates above .8, one to one, with a kept dimension "
    "of at least half of six fits to all judgments: two seeds at a half, one and two times the "
    "automatic learning rate."
)


@dataclass(frozen=True)
class Case:
    """Judgments of one known embedding."""

    name: str
    objects: int
    dimensions: int
    judgments: int
    seed: int

    def truth(self) -> NDArray[np.float64]:
        """The embedding that is simulated from."""
        if self.name in SHAPES:
            return embedding(self.name)
        return plausible_embedding(self.objects, self.dimensions, seed=self.seed)

    def path(self) -> Path:
        """Where its result is stored."""
        return STORE / f"{self.name}-{self.dimensions}-{self.judgments}-{self.seed}.json"


@dataclass(frozen=True)
class Count:
    """What was found by the fit of one learning rate, and said about it."""

    kept: int
    true: int
    count: int
    low: int
    high: int


@dataclass(frozen=True)
class Result:
    """What became of a case."""

    recoverable: int
    counts: list[Count]
    seconds: float


def generated(repeats: int) -> list[Case]:
    """Embeddings of 5, 15 and 40 dimensions, at three sizes each.

    How `fit.dimensionality` counts was chosen by looking at other seeds (1000 to 1003 too).
    """
    sizes = {(60, 5): (1000, 2000, 5000), (100, 15): (7000, 15_000, 30_000)}
    sizes[120, 40] = (20_000, 35_000, 55_000)
    return [
        Case("generated", m, d, n, 1100 + seed)
        for seed in range(repeats)
        for (m, d), each in sizes.items()
        for n in each
    ]


def published(names: Sequence[str], repeats: int, seed: int) -> list[Case]:
    """Published embeddings at a fifth, a half and all of the paper's judgments."""
    return [
        Case(name, *SHAPES[name], round(share * SIZES[name]), seed + repeat)
        for repeat in range(repeats)
        for name in names
        for share in (0.2, 0.5, 1.0)
    ]


def run(quick: bool) -> str:
    cases = generated(1)[:4] if quick else [*generated(4), *published(["food_vice6"], 4, 2100)]
    return report(cases)


def report(cases: Sequence[Case]) -> str:
    """Measure what is not stored yet, and say what was found."""
    return table(cases, [measure(case) for case in cases])


def measure(case: Case) -> Result:
    """The result of a case: stored, or made now."""
    path = case.path()
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        stored["counts"] = [Count(**each) for each in stored["counts"]]
        return Result(**stored)
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    began = time.perf_counter()
    truth = case.truth()
    data = pv.simulate(truth, case.judgments, seed=case.seed)
    settings = [(seed, rate) for seed in SEEDS for rate in RATES]
    plans = [
        Plan.of(
            data, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=pv.Training(), seed=seed,
            rate_factor=rate,
        )
        for seed, rate in settings
    ]  # fmt: skip
    made = dict(fit_many(plans))
    fits = [fit_or_error(made[i]) for i in range(len(plans))]
    hits = np.stack([same_dimensions(truth, fit.embedding().to_numpy(float)) >= 0 for fit in fits])
    recoverable = int((hits.mean(axis=0) >= 0.5).sum())
    counts = []
    for fit, true in zip(fits[: len(RATES)], hits.sum(axis=1).tolist(), strict=False):
        # The refits are the same whatever the rate of the fit, and made once.
        found = fit.dimensionality(data, store=STORE / "refits", progress=False)
        counts.append(Count(fit.n_dimensions, true, found.count, found.low, found.high))
    result = Result(recoverable, counts, time.perf_counter() - began)
    STORE.mkdir(exist_ok=True)
    path.write_text(json.dumps(asdict(result)), encoding="utf-8")
    return result


def table(cases: Sequence[Case], results: Sequence[Result]) -> str:
    """A row per kind and size."""
    kinds: dict[tuple[str, int, int], list[Result]] = {}
    for case, result in zip(cases, results, strict=True):
        kinds.setdefault((case.name, case.dimensions, case.judgments), []).append(result)
    lines = [
        f"{DEFINITION} For each rate: dimensions kept by the fit of that rate, and what "
        "`fit.dimensionality(data)` says of it (low–count–high), in each data set.",
        "",
        "| embedding | true | judgments | recoverable | kept at ½, 1, 2 | intervals at ½, 1, 2 | "
        "hold |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (name, d, n), found in kinds.items():
        kept = "; ".join(", ".join(str(c.kept) for c in each.counts) for each in found)
        said = "; ".join(
            ", ".join(f"{c.low}–{c.count}–{c.high}" for c in each.counts) for each in found
        )
        lines.append(
            f"| {name} | {d} | {n:,} | {', '.join(str(each.recoverable) for each in found)} | "
            f"{kept} | {said} | {_share(found)} |"
        )
    minutes = sum(result.seconds for result in results) / 60
    return "\n".join(
        [
            *lines,
            "",
            f"The interval holds the number of recoverable dimensions in {_share(results)} of data "
            f"sets and rates. The number of dimensions that a fit keeps is in the interval in "
            f"{_kept_in_interval(results)}, and is the recoverable one in "
            f"{_share(results, exact=True)}. {len(results)} data sets, {minutes:.0f} minutes.",
        ]
    )


def _kept_in_interval(results: Sequence[Result]) -> str:
    held = [c.low <= c.kept <= c.high for each in results for c in each.counts]
    return f"{sum(held)} of {len(held)}"


def _share(results: Sequence[Result], exact: bool = False) -> str:
    held = [
        c.kept == each.recoverable if exact else c.low <= each.recoverable <= c.high
        for each in results
        for c in each.counts
    ]
    return f"{sum(held)} of {len(held)}"
