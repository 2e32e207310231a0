"""A small data set to try things on: everyday objects, simulated judgments."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from pyrovice.data.triplets import Triplets
from pyrovice.model.simulation import simulate

N_JUDGMENTS = 20_000


@dataclass(frozen=True, eq=False)
class Example:
    """A simulated data set with the truth behind it.

    Attributes
    ----------
    triplets : Triplets
        Simulated choices; no person made them.
    embedding : DataFrame
        The embedding that generated them: named objects x named dimensions.
    description : str
        What this is, in a sentence.
    """

    triplets: Triplets
    embedding: pd.DataFrame
    description: str

    def __repr__(self) -> str:
        return f"Example({self.description})"


def load_example() -> Example:
    """Eighty everyday objects in seven dimensions, with *simulated* judgments.

    The weights were made up to be readable (a skateboard moves and is for play) and
    the choices were simulated from them: nothing here says anything about people.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> example
    Example(SIMULATED choices: 20,000 judgments of 80 everyday objects in 7 made-up dimensions)
    >>> example.embedding["animal"].nlargest(3).index.tolist()
    ['dog', 'cat', 'horse']
    """
    table = files("pyrovice") / "data" / "everyday.csv"
    with table.open(encoding="utf-8") as file:
        embedding = pd.read_csv(file, index_col="object")
    triplets = simulate(embedding, N_JUDGMENTS, seed=2022)
    return Example(
        triplets,
        embedding,
        f"SIMULATED choices: {len(triplets):,} judgments of {len(embedding)} everyday objects "
        f"in {embedding.shape[1]} made-up dimensions",
    )
