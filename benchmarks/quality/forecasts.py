"""Whether forecasts come true: made from a quarter of the judgments, checked at all of them."""

from __future__ import annotations

import warnings

import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import embedding, human_things, origin
from benchmarks.quality.asking import STORE

RESAMPLES = 10
SIMULATED = 12_000


def run(quick: bool) -> str:
    """Simulated people, and real ones if their judgments are at hand."""
    resamples = 2 if quick else RESAMPLES
    cases = {f"36 objects, {origin('food_vice6')}": simulated_quarters}
    if human_things() is not None and not quick:
        cases["people, THINGS"] = human_quarters
    lines = [
        "A quarter of the judgments is forecast to all of them (`times=[4]`). *Truth* is the "
        "held-out cross-entropy of a fit of all, on judgments that no forecast saw. Ten resamples: "
        "which quarter, and which seed. The constants of `pv.forecast` were chosen on other "
        "simulations, and on two quarters of the same people's judgments, held out otherwise.",
        "",
        "| judgments | all | truth (nats) | forecast, mean | mean error | mean absolute error | "
        "worst error | within .005 | 80 % interval covers |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, quarters in cases.items():
        path = STORE / f"forecast-{name.split(',')[0].replace(' ', '_')}.csv"
        if path.exists() and not quick:
            table = pd.read_csv(path)
        else:
            table = quarters(resamples)
            if not quick:
                STORE.mkdir(exist_ok=True)
                table.to_csv(path, index=False)
        error = table.forecast - table.truth
        covers = ((table.low <= table.truth) & (table.truth <= table.high)).sum()
        lines.append(
            f"| {name} | {table.n.iloc[0]:,} | {table.truth.mean():.4f} | "
            f"{table.forecast.mean():.4f} | {error.mean():+.4f} | {error.abs().mean():.4f} | "
            f"{error.abs().max():.4f} | {(error.abs() < 0.005).sum()} of {len(table)} | "
            f"{covers} of {len(table)} |"
        )
    return "\n".join(lines)


def simulated_quarters(resamples: int) -> pd.DataFrame:
    truth = embedding("food_vice6")
    data = pv.simulate(truth, SIMULATED, seed=0)
    return checked(data, pv.simulate(truth, 10_000, seed=1), resamples, {})


def human_quarters(resamples: int) -> pd.DataFrame:
    data, held_out = human_things().split(0.9, 0.1, seed=0)
    return checked(data, held_out, resamples, {"training": pv.Training(schedule=pv.Anneal(800))})


def checked(
    data: pv.Triplets, held_out: pv.Triplets, resamples: int, settings: dict
) -> pd.DataFrame:
    """Forecasts from quarters, and the score of a fit of everything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        whole = pv.fit(data, progress=False, **settings).evaluate(held_out).cross_entropy
        rows = []
        for resample in range(resamples):
            quarter = data.subset(len(data) // 4, seed=resample)
            fit = pv.fit(quarter, progress=False, **settings)
            found = pv.forecast(fit, quarter, times=[len(data) / len(quarter)], seed=resample)
            last = found.table.iloc[-1]
            row = {"n": len(data), "truth": whole, "forecast": last.nats}
            row |= {"low": last.nats_low, "high": last.nats_high}
            print(row, flush=True)
            rows.append(row)
    return pd.DataFrame(rows)
