"""Choosing from triplets that people were really asked, their answers hidden until chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.asking import STORE, fit_all, share_in_words

# The objects that come up most, so that the pool has many triplets of few objects.
OBJECTS = 600
ARMS = ("random", "chosen")
FIRST, STEP, ROUNDS, SEEDS = 2_000, 1_000, 3, 4


def run(quick: bool) -> str:
    data = human_things()
    if data is None:
        return "The judgments are not at hand here."
    pool = most_judged(data, OBJECTS)
    seeds, rounds = (1, 1) if quick else (SEEDS, ROUNDS)
    path = STORE / f"people-{OBJECTS}.csv"
    if path.exists() and not quick:
        table = pd.read_csv(path)
    else:
        table = pd.concat([one_seed(pool, seed, rounds) for seed in range(seeds)])
        if not quick:
            STORE.mkdir(exist_ok=True)
            table.to_csv(path, index=False)
    means = table.pivot_table(index="judgments", columns="arm", values=["nats", "accuracy"])
    lines = [
        f"{len(pool):,} judgments of people about {pool.n_objects} of the THINGS objects. A fifth "
        "is held out to score on, the rest is the pool. The first "
        f"{FIRST:,} are random, then rounds of {STEP:,} are chosen from the pool, a tenth at "
        f"random; {seeds} seeds. *Share* as in `asking`, from held-out nats.",
        "",
        "| judgments | nats, random | nats, chosen | accuracy, random | accuracy, chosen | share |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for n, row in means.iterrows():
        if n == FIRST or n not in set(table[table.arm == "chosen"].judgments):
            continue
        cells = [f"{row[key, arm]:.4f}" for key in ("nats", "accuracy") for arm in ARMS]
        lines.append(f"| {n:,} | {' | '.join(cells)} | {share_in_words(table, n, 'nats')} |")
    return "\n".join(lines)


def most_judged(data: pv.Triplets, objects: int) -> pv.Triplets:
    """The judgments of triplets all of whose objects are among those that come up most."""
    times = np.bincount(data.objects.ravel(), minlength=data.n_objects)
    often = np.argsort(-times, kind="stable")[:objects]
    return data[np.isin(data.objects, often).all(axis=1)].compact()


def one_seed(pool: pv.Triplets, seed: int, rounds: int) -> pd.DataFrame:
    """Random and chosen asking from one split of the pool."""
    held_out, rest = pool.split(0.2, 0.8, seed=seed)
    order = np.random.default_rng(seed).permutation(len(rest))
    rows, chosen = [], order[:FIRST]
    sizes = [FIRST + STEP * i for i in range(rounds + 1)]
    for n in [*sizes, round(1.4 * sizes[-1])]:
        members = {"random": rest[np.sort(order[:n])]}
        if FIRST < n <= sizes[-1]:
            members["chosen"] = rest[np.sort(chosen)]
        fits = dict(zip(members, fit_all(list(members.values())), strict=True))
        for arm, fit in fits.items():
            scores = fit.evaluate(held_out)
            row = {"arm": arm, "seed": seed, "judgments": n, "nats": scores.cross_entropy}
            row |= {"accuracy": scores.accuracy}
            print(row, flush=True)
            rows.append(row)
        if n < sizes[-1]:
            left = np.setdiff1d(order, chosen)
            ask = pv.next_triplets(
                fits.get("chosen", fits["random"]), STEP, candidates=rest[left], seed=seed
            )
            chosen = np.concatenate([chosen, places(rest, left, ask)])
    return pd.DataFrame(rows)


def places(rest: pv.Triplets, left: np.ndarray, ask: pd.DataFrame) -> np.ndarray:
    """The rows of the pool that answer these questions, one each."""
    keys = {tuple(row): place for place, row in zip(left, rest.objects[left].tolist(), strict=True)}
    number = {name: i for i, name in enumerate(rest.names)}
    wanted = ask.iloc[:, :3].map(number.__getitem__).to_numpy().tolist()
    return np.array([keys[tuple(row)] for row in wanted])
