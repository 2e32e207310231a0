"""Whether simulated people who differ are found to differ, and by how much."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding

LEVELS = (0.5, 0.8, 0.95)
SPREAD, TEMPERATURE = 0.4, 0.3
# People and judgments of each.
DESIGNS = ((50, 200), (300, 40))


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    many, few, groups = (1, 1, 1) if quick else (6, 3, 12)
    return "\n".join(recovery(range(many), range(few), range(groups)))


def recovery(many: range, few: range, with_groups: range) -> Iterator[str]:
    yield (
        "40 objects in 5 dimensions (made up, like published ones), people with log-weights of "
        f"spread {SPREAD} and log-temperatures of spread {TEMPERATURE}, {len(many)} simulations "
        "of each design; `pv.People()`, everything else as by default. *r* is the correlation of "
        "the log-weights with the true ones over people, mean over dimensions, and *expected* "
        "the one that the posterior expects of itself, √(1 − mean posterior variance / "
        "spread²). Coverage of the intervals of log-weights, each relative to the mean of all "
        "people; *spread in 90 %* is how many of the true spreads are in their intervals. "
        "*Identical* people differ in nothing. *Groups*: half of the people weigh one dimension "
        "by .5 more in the logarithm; shown are the mean estimate there, how often the 90 % "
        "interval excludes 0 there, and how often elsewhere."
    )
    yield ""
    columns = "people, judgments of each, r, expected, 50 %, 80 %, 95 %, spread in 90 %"
    yield f"| {columns.replace(', ', ' | ')} |"
    yield "| --- " * 8 + "|"
    for people, each in DESIGNS:
        found = pd.DataFrame([recovered(people, each, seed) for seed in many])
        spread = f"{found.spread.sum():.0f} of {found.spreads.sum():.0f}"
        cover = " | ".join(f"{found[f'within {level}'].mean():.1%}" for level in LEVELS)
        yield (
            f"| {people} | {each} | {found.r.mean():.2f} | {found.expected.mean():.2f} | {cover} | "
            f"{spread} |"
        )
    yield ""
    same = pd.DataFrame([recovered(50, 200, seed, spread=0.0, temperature=0.0) for seed in few])
    yield (
        f"Identical people (50 with 200 judgments): spreads of weights {same.learned.mean():.3f} "
        f"(largest {same.learned.max():.3f}), of temperatures {same.temperature.mean():.3f}; "
        f"{same.invented.mean():.1%} of all 90 % intervals of log-weights exclude 0."
    )
    yield ""
    groups = pd.DataFrame([of_groups(60, 200, seed) for seed in with_groups])
    yield (
        f"Groups (2 of 30 people with 200 judgments): {groups.there.mean():+.2f} where the truth "
        f"is ±0.50, excluded {groups.found.sum():.0f} of {len(groups)} times there and "
        f"{groups.elsewhere.sum():.0f} of {groups.others.sum():.0f} times elsewhere; permutation "
        f"p below .05 {groups.p_there.sum():.0f} and {groups.p_elsewhere.sum():.0f} times."
    )


def table_of_people(
    n: int, dimensions: int, seed: int, spread: float, temperature: float
) -> pd.DataFrame:
    rng = np.random.default_rng([seed, n])
    people = pd.DataFrame(
        np.exp(rng.normal(0, spread, (n, dimensions))),
        index=[f"p{i:03d}" for i in range(n)],
        columns=[f"weight {k + 1}" for k in range(dimensions)],
    )
    return people.assign(temperature=np.exp(rng.normal(0, temperature, n)))


def matched(fit: pv.Fit, truth: np.ndarray) -> list[tuple[int, int]]:
    """Kept dimensions of a fit with the true one that each is most like, where one is."""
    kept = fit.embedding().to_numpy()
    alike = np.corrcoef(kept.T, truth.T)[: kept.shape[1], kept.shape[1] :]
    pairs = zip(*linear_sum_assignment(alike, maximize=True), strict=True)
    return [(int(k), int(t)) for k, t in pairs if alike[k, t] > 0.8]


def recovered(
    people: int, each: int, seed: int, spread: float = SPREAD, temperature: float = TEMPERATURE
) -> dict[str, float]:
    truth = plausible_embedding(40, 5, seed=seed)
    who = table_of_people(people, 5, seed, spread, temperature)
    data = pv.simulate(truth, people * each, seed=seed, people=who)
    fit = pv.fit(data, people=pv.People(), seed=seed, progress=False)
    drawn = np.log(fit.posterior.others["person_weight"].pooled.astype(float))
    spreads = fit.posterior.others["weight_spread"].pooled
    rows = []
    for k, t in matched(fit, truth):
        true = np.log(who[f"weight {t + 1}"].to_numpy())
        draws = drawn[:, :, k]
        raw = {"invented": _outside(draws, 0.9, 0.0)}
        draws = draws - draws.mean(1, keepdims=True)
        true = true - true.mean()
        low, high = np.quantile(spreads[:, k], (0.05, 0.95))
        row = raw | {
            "r": np.corrcoef(draws.mean(0), true)[0, 1] if spread else np.nan,
            "expected": np.sqrt(max(0.0, 1 - draws.var(0).mean() / spreads[:, k].mean() ** 2)),
            "spread": low <= spread <= high,
            "learned": spreads[:, k].mean(),
        }
        row |= {f"within {level}": 1 - _outside(draws, level, true) for level in LEVELS}
        rows.append(row)
    table = pd.DataFrame(rows)
    found = table.mean().to_dict()
    found["spread"], found["spreads"] = table.spread.sum(), len(table)
    found["temperature"] = fit.posterior.others["temperature_spread"].pooled.mean()
    return found


def _outside(draws: np.ndarray, level: float, truth: np.ndarray | float) -> float:
    low, high = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return float(((truth < low) | (truth > high)).mean())


def of_groups(people: int, each: int, seed: int) -> dict[str, float]:
    truth = plausible_embedding(40, 5, seed=seed)
    who = table_of_people(people, 5, seed, SPREAD, TEMPERATURE)
    first = np.arange(people) < people // 2
    where = seed % 5
    who[f"weight {where + 1}"] *= np.exp(np.where(first, 0.25, -0.25))
    data = pv.simulate(truth, people * each, seed=seed, people=who)
    groups = {
        label: "a" if is_first else "b" for label, is_first in zip(who.index, first, strict=True)
    }
    fit = pv.fit(data, people=pv.People(groups=groups), seed=seed, progress=False)
    table = fit.groups().reset_index().set_index("dimension")
    excluded = (table["5 %"] > 0) | (table["95 %"] < 0)
    there = [k + 1 for k, t in matched(fit, truth) if t == where]
    others = table.index.difference(there)
    return {
        "there": table.difference[there].mean(),
        "found": excluded[there].sum(),
        "elsewhere": excluded[others].sum(),
        "others": len(others),
        "p_there": (table.p_value[there] < 0.05).sum(),
        "p_elsewhere": (table.p_value[others] < 0.05).sum(),
    }
