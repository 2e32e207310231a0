"""Whether pooling pays: one embedding with weights of people, one mind, or a fit of each apart."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

import pyrovice as pv
from benchmarks.quality.people_recovery import TEMPERATURE, table_of_people
from pyrovice.model.simulation import plausible_embedding

EACH = (50, 200, 760)


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    return "\n".join(pooling((50,) if quick else EACH))


def pooling(eaches: tuple[int, ...]) -> Iterator[str]:
    yield (
        "36 objects in 6 dimensions, 39 people, most of whom attend to two or three of the "
        "dimensions only (their other weights are a twentieth), all judgments anchored. Held-out "
        "nats and accuracy of 300 further judgments of each of 12 people, under one mind, under "
        "`pv.People()`, under `pv.People(own=True)`, and under a fit of each of these people's "
        "judgments apart; the last columns are paired differences in nats, with their standard "
        "error over people: between People and the better of one mind and each apart, and between "
        "People with deviations of their own and without."
    )
    yield ""
    columns = (
        "judgments of each, one mind, People, with own, each apart, People against the best other, "
        "what own adds"
    )
    yield f"| {columns.replace(', ', ' | ')} |"
    yield "| --- " * 7 + "|"
    for each in eaches:
        yield pooled(each)


def pooled(each: int) -> str:
    truth = plausible_embedding(36, 6, seed=5) * 1.4
    rng = np.random.default_rng(7)
    attends = rng.random((39, 6)) < 0.4
    attends[np.arange(39), rng.integers(0, 6, 39)] = True
    who = table_of_people(39, 6, 7, 0.2, TEMPERATURE)
    weights = [f"weight {k + 1}" for k in range(6)]
    who[weights] = who[weights].to_numpy() * np.where(attends, 2.0, 0.1)
    data, new = (
        pv.simulate(truth, 39 * n, seed=seed, people=who, anchored=1.0)
        for n, seed in ((each, 1), (300, 2))
    )
    some = who.index[:12]
    new = new[np.isin(new.participants, some)]
    models = {
        "one mind": pv.fit(data, progress=False).evaluate,
        "People": pv.fit(data, people=pv.People(), progress=False).evaluate,
        "with own": pv.fit(data, people=pv.People(own=True), progress=False).evaluate,
    }
    table = pd.DataFrame(index=some)
    accuracy = {}
    for name, evaluate in models.items():
        scores = {label: evaluate(new[new.participants == label]) for label in some}
        table[name] = {label: score.cross_entropy for label, score in scores.items()}
        accuracy[name] = np.mean([score.accuracy for score in scores.values()])
    apart = {
        label: pv.fit(data[data.participants == label], progress=False).evaluate(
            new[new.participants == label]
        )
        for label in some
    }
    table["each apart"] = {label: score.cross_entropy for label, score in apart.items()}
    accuracy["each apart"] = np.mean([score.accuracy for score in apart.values()])
    best = table[["one mind", "each apart"]].mean().idxmin()
    difference = table["People"] - table[best]
    added = table["with own"] - table["People"]
    cells = [f"{table[name].mean():.3f} / {accuracy[name]:.3f}" for name in table]
    return (
        f"| {each} | {' | '.join(cells)} | {difference.mean():+.3f} ± {difference.sem():.3f} "
        f"({best}) | {added.mean():+.3f} ± {added.sem():.3f} |"
    )
