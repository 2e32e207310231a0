"""The next questions of an experiment, chosen by what a fit does not know yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pyrovice.criticism.asking.batch import choose
from pyrovice.criticism.asking.candidates import Candidates
from pyrovice.criticism.asking.goals import Goal, about_dimension, about_embedding, about_person
from pyrovice.criticism.asking.information import Answering, Rows, expected_gain
from pyrovice.data.columns import OBJECT_COLUMNS
from pyrovice.data.repeats import triplet_keys
from pyrovice.data.roles import ASK, RANDOM, ROLE
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.data.wording import some_of
from pyrovice.errors import DataError, PyroviceError
from pyrovice.results.fit import Fit
from pyrovice.results.persons import crowd_of
from pyrovice.results.persons import person as person_of

# Posterior draws that information is averaged over.
DRAWS = 8


def next_triplets(
    fit: Fit,
    n: int,
    *,
    candidates: Any = None,
    random: float = 0.1,
    data: Triplets | None = None,
    objects: Sequence[str] | None = None,
    dimension: int | str | None = None,
    person: Any = None,
    repeats: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """Choose the triplets to ask next, as a batch, by what their answers are expected to tell.

    By default they are chosen so that the next fit predicts random triplets best. Name
    `objects`, a `dimension` or a `person` to learn about these instead.

    Parameters
    ----------
    fit : Fit
        What is known so far; a posterior, not a point.
    n : int
        How many triplets.
    candidates : Triplets, DataFrame or array of shape (k, 3), optional
        What to choose from: names or ids, three in each row. By default all triplets of the
        fit's objects, of which many are sampled where there are too many to look at.
    random : float
        The share of the batch that is drawn at random instead. Only these are a fair sample to
        test predictions on: chosen ones are hard on purpose. They may have been asked before.
    data : Triplets, optional
        All judgments so far, if the fit does not hold them (a loaded one does not).
    objects : sequence of str, optional
        Learn how alike these objects are, to each other and to others: every triplet has one of
        them. New objects of ``fit.with_objects(table)`` can be named.
    dimension : int or str, optional
        Learn the weights of one dimension, for example of a weak one that may not be real.
    person : optional
        Learn what one of ``fit.people()`` weighs, and ask them.
    repeats : bool
        Whether triplets that were asked before may be chosen again.
    seed : int
        The same seed gives the same batch.

    Returns
    -------
    DataFrame
        The columns `object_1`, `object_2`, `object_3` (names, in the order of ``fit.names``),
        `gain` (mutual information between the answer and the posterior, in nats) and `role`,
        ``"ask"`` or ``"random"``. The most useful come first, the random ones last;
        :func:`pyrovice.trial_list` makes a list for an experiment of it.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> fit = pv.fit(data, dimensions=12)
    >>> ask = pv.next_triplets(fit, 50)
    >>> ask.role.value_counts().to_dict()
    {'ask': 45, 'random': 5}
    >>> means = ask.groupby("role").gain.mean()
    >>> bool(means["ask"] > 1.5 * means["random"])
    True
    """
    n, seed = whole(n, "n", least=1), whole_seed(seed)
    _check(fit, random, (objects, dimension, person))
    asked = _asked(fit, data)
    rng = np.random.default_rng(seed)
    rows_of = None if objects is None else _rows_of(fit, objects)
    number = None if person is None else _number_of(fit, person)
    keys = triplet_keys(asked, len(fit.names)) if len(asked) and not repeats else np.empty(0, int)
    pool = Candidates(fit.names, candidates, keys, rows_of)
    if n > pool.total():
        raise DataError(
            f"n={n:,} triplets were to be chosen, and there are {pool.total():,} to choose from. "
            "Ask for fewer."
        )
    shared = pool.at_random(round(random * n), rng) if round(random * n) else np.empty((0, 3), int)
    pool.take(shared)
    wanted = n - len(shared)
    _check_enough(pool, wanted, repeats)
    answering = Answering(fit, DRAWS, seed, number)
    goal = _goal(fit, answering, asked, rng, rows_of, dimension)
    found = choose(goal, pool, wanted, rng)
    rows = np.concatenate([found, shared])
    table = pd.DataFrame(np.asarray(fit.names, dtype=object)[rows], columns=list(OBJECT_COLUMNS))
    table["gain"] = expected_gain(fit, rows, seed, number)
    table[ROLE] = [ASK] * len(found) + [RANDOM] * len(shared)
    return table


def _goal(
    fit: Fit,
    answering: Answering,
    asked: Rows,
    rng: np.random.Generator,
    objects: Rows | None,
    dimension: int | str | None,
) -> Goal:
    if answering.person is not None:
        return about_person(fit, answering, rng)
    if dimension is not None:
        return about_dimension(fit, answering, asked, rng, _position_of(fit, dimension))
    return about_embedding(fit, answering, asked, rng, objects)


def _check(fit: Any, random: float, goals: tuple[Any, ...]) -> None:
    """Refuse what nothing can be chosen by."""
    if not isinstance(fit, Fit):
        raise TypeError(f"next_triplets got a {type(fit).__name__}; expected a Fit, pv.fit(data).")
    if not isinstance(random, int | float) or not 0 <= random <= 1:
        raise PyroviceError(f"random={random!r}; expected a share from 0 to 1.")
    if sum(goal is not None for goal in goals) > 1:
        raise PyroviceError("Give one of objects=, dimension= and person=: a batch has one goal.")
    if fit.posterior.is_point:
        raise PyroviceError(
            f"This fit ({fit.guide_family!r}) is a point: it has no uncertainty that answers could "
            "lower. Fit with guide=pv.MeanField(), or refine it, pv.refine(fit, data)."
        )
    if not fit.posterior.shape[1]:
        raise PyroviceError(
            "This fit has no dimensions, so that no triplet looks better than another: ask random "
            "ones first, pv.next_triplets needs a fit that predicts something."
        )
    missing = fit.missing_code()
    if missing is not None:
        raise missing.missing()


def _asked(fit: Fit, data: Triplets | None) -> Rows:
    """The triplets that were asked, by the numbers of the fit's objects."""
    if data is None:
        if fit.model.data is None:
            raise DataError(
                "This fit does not hold the judgments that it was fitted to (a loaded one does "
                "not, nor one with new objects), and they say what was asked and what it told: "
                "pass them, data=..., on the command line --data."
            )
        return fit.model.data.objects.T.cpu().numpy()
    if not isinstance(data, Triplets):
        raise TypeError(f"data is a {type(data).__name__}; expected Triplets.")
    place = pd.Index(fit.names).get_indexer(pd.Index(data.names))
    if (place < 0).any():
        unknown = [name for name, at in zip(data.names, place, strict=True) if at < 0]
        raise DataError(
            f"data have {some_of(unknown, 'object')} that the fit does not know; read them with "
            "names=fit.names."
        )
    return np.sort(place[data.objects], axis=1).astype(np.int64)


