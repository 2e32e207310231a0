"""Can choice models be told apart? Answers simulated from each, fitted by all.

Every pair is kept beside the others until the table is written, so that a run that was stopped goes
on: in the folder named by the variable PYROVICE_RUNS, or in a temporary one.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyro.distributions as dist
from numpy.typing import NDArray

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding
from pyrovice.results.scores import log_score

OBJECTS, DIMENSIONS = 30, 4
FIT, HELD_OUT = 12_000, 12_000
# Embeddings and judgments of each.
SETS = 4
TRUE = {
    "dot product": pv.choices.DotProduct(),
    "lapses": pv.choices.DotProduct(lapse=0.15),
    "contrast": pv.choices.Contrast(distinctive=0.5),
    "cosine": pv.choices.Cosine(temperature=0.2),
    "Euclidean": pv.choices.Euclidean(temperature=0.5),
}
FITTED = {
    "dot product": pv.choices.DotProduct(),
    "lapses": pv.choices.DotProduct(lapse=dist.Beta(1.0, 20.0)),
    "contrast": pv.choices.Contrast(),
    "cosine": pv.choices.Cosine(),
    "Euclidean": pv.choices.Euclidean(temperature=dist.LogNormal(0.0, 1.0)),
}


def run(quick: bool) -> str:
    folder = Path(os.environ.get("PYROVICE_RUNS") or mkdtemp())
    names = [*TRUE][: 2 if quick else len(TRUE)]
    found = {
        (true, fitted): np.array(
            [nats(folder, true, fitted, i) for i in range(1 if quick else SETS)]
        )
        for true in names
        for fitted in names
    }
    return "\n".join(table(found, names))


def nats(folder: Path, true: str, fitted: str, number: int) -> float:
    """Mean over held-out answers that were simulated from one choice, by another."""
    path = folder / f"apart {true} {fitted} {number}.npy"
    if path.exists():
        return float(np.load(path))
    X = plausible_embedding(OBJECTS, DIMENSIONS, seed=number)
    train, held_out = (
        pv.simulate(X, n, seed=seed, choice=TRUE[true])
        for seed, n in enumerate((FIT, HELD_OUT), start=1 + 2 * number)
    )
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    fit = pv.fit(train, choice=FITTED[fitted], dimensions=3 * DIMENSIONS, seed=0, progress=False)
    if fitted == "dot product":
        # The others learn something and are sampled, which alone improves predictions.
        fit = pv.refine(fit.prune(), train, seed=0, progress=False)
    found = float(-log_score(fit.predict(held_out, draws=200), held_out.odd).mean())
    np.save(path, found)
    return found


def table(found: dict[tuple[str, str], NDArray], names: list[str]) -> Iterator[str]:
    yield (
        f"{FIT:,} judgments of {OBJECTS} objects with weights in {DIMENSIONS} dimensions are "
        f"simulated from each choice and fitted by all, from {3 * DIMENSIONS} dimensions; "
        f"{HELD_OUT:,} others are scored with 200 draws. All are sampled: a choice that learns "
        "something is after training, the dot product is by `pv.refine`. In each row: held-out "
        "nats of the true choice, and how far each choice is behind it, in thousandths, as a mean "
        f"over {SETS} data sets of other embeddings with its standard error over these."
    )
    yield ""
    yield f"| simulated from | nats | {' | '.join(names)} |"
    yield "| --- " * (len(names) + 2) + "|"
    for true in names:
        own = found[true, true]
        cells = []
        for fitted in names:
            behind = 1e3 * (found[true, fitted] - own)
            cell = f"{behind.mean():+.1f}"
            if len(behind) > 1:
                cell += f" ± {behind.std(ddof=1) / np.sqrt(len(behind)):.1f}"
            cells.append("" if fitted == true else cell)
        yield f"| {true} | {own.mean():.4f} | {' | '.join(cells)} |"
