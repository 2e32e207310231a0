"""What features of the objects gain on the real human judgments, where both are at hand.

The settings of the prior were chosen on split 100.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import find, human_things
from benchmarks.quality.human_things import SPLITS

BLOCKS = ("clip", "word2vec")


def feature_blocks() -> dict[str, np.ndarray] | None:
    """The features of the THINGS objects, if they are at hand."""
    paths = {name: find(f"things_{name}.npy") for name in BLOCKS}
    if human_things() is None or None in paths.values():
        return None
    return {name: np.load(path).astype(float) for name, path in paths.items()}


def timed(make: Callable[[], pv.Fit]) -> tuple[pv.Fit, float]:
    """A fit, and the seconds of processor time that it took."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        return make(), time.process_time() - began


def run(quick: bool) -> str:
    blocks = feature_blocks()
    if blocks is None:
        return "The judgments and features are not at hand here."
    rows = [row for split in SPLITS[: 1 if quick else None] for row in one_split(split, blocks)]
    table = pd.DataFrame(rows)
    plain = table[table.model == "default prior"].set_index("split")
    lines = [
        "90 % of 354,831 judgments of people to fit, the rest held out; a new split and seed in "
        "each run, one thread. `Features` with 100 principal components each of CLIP activations "
        "and word vectors; *shuffled* has the rows of both in one random order, so that they are "
        "features of other objects. *Refined* is `pv.refine(fit.prune(), train)` of the fit with "
        "features, scored with 400 draws. Gains are over the default prior on the "
        "same split. Seconds are of the processor; of a refinement, of the clock, in two "
        "processes. The settings of the prior were chosen on another split.",
        "",
        "| split and seed | model | held-out nats | gain | accuracy | dimensions | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        lines.append(
            f"| {row.split} | {row.model} | {row.nats:.4f} | "
            f"{plain.nats[row.split] - row.nats:+.4f} | {row.accuracy:.4f} | {row.dimensions} | "
            f"{row.seconds:.0f} |"
        )
    for name, part in table.groupby("model", sort=False):
        gain = (plain.nats.reindex(part.split).to_numpy() - part.nats).mean()
        lines.append(
            f"| mean | {name} | **{part.nats.mean():.4f}** | **{gain:+.4f}** | "
            f"{part.accuracy.mean():.4f} | | {part.seconds.mean():.0f} |"
        )
    return "\n".join(lines)


def one_split(split: int, blocks: dict[str, np.ndarray]) -> list[dict]:
    """Fits with and without features, a refined one, and one with features of other objects."""
    train, held_out = human_things().split(0.9, 0.1, seed=split)
    order = np.random.default_rng(split).permutation(train.n_objects)
    other = {name: table[order] for name, table in blocks.items()}
    priors = {
        "default prior": pv.SpikeSlab(),
        "Features": pv.Features(blocks),
        "Features, shuffled": pv.Features(other),
    }
    rows, fits = [], {}
    for name, prior in priors.items():
        fits[name], seconds = timed(
            lambda prior=prior: pv.fit(train, prior=prior, seed=split, progress=False)
        )
        rows.append(row_of(split, name, fits[name], held_out, 50, seconds))
    began = time.perf_counter()
    refined, _ = timed(lambda: pv.refine(fits["Features"].prune(), train))
    seconds = time.perf_counter() - began
    rows.append(row_of(split, "Features, refined", refined, held_out, 400, seconds))
    return rows


def row_of(
    split: int, name: str, fit: pv.Fit, held_out: pv.Triplets, draws: int, seconds: float
) -> dict:
    """One line of the table, also printed at once."""
    scores = fit.evaluate(held_out, draws=draws)
    row = {
        "split": split,
        "model": name,
        "nats": scores.cross_entropy,
        "accuracy": scores.accuracy,
        "dimensions": fit.n_dimensions,
        "seconds": seconds,
    }
    print(row, flush=True)
    return row
