"""Scores by object and by participant: which are hard to predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.errors import DataError, PyroviceError
from pyrovice.results.scores import check_probabilities, hits, log_score

BY = ("object", "participant")


def break_down(
    probabilities: NDArray[np.floating], triplets: Triplets, by: str = "object"
) -> pd.DataFrame:
    """Score predictions separately for each object or each participant.

    Parameters
    ----------
    probabilities : array of shape (n, 3)
        As `Fit.predict` returns them.
    triplets : Triplets
        The n judgments.
    by : {"object", "participant"}
        A judgment counts for each of its three objects, or for who made it.

    Returns
    -------
    DataFrame
        A row per object (all of them, judged or not) or participant (the last one, None, if
        somebody is not known): the number `n` of
        judgments, `accuracy` and `cross_entropy` with their standard errors
        `accuracy_se` and `cross_entropy_se`, and `expected_accuracy`, what the model itself
        expects of these questions. Someone far below what is expected answers by something
        else than the embedding.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> t = pv.Triplets([[0, 1, 2], [0, 1, 3]], [2, 0], participants=["ann", "bob"])
    >>> table = break_down(np.array([[0.2, 0.2, 0.6], [0.1, 0.1, 0.8]]), t, "participant")
    >>> table[["n", "accuracy", "expected_accuracy"]]
                 n  accuracy  expected_accuracy
    participant
    ann          1       1.0                0.6
    bob          1       0.0                0.8
    """
    p = check_probabilities(probabilities, triplets)
    if by not in BY:
        raise PyroviceError(f"by={by!r}; expected one of {', '.join(map(repr, BY))}.")
    if by == "participant" and triplets.participants is None:
        raise DataError(
            "These judgments do not say who made them; give them participants=..., for example "
            "Triplets.from_dataframe(table, participant='who')."
        )
    scores = pd.DataFrame(
        {
            "accuracy": hits(p, triplets.odd),
            "cross_entropy": -log_score(p, triplets.odd),
            "expected_accuracy": p.max(axis=1),
        }
    )
    if by == "object":
        scores = scores.loc[np.repeat(scores.index, 3)]
        groups = scores.groupby(triplets.objects.ravel())
    else:
        known = triplets.people()
        row = pd.Index(known).get_indexer(pd.Index(triplets.participants))
        # Whoever is not known comes last.
        groups = scores.groupby(np.where(row < 0, len(known), row))
    mean, error = groups.mean(), groups.sem()
    table = pd.DataFrame(
        {
            "n": groups.size(),
            "accuracy": mean.accuracy,
            "accuracy_se": error.accuracy,
            "cross_entropy": mean.cross_entropy,
            "cross_entropy_se": error.cross_entropy,
            "expected_accuracy": mean.expected_accuracy,
        }
    )
    if by == "object":
        table = table.reindex(range(triplets.n_objects)).set_axis(list(triplets.names))
        table["n"] = table.n.fillna(0).astype(int)
    else:
        labels = [*known, None][: len(table)]
        table.index = pd.Index(labels, dtype=object if None in labels else None)
    return table.rename_axis(by)
