"""Twenty seeds on the example data, in one process and in two."""

from __future__ import annotations

import time

import pyrovice as pv


def run(quick: bool) -> str:
    seeds = 4 if quick else 20
    train, valid = pv.load_example().triplets.split(0.9, 0.1, seed=0)
    seconds, found = {}, {}
    for n_jobs in (1, 2):
        began = time.perf_counter()
        found[n_jobs] = pv.sweep(
            train, valid, priors=[pv.SpikeSlab()], seeds=seeds, n_jobs=n_jobs, progress=False
        )
        seconds[n_jobs] = time.perf_counter() - began
    one, two = (found[n_jobs].table.drop(columns="seconds") for n_jobs in (1, 2))
    same = "the same, to the bit" if one.equals(two) else "NOT the same"
    summary = found[1].summary.iloc[0]
    return "\n".join(
        [
            f"{seeds} seeds on the built-in example ({len(train):,} judgments), a thread for each "
            "fit. The time of the second row includes starting the two processes.",
            "",
            "| n_jobs | seconds | ratio |",
            "| --- | --- | --- |",
            f"| 1 | {seconds[1]:.0f} | 1 |",
            f"| 2 | {seconds[2]:.0f} | **{seconds[2] / seconds[1]:.2f}** |",
            "",
            f"The two tables are {same}. Validation cross-entropy "
            f"{summary.validation_cross_entropy:.4f} ± {summary.standard_error:.4f} nats, "
            f"dimensions {summary.dimensions:.1f} (sd {summary.dimensions_sd:.1f}), "
            f"{found[1].reproducibility().score:.0%} of them reproducible.",
        ]
    )
