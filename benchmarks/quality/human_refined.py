"""What sampling around a fit gains on the real human judgments, where they are at hand.

The splits, the prior and the training of the first rows of `human_things`.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.harness.data import human_things
from benchmarks.harness.side_by_side import side_by_side
from benchmarks.quality.human_things import PAPER, SPLITS
from pyrovice.inference.refining import agreement


def run(quick: bool) -> str:
    if human_things() is None:
        return "The judgments are not at hand here."
    splits = SPLITS[:1] if quick else SPLITS
    with TemporaryDirectory() as folder:
        paths = side_by_side(fit_and_save, [(split, Path(folder)) for split in splits])
        rows = [row for split, path in zip(splits, paths, strict=True) for row in both(split, path)]
    table = pd.DataFrame(rows)
    lines = [
        "90 % of 354,831 judgments of people to fit, the rest held out; splits, seeds and prior "
        "(.125/.5/.6) as in the first rows of `human_things`. `pv.refine(fit.prune(), train)` then "
        "goes on from the kept dimensions with two chains on two cores. Both predict with 400 "
        "draws and all dimensions that were kept before; *credible* are those that are kept by "
        "the rule in these draws. *Agreed* is the share of weights of credible dimensions whose "
        "R-hat is below 1.05. The spread is the median posterior standard deviation of weights "
        "above 0.3. Seconds of a refinement come after those of its fit, "
        "which had one core of two. The step and the length of the chains were chosen by looking "
        "at two of these splits.",
        "",
        "| split and seed | model | held-out nats | accuracy | dimensions | credible | agreed | "
        "spread | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        agreed = "" if np.isnan(row.agreed) else f"{row.agreed:.0%}"
        lines.append(
            f"| {row.split} | {row.model} | {row.nats:.4f} | {row.accuracy:.4f} | "
            f"{row.dimensions} | {row.credible} | {agreed} | {row.spread:.3f} | {row.seconds:.0f} |"
        )
    for name, nats in table.groupby("model", sort=False).nats:
        lines.append(f"| mean | {name} | **{nats.mean():.4f}** | | | | | | |")
    return "\n".join(lines)


def fit_and_save(case: tuple[int, Path]) -> Path:
    """Fit one split; the fit without the dimensions that do not matter."""
    split, folder = case
    train, _ = human_things().split(0.9, 0.1, seed=split)
    fit = pv.fit(train, prior=PAPER, dimensions=100, seed=split, progress=False)
    fit.prune().save(folder / f"{split}.fit")
    return folder / f"{split}.fit"


def both(split: int, path: Path) -> list[dict]:
    """The scores of a fit, and of what it becomes when it is refined."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    train, held_out = human_things().split(0.9, 0.1, seed=split)
    fit = pv.load(path)
    began = time.perf_counter()
    refined = pv.refine(fit, train)
    seconds = {"fit": fit.history.seconds.iloc[-1], "refined": time.perf_counter() - began}
    rows = []
    for name, of in {"fit": fit, "refined": refined}.items():
        scores = of.evaluate(held_out, draws=400)
        rows.append(
            {
                "split": split,
                "model": name,
                "nats": scores.cross_entropy,
                "accuracy": scores.accuracy,
                "dimensions": of.posterior.shape[1],
                "credible": of.n_dimensions,
                "agreed": np.nan if of is fit else agreement(of),
                "spread": np.median(of.posterior.sd()[of.posterior.loc() > 0.3]),
                "seconds": seconds[name],
            }
        )
    return rows
