"""Triplets as a list for the programs that show them to people, and the answers back from it.

The list is a CSV file with a row per trial and the columns `trial`, `left`, `middle`, `right` and
`role`: timeline variables of jsPsych, a conditions file of PsychoPy, a loop of lab.js.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.columns import OBJECT_COLUMNS
from pyrovice.data.reading_report import Reading
from pyrovice.data.roles import CATCH, RANDOM, ROLE
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError

PLACES = ("left", "middle", "right")
ORDERS = np.array(list(permutations(range(3))))
# What programs write for the three places.
ANSWERS = ((0, 1, 2), (1, 2, 3), PLACES)


def trial_list(table: pd.DataFrame, *, catch: int = 0, seed: int = 0) -> pd.DataFrame:
    """Triplets in a random order, objects at balanced places, for jsPsych, PsychoPy or lab.js.

    Parameters
    ----------
    table : DataFrame
        As :func:`pyrovice.next_triplets` gives it: `object_1`, `object_2`, `object_3`, and `role`.
    catch : int
        How many catch trials to add, spread over the list: one object twice and another
        once, which is the odd one to whoever pays attention.
    seed : int
        The same seed gives the same list.

    Returns
    -------
    DataFrame
        A row per trial: `trial` (from 1), `left`, `middle`, `right` and `role`. Every object
        stands at each place about as often. Write it with ``.to_csv("ask.csv", index=False)``,
        and read the answers with :func:`pyrovice.read_answers`.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv
    >>> ask = pd.DataFrame(
    ...     {"object_1": ["cat", "cat"], "object_2": ["dog", "dog"], "object_3": ["bus", "car"]}
    ... )
    >>> pv.trial_list(ask, catch=1).role.tolist()
    ['random', 'catch', 'random']
    """
    missing = [name for name in OBJECT_COLUMNS if name not in table]
    if missing or not len(table):
        raise DataError(
            f"A trial list needs rows with the columns {', '.join(OBJECT_COLUMNS)}; the table has "
            f"{len(table)} rows and {', '.join(map(repr, table))}."
        )
    rng = np.random.default_rng(whole_seed(seed))
    shown = table[list(OBJECT_COLUMNS)].to_numpy(dtype=object)
    role = table[ROLE].to_numpy(object) if ROLE in table else np.full(len(table), RANDOM, object)
    order = rng.permutation(len(shown))
    shown, role = shown[order], role[order]
    wanted = whole(catch, "catch", least=0)
    if wanted:
        objects = np.unique(shown.astype(str))
        pairs = np.array([rng.choice(objects, 2, replace=False) for _ in range(wanted)], object)
        at = np.linspace(0, len(shown), wanted + 2).round().astype(int)[1:-1]
        shown = np.insert(shown, at, pairs[:, [0, 0, 1]], axis=0)
        role = np.insert(role, at, CATCH)
    placed = _at_balanced_places(shown, rng)
    found = pd.DataFrame(placed, columns=list(PLACES))
    found.insert(0, "trial", np.arange(1, len(found) + 1))
    return found.assign(**{ROLE: role})


def _at_balanced_places(shown: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Each row in the order in which its objects stood least often where they stand now."""
    number, code = np.unique(shown.astype(str), return_inverse=True)
    code = code.reshape(shown.shape)
    times = np.zeros((len(number), 3), int)
    placed = np.empty_like(shown)
    for row, objects in enumerate(code):
        orders = rng.permutation(ORDERS)
        cost = times[objects[orders], np.arange(3)].sum(axis=1)
        best = orders[np.argmin(cost)]
        times[objects[best], np.arange(3)] += 1
        placed[row] = shown[row, best]
    return placed


