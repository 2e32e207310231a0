"""A small data set to try things on: everyday objects, simulated judgments."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import pandas as pd

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.model.simulation import simulate

N_JUDGMENTS = 20_000
# How much simulated people differ, in the logarithm.
WEIGHT_SPREAD, TEMPERATURE_SPREAD = 0.6, 0.25


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
    people : DataFrame or None
        The weights and the temperature of those who answered, if they differ.
    """

    triplets: Triplets
    embedding: pd.DataFrame
    description: str
    people: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return f"Example({self.description})"


def load_example(people: int | None = None) -> Example:
    """Eighty everyday objects in seven dimensions, with *simulated* judgments.

    The weights were made up to be readable (a skateboard moves and is for play) and
    the choices were simulated from them: nothing here says anything about people.

    Parameters
    ----------
    people : int, optional
        So many simulated people answer, who weigh the dimensions differently and are more or
        less consistent; by default one mind answers everything.

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
    who = None if people is None else _people(whole(people, "people", least=2), embedding)
    triplets = simulate(embedding, N_JUDGMENTS, seed=2022, people=who)
    by = "" if people is None else f" by {people} simulated people"
    return Example(
        triplets,
        embedding,
        f"SIMULATED choices: {len(triplets):,} judgments of {len(embedding)} everyday objects "
        f"in {embedding.shape[1]} made-up dimensions{by}",
        who,
    )


def _people(n: int, embedding: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(2023)
    table = pd.DataFrame(
        np.exp(rng.normal(0, WEIGHT_SPREAD, (n, embedding.shape[1]))),
        index=pd.Index([f"p{i:02d}" for i in range(1, n + 1)], name="person"),
        columns=[f"weight {name}" for name in embedding],
    )
    return table.assign(temperature=np.exp(rng.normal(0, TEMPERATURE_SPREAD, n)))
