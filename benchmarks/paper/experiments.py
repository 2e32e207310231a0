"""The paper's experiments end to end: VICE against SPoSE on its three data sets and on people's.

Every fit is stored in `paper_store` beside this file as soon as it is done, so that a run that was
stopped goes on where it was; PAPER.md is written anew after each part, from what there is. Sizes,
seeds and the grids are chosen for about two hours on two cores.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

import pyrovice as pv
from benchmarks.harness.side_by_side import side_by_side
from benchmarks.paper.data import PEOPLE, load
from pyrovice.inference.settings import STARTS
from pyrovice.model.judgments import Judgments

STORE = Path(__file__).parents[1] / "paper_store"

Setting = tuple[float, ...]
"""(spike, slab, π) of VICE, or the (rate,) of SPoSE."""

DEFAULT: Setting = (0.25, 1.0, 0.5)
# What the paper found best, its Table 2.
BEST: dict[str, Setting] = {
    "THINGS": (0.125, 0.5, 0.6),
    "ADJECTIVES": (0.25, 0.5, 0.6),
    "FOOD": (0.25, 1.0, 0.8),
    PEOPLE: (0.125, 0.5, 0.6),
}
RATES: dict[str, Setting] = {
    "THINGS": (5.75,),
    "ADJECTIVES": (4.96,),
    "FOOD": (2.90,),
    # The paper has none; from noise 5.75 leaves no dimension.
    PEOPLE: (2.90,),
}
SEEDS = {"THINGS": 3, "ADJECTIVES": 3, "FOOD": 10, PEOPLE: 3}
# Shares of the training data, with how many disjoint partitions of that size are fitted, each with
# how many seeds. The paper's settings were found on all data, so that where there is little both
# methods also have another to choose from.
PARTITIONS = {0.05: 5, 0.1: 5, 0.2: 3, 0.5: 2}
PARTITION_SEEDS = 3
LITTLE = 0.1
TRIED: dict[str, list[Setting]] = {
    "VICE": [BEST["THINGS"], DEFAULT],
    "SPoSE": [RATES["THINGS"], (2.9,)],
}
FOOD_GRID = [
    (spike, slab, pi)
    for spike, slab in ((0.125, 0.5), (0.25, 0.5), (0.25, 1.0), (0.5, 1.0), (0.5, 4.0))
    for pi in (0.2, 0.8)
]
LARGE_GRID = [(0.125, 0.5, 0.2), (0.25, 1.0, 0.8), (0.5, 1.0, 0.2)]
DEFAULT_SEEDS = {"THINGS": 1, "ADJECTIVES": 1, PEOPLE: 2}


OWN_START = "SPoSE's own"
# From noise every seed starts elsewhere, as in the paper. On FOOD its own start leaves SPoSE
# without a dimension, so it has the paper's; on the large sets that one leads VICE astray.
NOISE = {"THINGS": OWN_START, "ADJECTIVES": OWN_START, PEOPLE: OWN_START, "FOOD": "noise"}


def from_small_noise(judgments: Judgments, dimensions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the program of SPoSE starts: weights N(0.1, 0.01)."""
    loc = 0.1 + 0.01 * torch.randn(judgments.n_objects, dimensions)
    return loc, torch.full_like(loc, 0.1)


STARTS[OWN_START] = from_small_noise


@dataclass(frozen=True)
class Case:
    """One fit."""

    data: str
    setting: Setting
    seed: int = 0
    fraction: float = 1.0
    partition: int = 0
    quick: bool = False
    start: str = "pair counts"

    @property
    def model(self) -> str:
        """Which of the methods."""
        name = "VICE" if len(self.setting) == 3 else "SPoSE"
        return name if self.start == "pair counts" else f"{name} from noise"

    @property
    def path(self) -> Path:
        """Where its scores are stored; the fit itself lies beside it."""
        words = [
            self.data.replace(", ", "-"),
            self.model.replace(" ", "-"),
            *self.setting,
            f"seed{self.seed}",
        ]
        words += [f"{self.fraction:g}of1", f"part{self.partition}"]
        folder = STORE / "quick" if self.quick else STORE
        return folder / ("_".join(map(str, words)) + ".json")


