"""Judgments that the model itself would make, given an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.arrays import screen_places
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import NO_ANCHOR
from pyrovice.errors import DataError
from pyrovice.model.choices import Choice, DotProduct, log_probability, resolve_choice
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.judgments import Judgments, pair_ids
from pyrovice.model.people import Crowd, People
from pyrovice.model.people.crowd import SPREAD

# The argument of People by the name of its column.
TRAIT_NAMES = {"weights": "weight", "temperature": "temperature", "lapse": "lapse"}


def simulate(
    embedding: ArrayLike | pd.DataFrame,
    n: int,
    *,
    seed: int,
    names: Sequence[str] | None = None,
    anchored: float = 0.0,
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
    people: pd.DataFrame | None = None,
) -> Triplets:
    """Random triplets, answered with the model's own choice probabilities.

    Parameters
    ----------
    embedding : array or DataFrame of shape (m, d)
        Non-negative weights; the index of a DataFrame gives the names.
    n : int
        How many judgments. Triplets are drawn uniformly and may recur.
    seed : int
        The same seed gives the same judgments.
    names : sequence of str, optional
        One name per object.
    anchored : float
        The share of judgments, chosen at random, in which one of the three objects is an
        anchor: "is it more like this one or that?"
    choice : Choice
        How the answers are chosen: a value of :mod:`pyrovice.choices`, or a function that
        samples nothing. If places on the screen matter, the objects stand in a random order,
        which `trials` says.
    people : DataFrame, optional
        Who answers, by label, as `Fit.people` gives it: a column for each dimension that begins
        with `weight`, in the order of the dimensions, and `temperature` and `lapse`, as far as
        they differ in them. The judgments are dealt to them at random.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> pv.simulate(np.eye(4).repeat(5, axis=0) * 3, 1000, seed=0).n_objects
    20
    >>> lazy = pv.choices.DotProduct(lapse=0.1, position=(0.3, 0.0, -0.3))
    >>> data = pv.simulate(np.eye(4).repeat(5, axis=0) * 3, 1000, seed=0, choice=lazy)
    >>> data.trials.columns.tolist()
    ['position', 'place_1', 'place_2', 'place_3']
    """
    if names is None and isinstance(embedding, pd.DataFrame):
        names = [str(name) for name in embedding.index]
    weights = check_embedding(embedding)
    m = len(weights)
    if n < 1:
        raise DataError(f"n={n} judgments; expected at least one.")
    rng = np.random.default_rng(seed)
    objects = random_triplets(m, n, rng)
    anchor = None
    if anchored:
        if not 0 < anchored <= 1:
            raise DataError(f"anchored={anchored!r}; expected a share from 0 to 1.")
        anchor = np.where(rng.random(n) < anchored, rng.integers(0, 3, n), NO_ANCHOR)
    who = None if people is None else rng.integers(0, len(people), n)
    places = None
    if isinstance(choice, SoftmaxChoice) and choice.asks_where:
        places = rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1)
    p = choice_probabilities(weights, objects, anchor, choice, people, who, places)
    odd = (rng.random((n, 1)) > np.cumsum(p[:, :2], axis=1)).sum(axis=1)
    if names is None:
        names = [str(i) for i in range(m)]
    labels = None if people is None else people.index.to_numpy()[who]
    trials = None if places is None else _shown_at(objects, odd, anchor, places)
    return Triplets(objects, odd, names=names, anchor=anchor, participants=labels, trials=trials)


def _shown_at(
    objects: NDArray[np.int64],
    odd: NDArray[np.int64],
    anchor: NDArray[np.int64] | None,
    places: NDArray[np.int64],
) -> pd.DataFrame:
    """The columns of `Triplets.trials` that say where objects and answers stood."""
    left_to_right = np.take_along_axis(objects, np.argsort(places, axis=1), axis=1)
    at = np.take_along_axis(places, odd[:, None], axis=1)[:, 0]
    if anchor is not None:
        there = np.take_along_axis(places, np.maximum(anchor, 0)[:, None], axis=1)[:, 0]
        anchor = np.where(anchor < 0, NO_ANCHOR, there)
    return pd.DataFrame(screen_places(left_to_right, at, anchor))


def plausible_embedding(n_objects: int, dimensions: int, *, seed: int) -> NDArray[np.float64]:
    """Made-up weights that are much like those of the published embeddings.

    Every object has one dimension that it is mainly about, shares a fifth of the others, and
    is hardly ever at exactly zero. Of its triplets about 60 to 65 % can be predicted.

    Examples
    --------
    >>> plausible_embedding(100, 10, seed=0).shape
    (100, 10)
    """
    shape = (n_objects, dimensions)
    rng = np.random.default_rng(seed)
    weights = rng.gamma(1.5, 0.4, shape) * (rng.random(shape) < 0.2)
    main = rng.integers(0, dimensions, n_objects)
    weights[np.arange(n_objects), main] = rng.gamma(9.0, 0.18, n_objects)
    return weights + rng.gamma(0.5, 0.04, shape)


def check_embedding(embedding: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
    """A finite, non-negative matrix of at least three objects."""
    weights = numeric_matrix(embedding)
    if len(weights) < 3:
        raise DataError(f"embedding has {len(weights)} objects; a triplet needs at least three.")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise DataError(
            "embedding holds negative or missing values; expected non-negative weights, for "
            "example np.maximum(embedding, 0)."
        )
    return weights


def numeric_matrix(embedding: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
    """Numbers by object and dimension."""
    try:
        weights = np.asarray(embedding, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Got a {type(embedding).__name__} for an embedding; expected numbers by object and "
            "dimension, for example fit.embedding()."
        ) from error
    if weights.ndim != 2:
        raise DataError(f"embedding has shape {weights.shape}, expected objects x dimensions.")
    return weights


def random_triplets(m: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`n` uniform draws of three different objects out of `m`, ascending."""
    first = rng.integers(0, m, n)
    second = rng.integers(0, m - 1, n)
    third = rng.integers(0, m - 2, n)
    # Each number counts the objects not yet taken, so every triplet is equally likely.
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    return np.sort(np.column_stack([first, second, third]), axis=1)


