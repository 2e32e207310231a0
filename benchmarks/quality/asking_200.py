"""Judgments that choosing them saves, against random ones: simulated, 200 objects."""

from __future__ import annotations

from benchmarks.quality.asking import Setting, measured

SETTING = Setting("things_vice42", 200, first=8000, step=4000, rounds=4, seeds=3)


def run(quick: bool) -> str:
    return measured(SETTING, quick)