def parts(quick: bool) -> Iterator[tuple[str, list[Case]]]:
    """The experiments in the order in which they run, what takes longest first within each."""
    seeds = {name: min(n, 2) if quick else n for name, n in SEEDS.items()}
    for name in ("FOOD", PEOPLE, "THINGS"):
        yield name, full(name, seeds[name], quick)
    smaller = [
        Case("THINGS", setting, seed, fraction, partition, quick)
        for fraction in sorted(PARTITIONS, reverse=True)
        for seed in range(min(PARTITION_SEEDS, 2) if quick else PARTITION_SEEDS)
        for partition in range(PARTITIONS[fraction])
        for settings in TRIED.values()
        for setting in (settings if fraction <= LITTLE else settings[:1])
    ]
    yield "less data", smaller
    yield "ADJECTIVES", full("ADJECTIVES", seeds["ADJECTIVES"], quick)
    others = [
        Case(name, DEFAULT, seed, quick=quick)
        for name, n in DEFAULT_SEEDS.items()
        for seed in range(n)
    ]
    if not quick:
        others += [Case(name, setting) for name in DEFAULT_SEEDS for setting in LARGE_GRID]
    grid = FOOD_GRID[::6] if quick else FOOD_GRID
    for setting in dict.fromkeys([DEFAULT, *grid]):
        others += [Case("FOOD", setting, seed, quick=quick) for seed in range(2)]
    yield "other settings", others


def full(name: str, seeds: int, quick: bool) -> list[Case]:
    """All methods on all of a data set."""
    models = [(BEST[name], "pair counts"), (RATES[name], "pair counts"), (RATES[name], NOISE[name])]
    if name == "FOOD":
        models.append((BEST[name], NOISE[name]))
    return [
        Case(name, setting, seed, quick=quick, start=start)
        for setting, start in models
        for seed in range(seeds)
    ]


def run(quick: bool) -> str:
    """Fit what is missing, and write the page after each part."""
    from benchmarks.paper.page import page

    for name, cases in parts(quick):
        missing = [case for case in cases if not case.path.exists() and load(case.data, quick)]
        if missing:
            print(f"{name}: {len(missing)} fits of {len(cases)}", flush=True)
            side_by_side(measure, missing)
            page(quick)
    return page(quick)


def measure(case: Case) -> None:
    """Fit one case, score its kept dimensions, and store both."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    data = load(case.data, case.quick)
    train = data.train
    if case.fraction < 1:
        shares = [case.fraction] * round(1 / case.fraction)
        train = train.split(*shares, seed=0)[case.partition]
    stop = pv.MaxEpochs(150) if case.quick else pv.Training().stop
    training = pv.Training(start=case.start, stop=stop)
    arguments = {"seed": case.seed, "training": training, "progress": False}
    started = time.perf_counter()
    if len(case.setting) == 3:
        fit = pv.fit(train, prior=pv.SpikeSlab(*case.setting), **arguments)
    else:
        fit = pv.spose(train, rate=case.setting[0], **arguments)
    seconds = time.perf_counter() - started
    kept = fit.prune()
    scores = asdict(kept.evaluate(data.test))
    record = asdict(case) | scores | {
        "model": case.model,
        "judgments": len(train),
        "dimensions": kept.n_dimensions,
        "validation": kept.evaluate(data.validation).cross_entropy,
        "converged": fit.converged,
        "steps": int(fit.history.step.iloc[-1]),
        "seconds": seconds,
    }  # fmt: skip
    case.path.parent.mkdir(parents=True, exist_ok=True)
    kept.save(case.path.with_suffix(".fit"), overwrite=True)
    # The scores come last: where they are, the fit is whole.
    case.path.write_text(json.dumps(record), encoding="utf-8")
