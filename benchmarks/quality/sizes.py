"""Large data: the default training over seeds, and the paper's given ten times as long."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import pyrovice as pv
from benchmarks.harness.data import embedding, human_things
from benchmarks.harness.scores import Score, bound, score
from benchmarks.harness.side_by_side import side_by_side
from pyrovice.inference.run import Epoch
from pyrovice.inference.stopping import StoppingRule

SEEDS = range(5)


@dataclass(frozen=True)
class Size:
    """One data set and the prior to fit it with."""

    load: Callable[[], tuple[pv.Triplets, pv.Triplets]]
    prior: pv.SpikeSlab


def simulated(name: str, n: int) -> Callable[[], tuple[pv.Triplets, pv.Triplets]]:
    return lambda: (
        pv.simulate(embedding(name), n, seed=0),
        pv.simulate(embedding(name), 50_000, seed=1),
    )


def sixty_objects() -> tuple[pv.Triplets, pv.Triplets]:
    rng = np.random.default_rng(0)
    X = rng.gamma(4.0, 0.4, (60, 5)) * (rng.random((60, 5)) < 0.3)
    return pv.simulate(X, 20_000, seed=0), pv.simulate(X, 50_000, seed=1)


def people() -> tuple[pv.Triplets, pv.Triplets]:
    data = human_things()
    if data is None:
        return simulated("things_vice42", 355_000)()
    train, held_out = data.split(0.9, 0.1, seed=0)
    return train, held_out


LARGE = {
    "1,854 objects, 1,460,000 judgments": Size(
        simulated("things_vice42", 1_460_000), pv.SpikeSlab(0.125, 0.5, 0.6)
    ),
    "2,372 objects, 720,000": Size(
        simulated("adjectives_vice21", 720_000), pv.SpikeSlab(0.25, 0.5, 0.6)
    ),
    "1,854 objects, 319,000 by people": Size(people, pv.SpikeSlab(0.125, 0.5, 0.6)),
}
SMALL = {
    "60 objects, 20,000": Size(sixty_objects, pv.SpikeSlab()),
    "36 objects, 3,000": Size(simulated("food_vice6", 3_000), pv.SpikeSlab(0.25, 1.0, 0.8)),
}


class Seconds(StoppingRule):
    """Stop after so many seconds, whatever the fit looks like."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def reached(self, history: list[Epoch]) -> bool:
        return history[-1].seconds >= self.limit


def run(quick: bool) -> str:
    return table(list(LARGE)[-1:] if quick else list(LARGE))


def table(names: list[str]) -> str:
    """Both trainings on each of the data sets."""
    rows = dict(zip(names, side_by_side(measure, names), strict=True))
    lines = [
        "The paper's recipe stops at the end of the epoch in which ten times the seconds of the "
        "default training are over. Both start from the same number of dimensions and are scored "
        "on the same held-out judgments, kept dimensions only; −ELBO/n counts every dimension that "
        "a fit still has. Each data set has a process of one thread to itself.",
        "",
        "| data | training | seconds | held-out nats | −ELBO/n | kept |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join(lines + [row for name in reversed(names) for row in rows[name]])


def measure(name: str) -> list[str]:
    """Both trainings on one data set, as rows of the table."""
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    size = (LARGE | SMALL)[name]
    train, held_out = size.load()
    fits = [pv.fit(train, prior=size.prior, seed=seed, progress=False) for seed in SEEDS]
    scores = [score(fit.posterior, held_out, bound(fit)) for fit in fits]
    seconds = float(np.median([fit.history.seconds.iloc[-1] for fit in fits]))
    training = replace(pv.Training.paper(), stop=Seconds(10 * seconds), max_epochs=10**6)
    paper = pv.fit(
        train,
        prior=size.prior,
        training=training,
        dimensions=first_dimensions(fits[0]),
        progress=False,
    )
    scored = score(paper.posterior, held_out, bound(paper))
    return [
        f"| {name} | default, {len(fits)} seeds | {seconds:.0f} | "
        f"{spread(scores, 'cross_entropy')} | {spread(scores, 'loss')} | "
        f"{', '.join(str(s.kept) for s in scores)} |",
        f"| | the paper's, {len(paper.history):,} epochs | {paper.history.seconds.iloc[-1]:.0f} | "
        f"{scored.cross_entropy:.4f} | {scored.loss:.4f} | {scored.kept} |",
    ]


def first_dimensions(fit: pv.Fit) -> int:
    """How many dimensions a fit started from."""
    return min(100, len(fit.names) // 2, fit.n_judgments // len(fit.names))


def spread(scores: list[Score], name: str) -> str:
    values = [getattr(scored, name) for scored in scores]
    return f"{min(values):.4f} to {max(values):.4f}"
