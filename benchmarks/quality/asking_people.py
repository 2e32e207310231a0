"""Choosing from triplets that people were really asked, their answers hidden until chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.quality.asking import STORE, fit_all, share_in_words

ARMS = ("random", "chosen")
# Judgments at first, in each round, and how many rounds and seeds.
WHOLE, QUICK = (40_000, 20_000, 3, 4), (4_000, 2_000, 1, 1)


def run(quick: bool) -> str:
    pool = human_things()
    if pool is None:
        return "The judgments are not at hand here."
    first, step, rounds, seeds = QUICK if quick else WHOLE
    sizes = [first + step * i for i in range(rounds + 1)]
    path = STORE / "people.csv"
    if path.exists() and not quick:
        table = pd.read_csv(path)
    else:
        table = pd.concat([one_seed(pool, seed, sizes) for seed in range(seeds)])
        if not quick:
            STORE.mkdir(exist_ok=True)
            table.to_csv(path, index=False)
    means = table.pivot_table(index="judgments", columns="arm", values=["nats", "accuracy"])
    lines = [
        f"{len(pool):,} judgments of people about {pool.n_objects:,} THINGS objects. A fifth "
        "is held out to score on, the rest is the pool. The first "
        f"{first:,} are random, then rounds of {step:,} are chosen from the pool, a tenth at "
        f"random; {seeds} seeds. *Share* as in `asking`, from held-out nats.",
        "",
        "| judgments | nats, random | nats, chosen | accuracy, random | accuracy, chosen | share |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for n, row in means.iterrows():
        if n not in set(table[table.arm == "chosen"].judgments):
            continue
        cells = [f"{row[key, arm]:.4f}" for key in ("nats", "accuracy") for arm in ARMS]
        lines.append(f"| {n:,} | {' | '.join(cells)} | {share_in_words(table, n, 'nats')} |")
    return "\n".join(lines)


def one_seed(pool: pv.Triplets, seed: int, sizes: list[int]) -> pd.DataFrame:
    """Random and chosen asking from one split of the pool."""
    held_out, rest = pool.split(0.2, 0.8, seed=seed)
    order = np.random.default_rng(seed).permutation(len(rest))
    rows, chosen = [], order[: sizes[0]]
    for n in [*sizes, round(1.4 * sizes[-1])]:
        members = {"random": rest[np.sort(order[:n])]}
        if sizes[0] < n <= sizes[-1]:
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
                fits.get("chosen", fits["random"]),
                sizes[1] - sizes[0],
                candidates=rest[left],
                seed=seed,
            )
            chosen = np.concatenate([chosen, places(rest, left, ask)])
    return pd.DataFrame(rows)


def places(rest: pv.Triplets, left: np.ndarray, ask: pd.DataFrame) -> np.ndarray:
    """The rows of the pool that answer these questions, one each."""
    keys = {tuple(row): place for place, row in zip(left, rest.objects[left].tolist(), strict=True)}
    number = {name: i for i, name in enumerate(rest.names)}
    wanted = ask.iloc[:, :3].map(number.__getitem__).to_numpy().tolist()
    return np.array([keys[tuple(row)] for row in wanted])
