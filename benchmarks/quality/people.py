"""What is gained by knowing who answered, on the real human judgments where they are at hand.

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
from numpy.typing import NDArray

import pyrovice as pv
from benchmarks.harness.data import find, human_things
from benchmarks.harness.machine import peak_memory_gb
from benchmarks.quality.features import feature_blocks
from pyrovice.results.scores import hits, log_score

BOTH, SHUFFLED = "weights and temperature", "the same, people shuffled"
FEATURES = "Features"
MODELS = {
    "one mind": None,
    "temperature": pv.People(weights=False),
    "lapse": pv.People(weights=False, temperature=False, lapse=True),
    "weights": pv.People(temperature=False),
    BOTH: pv.People(),
    "weights, temperature and lapse": pv.People(lapse=True),
    SHUFFLED: pv.People(),
    f"{FEATURES}, one mind": None,
    f"{FEATURES}, {BOTH}": pv.People(),
}
# What to fit on which split. Settings were chosen on another split, number 100.
PLAN = {
    ("known", 0): list(MODELS),
    ("known", 1): ["one mind", BOTH],
    ("left out", 0): ["one mind", BOTH],
}
DRAWS = 100


def run(quick: bool) -> str:
    if feature_blocks() is None or find("things_human_train_people.npy") is None:
        return "The judgments and features are not at hand here."
    folder = Path(os.environ.get("PYROVICE_RUNS") or mkdtemp())
    plan = {("known", 0): ["one mind", "temperature"]} if quick else PLAN
    # The comparisons that matter most come first.
    first = ("one mind", BOTH, SHUFFLED, "temperature")
    wanted = sorted(
        ((part, split, model) for (part, split), models in plan.items() for model in models),
        key=lambda case: first.index(case[2]) // 2 if case[2] in first else len(first),
    )
    found = {case: scored(folder, *case) for case in wanted}
    return "\n".join(table(found))


def judgments() -> pv.Triplets:
    """The real judgments with who made them, as far as that is known."""
    triplets = human_things()
    who = np.load(find("things_human_train_people.npy")).astype(object)
    who[who == -1] = None
    return pv.Triplets(triplets.objects, triplets.odd, names=triplets.names, participants=who)


def parts(part: str, split: int) -> tuple[pv.Triplets, pv.Triplets]:
    """Judgments to fit, and those to score: of people who are known."""
    data = judgments()
    if part == "left out":
        everybody = np.array(data.people())
        chosen = np.random.default_rng(split).choice(everybody, len(everybody) // 10, replace=False)
        out = np.isin(data.participants, chosen)
        return data[~out], data[out]
    train, held_out = data.split(0.9, 0.1, seed=split)
    return train, held_out[np.array([person is not None for person in held_out.participants])]


def scored(folder: Path, part: str, split: int, model: str) -> dict[str, NDArray]:
    """Scores of every held-out judgment, from an earlier run if there was one."""
    path = folder / f"people {part} {split} {model}.npz"
    if path.exists():
        return dict(np.load(path))
    train, held_out = parts(part, split)
    if model == SHUFFLED:
        who = train.participants.copy()
        known = np.array([person is not None for person in who])
        who[known] = np.random.default_rng(0).permutation(who[known])
        train = pv.Triplets(train.objects, train.odd, names=train.names, participants=who)
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    began = time.process_time()
    prior = pv.Features(feature_blocks()) if model.startswith(FEATURES) else pv.SpikeSlab()
    fit = pv.fit(train, prior=prior, people=MODELS[model], seed=split, progress=False)
    seconds = time.process_time() - began
    p = fit.predict(held_out, draws=DRAWS)
    found = {
        "nats": -log_score(p, held_out.odd),
        "hits": hits(p, held_out.odd),
        "person": np.array([str(person) for person in held_out.participants]),
        "seconds": np.array(seconds),
        "dimensions": np.array(fit.n_dimensions),
        "gigabytes": np.array(peak_memory_gb()),
    }
    np.savez(path, **found)
    return found


def table(found: dict[tuple[str, int, str], dict[str, NDArray]]) -> Iterator[str]:
    yield (
        "90 % of 354,831 judgments of people to fit (of 150,938 it is known who of 284 people made "
        "them), and the held-out judgments of known people to score, with 100 draws; everything "
        "else as by default. *Left out*: a tenth of the people does not occur in the fit, and all "
        "of their judgments are scored, averaged over new people. The difference to one mind is "
        "paired, with a 95 % interval over people. *Shuffled*: who made which judgment is "
        "exchanged at random among the known ones of the fit. *Features* has 100 principal "
        "components each of CLIP activations and word vectors as a prior. Cost is processor time "
        "of the fit, one thread, against one mind on the same split. Settings were looked at on "
        "another split."
    )
    yield ""
    columns = "held out, split, people, nats, accuracy, against one mind, dimensions, cost, GB"
    yield f"| {columns.replace(', ', ' | ')} |"
    yield "| --- " * 9 + "|"
    for (part, split, model), of in sorted(found.items(), key=_in_order):
        one = found[part, split, "one mind"]
        against = "" if model == "one mind" else _paired(of["nats"] - one["nats"], of["person"])
        yield (
            f"| {part} | {split} | {model} | {of['nats'].mean():.4f} | {of['hits'].mean():.4f} | "
            f"{against} | {of['dimensions']} | {of['seconds'] / one['seconds']:.1f} | "
            f"{of['gigabytes']:.1f} |"
        )


def _in_order(item: tuple[tuple[str, int, str], dict]) -> tuple:
    part, split, model = item[0]
    return part, split, [*MODELS].index(model)


def _paired(difference: NDArray, person: NDArray) -> str:
    """A mean difference with its interval, people being drawn anew."""
    _, who = np.unique(person, return_inverse=True)
    total, times = np.bincount(who, difference), np.bincount(who)
    mean = total.sum() / times.sum()
    error = np.sqrt(((total - mean * times) ** 2).sum()) / times.sum()
    return f"{mean:+.4f} ± {1.96 * error:.4f}"
