"""A small data set to try things on: everyday objects, simulated judgments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import numpy as np
import pandas as pd

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.model.simulation import simulate

N_JUDGMENTS = 20_000
# How much simulated people differ, in the logarithm.
WEIGHT_SPREAD, TEMPERATURE_SPREAD = 0.6, 0.25
# Of the table, if people do not differ.
PARTICIPANTS = 30
# Milliseconds: the median reaction time, and its spread over answers in the logarithm.
MEDIAN_TIME, TIME_SPREAD = 2500, 0.4


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
    table : DataFrame
        The same judgments as an experiment would log them.
    """

    triplets: Triplets
    embedding: pd.DataFrame
    description: str
    people: pd.DataFrame | None = None

    @cached_property
    def table(self) -> pd.DataFrame:
        """The same judgments as an experiment would log them, a row per answer.

        Who answered, the objects as they stood on the screen from left to right in any order,
        the odd one, and the reaction time in milliseconds, which is made up and says nothing.

        Examples
        --------
        >>> import pyrovice as pv
        >>> table = pv.load_example().table
        >>> list(table)
        ['participant', 'left', 'middle', 'right', 'odd', 'reaction_time']
        >>> pv.Triplets.from_dataframe(
        ...     table, objects=["left", "middle", "right"], participant="participant",
        ...     reaction_time="reaction_time",
        ... )
        Triplets(20,000 judgments of 80 objects, 30 participants, 2,104 triplets judged repeatedly)
        """
        data, rng = self.triplets, np.random.default_rng(2024)
        names = np.array(data.names)
        shown = rng.permuted(data.objects, axis=1)
        answered = rng.integers(1, PARTICIPANTS + 1, len(data))
        table = pd.DataFrame(names[shown], columns=["left", "middle", "right"])
        table.insert(
            0,
            "participant",
            [f"p{number:02d}" for number in answered]
            if data.participants is None
            else data.participants,
        )
        table["odd"] = names[data.objects[np.arange(len(data)), data.odd]]
        times = np.exp(rng.normal(np.log(MEDIAN_TIME), TIME_SPREAD, len(data)))
        return table.assign(reaction_time=times.round().astype(int))

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
