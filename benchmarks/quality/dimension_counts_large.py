"""The same as `dimension_counts` for the two large published embeddings: an hour."""

from __future__ import annotations

from benchmarks.quality.dimension_counts import published, report


def run(quick: bool) -> str:
    cases = published(["things_vice42", "adjectives_vice21"], 1, 2000)
    return report(cases[:1] if quick else cases)
