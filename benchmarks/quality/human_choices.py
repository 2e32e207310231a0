"""Which choice model describes people: the real human judgments, where they are at hand.

Every fit is kept beside the others until the table is written, so that a run that was stopped goes
on: in the folder named by the variable PYROVICE_RUNS, or in a temporary one.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyro.distributions as dist
from numpy.typing import NDArray

import pyrovice as pv
from benchmarks.harness.data import human_things
from pyrovice.results.calibration import calibrate
from pyrovice.results.scores import hits, log_score

LAPSE = dist.Beta(1.0, 20.0)
PAPER, SAMPLED = "dot product", "dot product, sampled"
MODELS = {
    PAPER: pv.choices.DotProduct(),
    SAMPLED: pv.choices.DotProduct(),
    "dot product with lapses": pv.choices.DotProduct(lapse=LAPSE),
    "contrast": pv.choices.Contrast(),
    "cosine": pv.choices.Cosine(),
    "Euclidean": pv.choices.Euclidean(temperature=dist.LogNormal(0.0, 1.0)),
    "contrast with lapses": pv.choices.Contrast(lapse=LAPSE),
}
SPLITS = (0, 1, 2, 3)
DIMENSIONS, DRAWS = 40, 100
# Shorter than by default, the same for all.
TRAINING = pv.Training(schedule=pv.Anneal(steps=800))

Case = tuple[int, str]
Found = dict[str, NDArray]


def run(quick: bool) -> str:
    data = human_things()
    if data is None:
        return "The judgments are not at hand here."
    folder = Path(os.environ.get("PYROVICE_RUNS") or mkdtemp())
    splits, models = (SPLITS[:1], [*MODELS][:2]) if quick else (SPLITS, [*MODELS])
    found = {
        (split, model): scored(folder, data, split, model) for split in splits for model in models
    }
    return "\n".join(table(found))


def scored(folder: Path, data: pv.Triplets, split: int, model: str) -> Found:
    """Scores of every held-out judgment, from an earlier run if there was one."""
    path = folder / f"choices {split} {model}.npz"
    if path.exists():
        return dict(np.load(path))
    train, held_out = data.split(0.9, 0.1, seed=split)
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    began = time.process_time()
    fit = pv.fit(
        train,
        choice=MODELS[model],
        dimensions=DIMENSIONS,
        training=TRAINING,
        seed=split,
        progress=False,
    )
    if model == SAMPLED:
        # As many draws as a choice that learns something gets.
        fit = pv.refine(fit, train, draws=60, chains=1, progress=False)
    seconds = time.process_time() - began
    fit.save(path.with_suffix(".fit"), overwrite=True)
    p = fit.predict(held_out, draws=DRAWS)
    learned = fit.hyperparameters()
    found = {
        "nats": -log_score(p, held_out.odd),
        "hits": hits(p, held_out.odd),
        "calibration": np.array(calibrate(p, held_out).error),
        "seconds": np.array(seconds),
        "dimensions": np.array(fit.n_dimensions),
        "loss": np.array(np.nan if model == SAMPLED else fit.history.loss.iloc[-1]),
        "names": np.array([name for name, _ in learned.index]),
        "learned": learned[["mean", "5 %", "95 %"]].to_numpy(),
    }
    np.savez(path, **found)
    return found


def table(found: dict[Case, Found]) -> Iterator[str]:
    yield (
        "90 % of 354,831 judgments of people to fit, the rest to score with 100 draws; "
        f"{DIMENSIONS} dimensions to begin with and {TRAINING.schedule.steps} steps, fewer than by "
        "default; everything else as by default. The difference to "
        "the dot product is paired over held-out judgments, with a 95 % interval; another seed "
        "alone changes nats by about .001. Calibration is the expected calibration error, the loss "
        "−ELBO/n, seconds are processor time of the fit, one thread. What was learned has its "
        "90 % interval. A choice that learns something is sampled after training, which alone "
        "improves predictions: *sampled* is the dot product with as many draws, by `pv.refine`."
    )
    yield ""
    yield (
        "| choice | split | nats | accuracy | against the dot product | calibration | kept | loss "
        "| seconds | learned |"
    )
    yield "| --- " * 10 + "|"
    for (split, model), of in sorted(found.items(), key=_in_order):
        paper = found[split, PAPER]
        against = "" if model == PAPER else paired(of["nats"] - paper["nats"])
        learned = ", ".join(
            f"{name} {mean:.3f} [{low:.3f}, {high:.3f}]"
            for name, (mean, low, high) in zip(of["names"], of["learned"], strict=True)
        )
        # A sampled fit has none.
        loss = "" if np.isnan(of["loss"]) else f"{of['loss']:.4f}"
        yield (
            f"| {model} | {split} | {of['nats'].mean():.4f} | {of['hits'].mean():.4f} | {against} "
            f"| {of['calibration']:.4f} | {of['dimensions']} | {loss} | "
            f"{of['seconds']:.0f} | {learned} |"
        )
    if any(model not in (PAPER, SAMPLED) for _, model in found):
        yield ""
        yield from against_sampled(found)


def against_sampled(found: dict[Case, Found]) -> Iterator[str]:
    """How choices that are sampled compare with the dot product that is: means over splits."""
    splits = sorted({split for split, _ in found})
    yield (
        f"Against the sampled dot product, as a mean over {len(splits)} splits with its standard "
        "error over these, and the smallest and the largest:"
    )
    yield ""
    yield "| choice | nats | smallest to largest | accuracy |"
    yield "| --- " * 4 + "|"
    for model in MODELS:
        if model in (PAPER, SAMPLED):
            continue
        nats, accuracy = (
            np.array([np.mean(found[i, model][of] - found[i, SAMPLED][of]) for i in splits])
            for of in ("nats", "hits")
        )
        error = nats.std(ddof=1) / np.sqrt(len(splits))
        yield (
            f"| {model} | {nats.mean():+.4f} ± {error:.4f} | {nats.min():+.4f} to "
            f"{nats.max():+.4f} | {accuracy.mean():+.4f} |"
        )


def _in_order(item: tuple[Case, Found]) -> tuple[int, int]:
    (split, model), _ = item
    return [*MODELS].index(model), split


def paired(difference: NDArray) -> str:
    """A mean difference with its interval, judgments being drawn anew."""
    error = difference.std() / np.sqrt(len(difference))
    return f"{difference.mean():+.4f} ± {1.96 * error:.4f}"
