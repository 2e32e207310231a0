"""Data to measure on: simulated from published embeddings if at hand, else from made-up ones.

Published embeddings and human judgments are not part of this project. They are looked for in the
folder named by the variable PYROVICE_DATA and in folders `data` beside the project.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding

SHAPES = {
    "things_vice42": (1854, 42),
    "adjectives_vice21": (2372, 21),
    "food_vice6": (36, 6),
}


def find(name: str) -> Path | None:
    """The file of that name, if it is at hand."""
    named = os.environ.get("PYROVICE_DATA")
    beside = Path(__file__).resolve().parents[3]
    folders = [Path(named)] if named else sorted(beside.glob("*/data"))
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@cache
def embedding(name: str) -> NDArray[np.float64]:
    """A published embedding, or one of the same shape and sparsity."""
    path = find(f"{name}.npy")
    if path is not None:
        return np.load(path).astype(float)
    return plausible_embedding(*SHAPES[name], seed=42)


def origin(name: str) -> str:
    """Where :func:`embedding` has it from."""
    return f"published {name}" if find(f"{name}.npy") else f"made-up, shaped like {name}"


def human_things() -> pv.Triplets | None:
    """The real judgments, if they are at hand."""
    path = find("things_human_train.npy")
    return None if path is None else pv.Triplets.read(path)
