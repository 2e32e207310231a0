"""The jobs of a soak: small enough to be killed many times, real in everything else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding

LONG = pv.Training(stop=pv.MaxEpochs(300))
SHORT = pv.Training(stop=pv.MaxEpochs(60))
PRIORS = [pv.SpikeSlab(), pv.SpikeSlab(pi=0.8)]


def judgments() -> pv.Triplets:
    """Simulated, of 20 objects."""
    return pv.simulate(plausible_embedding(20, 3, seed=1), 3000, seed=1)


def fit_with_checkpoint(checkpoint: Path, output: Path) -> None:
    """A fit that saves its state as often as it can."""
    found = pv.fit(
        judgments(),
        dimensions=6,
        training=LONG,
        progress=False,
        checkpoint=pv.Checkpoint(checkpoint, seconds=0.02),
    )
    found.save(output)


def short_fit() -> pv.Fit:
    return pv.fit(judgments(), dimensions=4, training=SHORT, progress=False)


def refine(fit: Path, output: Path) -> None:
    """Two chains in processes."""
    pv.refine(pv.load(fit), judgments(), draws=300, chains=2).save(output)


def sample(output: Path) -> None:
    """Two chains in processes."""
    pv.sample(judgments(), dimensions=2, draws=300, warmup=300, chains=2).save(output)


def sweep(store: Path, n_jobs: int) -> None:
    """Four fits that are kept."""
    data = judgments()
    train, valid = data.split(0.8, 0.2, seed=0)
    pv.sweep(
        train,
        valid,
        priors=PRIORS,
        seeds=2,
        n_jobs=n_jobs,
        store=store,
        progress=False,
        dimensions=4,
        training=SHORT,
    )


def command(*arguments: str) -> None:
    """A command of the shell, which ends the process."""
    from pyrovice.cli import app

    sys.argv = ["pyrovice", *arguments]
    app()


def write(kind: str, fit: Path, output: Path) -> None:
    """One of the files that users ask for."""
    if kind == "judgments":
        judgments().write(output)
        return
    found = pv.load(fit)
    if kind == "embedding":
        found.write_embedding(output)
    elif kind == "fit":
        found.save(output)
    elif kind == "figure":
        pv.plot.convergence(found).savefig(output)
    else:
        found.report(output)


def numbers(fit: pv.Fit) -> list[Any]:
    """All that a fit learned, to compare to the bit."""
    return [*fit.posterior.arrays().values(), fit.history.drop(columns="seconds").to_numpy()]


def same(fit: pv.Fit, other: pv.Fit) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(numbers(fit), numbers(other), strict=True))
