"""How well objects are predicted that were judged seldom or never.

A tenth of the THINGS objects is hidden, and comes back judgment by judgment.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.features import feature_blocks, timed
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import NormalWeights

SHOWN = (0, 5, 20, 100)
PENALTIES = 10.0 ** np.arange(-1, 5)
# Shorter than the default, for all alike. Fits with more judgments start from the fit with none.
FIRST, ON = (pv.Training(schedule=pv.Anneal(steps=steps)) for steps in (1000, 300))


def run(quick: bool) -> str:
    blocks = feature_blocks()
    if blocks is None:
        return "The judgments and features are not at hand here."
    data = human_things()
    order = np.random.default_rng(0).permutation(data.n_objects)
    hidden = np.zeros(data.n_objects, bool)
    hidden[order[: data.n_objects // 10]] = True
    with_hidden = hidden[data.objects].sum(axis=1)
    # Judgments with one hidden object: some are shown, and the last third is scored.
    once = np.flatnonzero(with_hidden == 1)
    once = np.random.default_rng(1).permutation(once)
    asked = data[np.sort(once[: len(once) // 3])]
    rest, known = once[len(once) // 3 :], np.flatnonzero(with_hidden == 0)
    rows, first = [], {}
    for shown in SHOWN[: 1 if quick else None]:
        chosen = np.sort(np.concatenate([known, some_of_each(data, hidden, rest, shown)]))
        train = data[chosen]
        for name, prior in {"no features": pv.SpikeSlab(), "Features": pv.Features(blocks)}.items():
            more = {"init": first[name], "training": ON} if name in first else {"training": FIRST}
            fit, _ = timed(
                lambda prior=prior, train=train, more=more: pv.fit(
                    train, prior=prior, progress=False, **more
                )
            )
            first.setdefault(name, fit)
            rows.append(row_of(shown, name, fit, asked))
        if shown == 0:
            two_stage, penalty = ridge(first["no features"], blocks, hidden, order, data, known)
            rows.append(
                row_of(0, f"ridge on a finished fit (penalty {penalty:g})", two_stage, asked)
            )
    table = pd.DataFrame(rows)
    lines = [
        f"{hidden.sum()} of {data.n_objects:,} objects are hidden: {len(known):,} judgments have "
        f"none of them. Scored on {len(asked):,} other judgments with one hidden object, after so "
        "many judgments of each hidden object were fitted too. The ridge regresses the embedding "
        "of a finished fit on the same 200 components; its penalty is the best of six on judgments "
        "with other objects, hidden from the regression. Chance is 1.0986 nats and .333.",
        "",
        "| judgments of each hidden object | model | nats | accuracy |",
        "| --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        lines.append(f"| {row.shown} | {row.model} | {row.nats:.4f} | {row.accuracy:.4f} |")
    return "\n".join(lines)


def some_of_each(data: pv.Triplets, hidden: np.ndarray, rows: np.ndarray, shown: int) -> np.ndarray:
    """The first so many of these judgments with each of the hidden objects."""
    which = data.objects[rows][np.arange(len(rows)), hidden[data.objects[rows]].argmax(axis=1)]
    place = pd.Series(which).groupby(which).cumcount().to_numpy()
    return rows[place < shown]


def ridge(
    fit: pv.Fit,
    blocks: dict[str, np.ndarray],
    hidden: np.ndarray,
    order: np.ndarray,
    data: pv.Triplets,
    known: np.ndarray,
) -> tuple[pv.Fit, float]:
    """A finished fit whose hidden objects follow from a regression, tuned on other objects."""
    scores = pv.Features(blocks).scores.astype(float)
    scores = scores / scores.std(axis=0)
    scores -= scores.mean(axis=0)
    m = len(hidden)
    tuning = np.zeros(m, bool)
    tuning[order[m // 10 : 2 * (m // 10)]] = True
    judged = data[known]
    ask = judged[tuning[judged.objects].sum(axis=1) == 1]
    ask = ask.subset(20_000, seed=0)
    tried = {}
    for penalty in PENALTIES:
        found = regressed(fit, scores, ~hidden & ~tuning, tuning, penalty)
        tried[penalty] = found.evaluate(ask).cross_entropy
    best = min(tried, key=tried.get)
    return regressed(fit, scores, ~hidden, hidden, best), best


def regressed(
    fit: pv.Fit, scores: np.ndarray, on: np.ndarray, to: np.ndarray, penalty: float
) -> pv.Fit:
    """The fit with the weights of some objects predicted from those of others."""
    mu, sigma = (part.copy() for part in fit.posterior.marginals())
    F, mean = scores[on], mu[on].mean(axis=0)
    slopes = np.linalg.solve(F.T @ F + penalty * np.eye(F.shape[1]), F.T @ (mu[on] - mean))
    mu[to] = mean + scores[to] @ slopes
    sigma[to] = (mu[on] - mean - F @ slopes).std(axis=0)
    return replace(fit, posterior=Posterior(NormalWeights(mu, sigma)), unjudged=())


def row_of(shown: int, name: str, fit: pv.Fit, asked: pv.Triplets) -> dict:
    """One line of the table, also printed at once."""
    scores = replace(fit, unjudged=()).evaluate(asked)
    row = {"shown": shown, "model": name, "nats": scores.cross_entropy, "accuracy": scores.accuracy}
    print(row, flush=True)
    return row
