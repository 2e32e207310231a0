"""Judgments that choosing them saves, against random ones: simulated, 36 objects.

Every few seeds of a case are stored as soon as they are done, and not run again.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

import pyrovice as pv
from benchmarks.harness.data import embedding, origin
from pyrovice.inference.plan import Plan
from pyrovice.inference.stacked_fits import fit_many, fit_or_error
from pyrovice.model.simulation import choice_probabilities, random_triplets
from pyrovice.results.prediction import draw_answers

STORE = Path(__file__).parents[1] / "asking_store"
# How those answer who are asked; the fit is always of the default model.
PEOPLE = {
    "as the model": pv.choices.DotProduct(),
    "lapses (15 %)": pv.choices.DotProduct(lapse=0.15),
    "another similarity": pv.choices.Cosine(temperature=0.15),
}
TEST_TRIPLETS = 10_000
ERRORS = {"nats": "held-out nats", "similarity": "error of similarities"}


@dataclass(frozen=True)
class Setting:
    """How many objects, and how many judgments at first, in each round, and at most."""

    source: str
    objects: int
    first: int
    step: int
    rounds: int
    seeds: int
    repeats: bool = False
    people: tuple[str, ...] = tuple(PEOPLE)

    @property
    def sizes(self) -> list[int]:
        """Numbers of judgments with a fit each."""
        return [self.first + self.step * i for i in range(self.rounds + 1)]

    @property
    def random_sizes(self) -> list[int]:
        """The same for random asking, which is followed further."""
        last = self.sizes[-1]
        return [*self.sizes, round(1.3 * last), round(1.7 * last)]


# There are only 7,140 triplets of 36 objects: random ones recur, and chosen ones may.
SETTING = Setting("food_vice6", 36, first=1500, step=1000, rounds=6, seeds=12, repeats=True)
SEEDS_AT_ONCE = 4


@dataclass(frozen=True, eq=False)
class World:
    """People with a known embedding and a known way to answer."""

    truth: NDArray[np.float64]
    choice: pv.choices.DotProduct
    names: tuple[str, ...]

    @classmethod
    def of(cls, setting: Setting, people: str) -> World:
        truth = embedding(setting.source)
        some = np.random.default_rng(0).choice(len(truth), setting.objects, replace=False)
        return cls(truth[np.sort(some)], PEOPLE[people], tuple(map(str, range(setting.objects))))

    def probabilities(self, objects: NDArray[np.int64]) -> NDArray[np.float64]:
        return choice_probabilities(self.truth, objects, choice=self.choice)

    def answer(self, objects: NDArray[np.int64], rng: np.random.Generator) -> pv.Triplets:
        odd = draw_answers(self.probabilities(objects), rng)
        return pv.Triplets(objects, odd, names=self.names)

    def errors(self, fit: pv.Fit) -> dict[str, float]:
        """Nats above what the truth itself would have, and the error of similarities."""
        m = len(self.truth)
        test = random_triplets(m, TEST_TRIPLETS, np.random.default_rng(12))
        p = self.probabilities(test)
        q = fit.predict(pv.Triplets(test, np.zeros(len(test), int), names=self.names))
        model = pv.Model(pv.SpikeSlab(), m, self.truth.shape[1], choice=self.choice)
        true = model.kept_probability({"X": torch.as_tensor(self.truth).float()}, torch.arange(m))
        pairs = np.triu_indices(m, 1)
        apart = (fit.similarity(draws=10).to_numpy() - true.numpy())[pairs]
        return {
            "nats": float((p * (np.log(p) - np.log(q))).sum(1).mean()),
            "similarity": float(np.sqrt((apart**2).mean())),
            "dimensions": fit.n_dimensions,
        }


def run(quick: bool) -> str:
    return measured(SETTING, quick)


def measured(setting: Setting, quick: bool) -> str:
    """The section of one setting."""
    if quick:
        setting = replace(setting, rounds=1, seeds=2, people=setting.people[:1])
    runs = {people: all_runs(setting, people, quick) for people in setting.people}
    lines = [
        f"{setting.objects} objects ({origin(setting.source)}), answers by a known embedding. The "
        f"first {setting.first:,} judgments are of random triplets, then rounds of "
        f"{setting.step:,}, each chosen by `pv.next_triplets` from a fit of all before it, a tenth "
        f"of them at random{', repeats allowed' * setting.repeats}; {setting.seeds} seeds. Errors "
        "are on random triplets: nats above those of the truth, and the root mean square error of "
        "similarities. *Share* is the number of judgments divided by the number of random ones "
        "with the same error, by a quadratic curve through all random runs in logarithms, with "
        "the 80 % interval over seeds; all judgments count, the random first ones too.",
        "",
        "| people answer | judgments | nats, random | nats, chosen | similarity, random "
        "| similarity, chosen | share (nats) | share (similarity) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for people, table in runs.items():
        for n in setting.sizes[1:]:
            here = table[table.judgments == n].groupby("arm").mean(numeric_only=True)
            cells = [f"{here.nats[arm]:.4f}" for arm in ("random", "chosen")]
            cells += [f"{here.similarity[arm]:.4f}" for arm in ("random", "chosen")]
            cells += [share_in_words(table, n, error) for error in ERRORS]
            lines.append(f"| {people} | {n:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def all_runs(setting: Setting, people: str, quick: bool) -> pd.DataFrame:
    """Errors by arm, seed and number of judgments, as far as they are not stored."""
    found = []
    for first in range(0, setting.seeds, SEEDS_AT_ONCE):
        seeds = range(first, min(first + SEEDS_AT_ONCE, setting.seeds))
        path = STORE / f"{setting.objects}-{people.replace(' ', '_')}-{first}.csv"
        if path.exists() and not quick:
            found.append(pd.read_csv(path))
            continue
        table = both_arms(setting, World.of(setting, people), list(seeds))
        if not quick:
            STORE.mkdir(exist_ok=True)
            table.to_csv(path, index=False)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def both_arms(setting: Setting, world: World, seeds: list[int]) -> pd.DataFrame:
    """Random and chosen asking, several seeds side by side."""
    m, rows = setting.objects, []
    rngs = {seed: np.random.default_rng([77, seed]) for seed in seeds}
    most = setting.random_sizes[-1]
    random = {
        seed: world.answer(random_triplets(m, most, rngs[seed]), rngs[seed]) for seed in seeds
    }
    data = {seed: random[seed][: setting.first] for seed in seeds}
    for n in setting.random_sizes:
        members = {("random", seed): random[seed][:n] for seed in seeds}
        if n in setting.sizes[1:]:
            members |= {("chosen", seed): data[seed] for seed in seeds}
        fits = dict(zip(members, fit_all(list(members.values())), strict=True))
        for (arm, seed), fit in fits.items():
            row = {"arm": arm, "seed": seed, "judgments": n, **world.errors(fit)}
            print(row, flush=True)
            rows.append(row)
        if n < setting.sizes[-1]:
            for seed in seeds:
                fit = fits.get(("chosen", seed), fits["random", seed])
                ask = pv.next_triplets(fit, setting.step, seed=seed, repeats=setting.repeats)
                objects = ask.iloc[:, :3].astype(int).to_numpy()
                data[seed] = data[seed] + world.answer(objects, rngs[seed])
    return pd.DataFrame(rows)


def fit_all(parts: list[pv.Triplets]) -> list[pv.Fit]:
    """Default fits of several sets of judgments, together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        plans = [
            Plan.of(
                part, prior=pv.SpikeSlab(), guide=pv.MeanField(), training=pv.Training(), seed=0
            )
            for part in parts
        ]
        made = dict(fit_many(plans))
    return [fit_or_error(made[i]) for i in range(len(parts))]


def share_of(table: pd.DataFrame, n: int, error: str) -> float:
    """Chosen judgments divided by the random ones with the same mean error."""
    random = table[table.arm == "random"]
    curve = np.polyfit(np.log(random.judgments), np.log(random[error]), 2)
    grid = np.linspace(np.log(random.judgments.min()), np.log(4 * random.judgments.max()), 2000)
    # A parabola may turn: only its falling part is a learning curve.
    fitted = np.minimum.accumulate(np.polyval(curve, grid))
    here = table[(table.arm == "chosen") & (table.judgments == n)]
    reached = np.log(here[error]).mean()
    return float(n / np.exp(grid[np.argmax(fitted <= reached)])) if fitted[-1] <= reached else 0.0


def share_in_words(table: pd.DataFrame, n: int, error: str) -> str:
    """The share with its interval over seeds, resampled."""
    rng = np.random.default_rng(0)
    by_seed = dict(iter(table.groupby("seed")))
    again = [
        share_of(pd.concat([by_seed[s] for s in rng.choice(list(by_seed), len(by_seed))]), n, error)
        for _ in range(200)
    ]
    low, high = np.quantile(again, (0.1, 0.9))
    return f"{share_of(table, n, error):.2f} ({low:.2f} to {high:.2f})"
