"""Judgments that choosing them saves, against random ones: simulated, all 1,854 objects."""

from __future__ import annotations

from benchmarks.quality.asking import Setting, measured

SETTING = Setting(
    "things_vice42", 1854, first=100_000, step=50_000, rounds=3, seeds=2, people=("as the model",)
)


def run(quick: bool) -> str:
    return measured(SETTING, quick)