def choice_probabilities(
    embedding: NDArray[np.floating],
    objects: NDArray[np.integer],
    anchor: NDArray[np.integer] | None = None,
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
    people: pd.DataFrame | None = None,
    who: NDArray[np.integer] | None = None,
    places: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """Probability that each of three objects is the odd one, for one fixed embedding.

    `people` are as in :func:`simulate`, `who` is the row of the one who answers, and `places` are
    those of the three objects on the screen, (n, 3).
    """
    # A copy: tables may have columns that cannot be written to, of which torch warns.
    X = torch.from_numpy(np.array(embedding, dtype=np.float64, order="C"))
    asked = Judgments(
        pair_ids(torch.as_tensor(objects.astype(np.int64)), len(X)),
        torch.zeros(len(objects), dtype=torch.long),
        None if anchor is None else torch.as_tensor(anchor.astype(np.int64)),
        None,
        len(X),
        len(objects),
        places=None if places is None else torch.as_tensor(places.T.copy()),
    )
    if people is None or who is None:
        return log_probability(choice, {"X": X}, asked).exp().numpy()
    traits = _traits(people, X.shape[1])
    differ = {trait: f"person_{name}" in traits for trait, name in TRAIT_NAMES.items()}
    crowd = Crowd(People(**differ), resolve_choice(choice), tuple(people.index), *X.shape)
    crowd = crowd.as_given()
    # What people have in common makes no difference once each of them is given.
    shared = dict.fromkeys((*SPREAD.values(), "typical_lapse"), torch.tensor(0.5))
    asked = replace(asked, person=torch.as_tensor(who.astype(np.int64)))
    return log_probability(crowd, {"X": X} | shared | traits, asked).exp().numpy()


def _traits(people: pd.DataFrame, dimensions: int) -> dict[str, torch.Tensor]:
    """The sites of people that a table has."""
    columns = [c for c in people if str(c).startswith("weight") and not str(c).endswith("%")]
    found = {}
    if columns:
        if len(columns) != dimensions:
            raise DataError(
                f"people has {len(columns)} columns of weights and the embedding {dimensions} "
                "dimensions; expected a column for each, 'weight 1', 'weight 2', ..."
            )
        found["person_weight"] = people[columns].to_numpy(float)
    for trait in ("temperature", "lapse"):
        if trait in people:
            found[f"person_{trait}"] = people[trait].to_numpy(float)
    if not found:
        raise DataError(
            "people has no column 'weight 1', 'temperature' or 'lapse', so that all would answer "
            "alike; expected a table such as fit.people()."
        )
    for name, values in found.items():
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise DataError(
                f"people has a {name.removeprefix('person_')} that is not a positive number."
            )
    return {name: torch.tensor(values) for name, values in found.items()}
