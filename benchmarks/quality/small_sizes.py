"""Small data: the default training over seeds, and the paper's given ten times as long."""

from __future__ import annotations

from benchmarks.quality.sizes import SMALL, table


def run(quick: bool) -> str:
    return table(list(SMALL)[-1:] if quick else list(SMALL))