def _rows_of(fit: Fit, objects: Sequence[str]) -> Rows:
    if isinstance(objects, str):
        objects = [objects]
    place = pd.Index(fit.names).get_indexer(pd.Index([str(name) for name in objects]))
    unknown = [name for name, at in zip(objects, place, strict=True) if at < 0]
    if unknown or not len(place):
        raise DataError(
            f"objects={list(objects)!r}: the fit does not know {some_of(unknown, 'object')}; "
            "expected some of fit.names. For new objects choose from fit.with_objects(table)."
        )
    return np.unique(place).astype(np.int64)


def _position_of(fit: Fit, dimension: int | str) -> int:
    known = list(fit.embedding(pruned=False))
    if dimension not in known:
        raise PyroviceError(
            f"dimension={dimension!r}; the fit has {', '.join(map(str, known))}. See "
            "fit.importance() for those that are not kept."
        )
    return known.index(dimension)


def _number_of(fit: Fit, label: Any) -> int:
    crowd_of(fit)
    if "person_weight" not in fit.posterior.others:
        raise PyroviceError(
            "This fit has no weights per person to learn: fit with people=pv.People(weights=True)."
        )
    person_of(fit, label)
    return list(fit.model.known_people or ()).index(label)


def _check_enough(pool: Candidates, n: int, repeats: bool) -> None:
    left = pool.left()
    if left >= n:
        return
    more = "" if repeats else ", or let questions be asked again, repeats=True"
    raise DataError(
        f"n={n} triplets were to be chosen, beside the random share, and {left:,} are left that "
        f"can be. Ask for fewer{more}."
        if left
        else f"There are no candidates left: every one was asked before. Give others{more}."
    )