def read_answers(
    path: str | Path | pd.DataFrame,
    *,
    names: Sequence[str] | None = None,
    answer: str = "response",
    positions: Sequence[Any] | None = None,
    participant: str | None = None,
    reaction_time: str | None = None,
) -> Triplets:
    """The answers to a :func:`trial_list`, with the role of every trial.

    Catch trials are not judgments: they are set apart in ``reading.catch``, where
    :mod:`pyrovice.participants` looks for them. Rows without an answer, such as instructions, are
    left out.

    Parameters
    ----------
    path : path or DataFrame
        What the experiment wrote, with the columns `left`, `middle`, `right` and `role`.
    names : sequence of str, optional
        All objects in the order wanted, ``fit.names``; sorted names of the file otherwise.
    answer : str
        The column with the answer: a place, or the name of the odd object.
    positions : sequence of three, optional
        What stands for left, middle and right in it. By default 0, 1, 2, or 1, 2, 3, or the
        words, as the file shows.
    participant, reaction_time : str, optional
        Columns that say who answered, and how fast in milliseconds.

    Examples
    --------
    >>> import pandas as pd, pyrovice as pv
    >>> done = pd.DataFrame(
    ...     {"left": ["cat", "bus"], "middle": ["car", "cat"], "right": ["dog", "cat"],
    ...      "role": ["ask", "catch"], "response": [2, 3], "who": ["ann", "ann"]}
    ... )
    >>> data = pv.read_answers(done, positions=(1, 2, 3), participant="who")
    >>> data.trials.role.tolist(), data.reading.catch.passed.tolist()
    (['ask'], [False])
    """
    frame = path if isinstance(path, pd.DataFrame) else pd.read_csv(path, keep_default_na=False)
    wanted = [*PLACES, answer, *(name for name in (participant, reaction_time) if name)]
    missing = [name for name in wanted if name not in frame]
    if missing:
        raise DataError(
            f"The answers have no column {', '.join(map(repr, missing))}; they have "
            f"{', '.join(map(repr, frame))}. Say where the answer is: answer='...'."
        )
    cells = frame[[*PLACES, answer]]
    answered = (cells.notna() & (cells.astype(str) != "")).all(axis=1).to_numpy()
    frame = frame[answered].reset_index(drop=True)
    place = _places(frame, answer, positions)
    catch = (frame[ROLE] == CATCH).to_numpy() if ROLE in frame else np.zeros(len(frame), bool)
    if catch.all():
        raise DataError("There are no answers but to catch trials; expected some judgments.")
    kept = frame[~catch].drop(columns=answer).assign(**{answer: place[~catch]})
    data = Triplets.from_dataframe(
        kept,
        objects=list(PLACES),
        position=answer,
        participant=participant,
        reaction_time=reaction_time,
        names=names,
    )
    passed = _passed(frame[catch], place[catch], participant)
    label = "a DataFrame" if isinstance(path, pd.DataFrame) else str(path)
    said = f"the columns {', '.join(PLACES)}"
    reading = Reading(
        label, "trial list", said, len(answered), catch=passed if any(catch) else None
    )
    return Triplets(
        data.objects,
        data.odd,
        names=data.names,
        participants=data.participants,
        trials=data.trials,
        reading=reading,
    )


def _places(frame: pd.DataFrame, answer: str, positions: Sequence[Any] | None) -> NDArray[Any]:
    """The place 1, 2 or 3 of every answer."""
    given = frame[answer].astype(str).str.strip().str.removesuffix(".0")
    ways = ANSWERS if positions is None else (tuple(positions),)
    fitting = [way for way in ways if given.isin([str(place) for place in way]).all()]
    if len(fitting) == 1:
        return given.map({str(place): i + 1 for i, place in enumerate(fitting[0])}).to_numpy()
    shown = frame[list(PLACES)].astype(str).to_numpy()
    same = shown == given.to_numpy()[:, None]
    if not fitting and same.any(axis=1).all():
        return same.argmax(axis=1) + 1
    raise DataError(
        f"The answers in {answer!r} are {first_few(map(repr, sorted(set(given))))}; it is not "
        "clear which stands for left, middle and right. Say so: positions=(0, 1, 2)."
    )


def _passed(catch: pd.DataFrame, place: NDArray[Any], participant: str | None) -> pd.DataFrame:
    """Who found the object that was shown once."""
    shown = catch[list(PLACES)].to_numpy(dtype=object)
    picked = shown[np.arange(len(shown)), place.astype(int) - 1] if len(shown) else np.empty(0)
    times = [list(row).count(one) for row, one in zip(shown, picked, strict=True)]
    found = pd.DataFrame({"passed": np.array(times, int) == 1})
    if participant is not None:
        found.insert(0, "participant", catch[participant].to_numpy())
    return found
