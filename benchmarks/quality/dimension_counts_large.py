"""The same as `dimension_counts` for the two large published embeddings: hours."""

from __future__ import annotations

from benchmarks.quality.dimension_counts import published, report


def run(quick: bool) -> str:
    cases = published(["adjectives_vice21", "things_vice42"], 1 if quick else 2)
    return report(cases[:1] if quick else cases)
