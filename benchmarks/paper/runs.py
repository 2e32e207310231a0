"""What the paper's experiments have stored so far: scores as a table, fits on demand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

import pyrovice as pv
from benchmarks.paper.experiments import BEST, NOISE, RATES, STORE, Case


@dataclass(frozen=True, eq=False)
class Runs:
    """The stored fits of a quick or a whole run."""

    table: pd.DataFrame
    quick: bool

    @classmethod
    def stored(cls, quick: bool) -> Runs:
        """All that there are."""
        folder = STORE / "quick" if quick else STORE
        records = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]
        table = pd.DataFrame(records)
        if len(table):
            table["setting"] = table.setting.map(tuple)
        return cls(table, quick)

    def of(
        self,
        data: str,
        setting: tuple[float, ...],
        fraction: float = 1.0,
        start: str = "pair counts",
    ) -> pd.DataFrame:
        """The runs of one data set with one setting."""
        t = self.table
        here = (t.data == data) & (t.setting == setting) & (t.fraction == fraction)
        return t[here & (t.start == start)]

    def full(self, data: str) -> dict[str, pd.DataFrame]:
        """By method, the runs on all of a data set; none unless both have at least two."""
        found = {
            "VICE": self.of(data, BEST[data]),
            "SPoSE": self.of(data, RATES[data]),
            "VICE from noise": self.of(data, BEST[data], start=NOISE[data]),
            "SPoSE from noise": self.of(data, RATES[data], start=NOISE[data]),
        }
        several = {model: runs for model, runs in found.items() if len(runs) > 1}
        return several if {"VICE", "SPoSE"} <= set(several) else {}

    def fits(self, runs: pd.DataFrame) -> list[pv.Fit]:
        """The fits of these runs, dimensions pruned."""
        return [self.fit(row) for _, row in runs.iterrows()]

    def fit(self, row: pd.Series) -> pv.Fit:
        """The fit of one run."""
        case = Case(
            row.data, row.setting, row.seed, row.fraction, row.partition, self.quick, row.start
        )
        return pv.load(case.path.with_suffix(".fit"))


def pairs(models: Iterable[str]) -> list[tuple[str, str]]:
    """What to compare: VICE with SPoSE from the same start, if it has been there."""
    known = list(models)
    vice = {name: name.replace("SPoSE", "VICE") for name in known if name.startswith("SPoSE")}
    return [(a if a in known else "VICE", b) for b, a in vice.items()]


def median(runs: pd.DataFrame) -> pd.Series:
    """The run with the median cross-entropy on validation data, of an even number the lower."""
    return runs.sort_values("validation", kind="stable").iloc[(len(runs) - 1) // 2]


def over_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """Scores of every partition and setting, each the mean over its seeds."""
    scores = ["accuracy", "kl_divergence", "validation", "dimensions", "judgments"]
    groups = runs.groupby(["fraction", "partition", "setting"])
    return groups[scores].mean().reset_index().sort_values("partition", ignore_index=True)


def chosen_settings(means: pd.DataFrame) -> pd.DataFrame:
    """For each partition the setting whose cross-entropy on validation data is lowest."""
    return means.loc[means.groupby("partition").validation.idxmin()].reset_index(drop=True)
