"""How many dimensions there are, how sure that is, and which they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, poisson

from pyrovice.criticism.dimension_words import advice_about, evidence, judgments_to_settle, verdict
from pyrovice.criticism.recurring_dimensions import Recurring, recurring
from pyrovice.criticism.resamples import RATES, Resample, resamples_of
from pyrovice.data.html_tables import html_table
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PyroviceError
from pyrovice.inference.many_fits import results_of
from pyrovice.inference.plan import check_data
from pyrovice.results.fit import Fit
from pyrovice.results.matching import correlations, same_dimensions

# The share of the judgments that a dimension has to come back in, and smaller ones that show how
# the count grows.
SHARE, SMALLER_SHARES = 0.8, (0.2, 0.4, 0.6)
# A dimension is real if in the long run it comes back in more than a certain share of the refits: a
# fifth of the judgments less costs weak but true dimensions much of their power, and what is made
# of noise hardly ever comes back. Where the line lies depends on the data, and is the same for all
# their dimensions: that makes most of the width of the interval. And refits share most of their
# judgments, so that no number of them is worth more than so many independent ones. All were chosen
# on simulated data sets that are not among those of benchmarks/quality/dimension_counts.py.
LINES = (np.arange(100) + 0.5) / 100
LINE_IS_AT = beta.pdf(LINES, 3, 4) / beta.pdf(LINES, 3, 4).sum()
WORTH_AT_MOST = 24
# Fits of all judgments find more than refits to a part of them. How fast the number has risen up to
# four fifths of the judgments, with the logarithm of theirs, says how it would go on, and this
# share of it does: the rest is that what was looked for is what these last refits have.
GROWTH_GOES_ON = 0.5
# What was found once has not come back, and is not counted.
LEAST_RETURNS = 2
LEVEL = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class Dimensionality:
    """The number of dimensions, made by :func:`pyrovice.dimensionality`.

    Attributes
    ----------
    count : int
        How many dimensions are real: the median of what is probable.
    low, high : int
        The ends of the 90 % interval.
    table : DataFrame
        A row per dimension of the fit, by its number or name, and then per dimension that refits
        found again and again and the fit did not (`+1`, `+2`, ...): the `probability` that it is
        real, in how many refits it `returned`, the mean `correlation` with these, whether it is
        `in_fit`, a `verdict` (certain, likely, possible, unlikely) and the `evidence` in words.
    refits : DataFrame
        A row per refit: the `share` of the judgments, the multiple of the automatic learning
        `rate`, how many dimensions it `kept`, and how many `real` ones are among them, those with
        a probability of at least one half.
    distribution : array
        The probability of 0, 1, 2, ... dimensions.
    to_come : float
        How many of them are expected to be too weak for any part of the judgments to show, because
        the count still grows with their number.
    n_judgments : int
        How many judgments there are.
    more_judgments : int or None
        About how many more would settle what is uncertain; None if nothing is, or if it would
        take more than ten times as many.
    """

    count: int
    low: int
    high: int
    table: pd.DataFrame
    refits: pd.DataFrame
    distribution: NDArray[np.float64]
    to_come: float
    n_judgments: int
    more_judgments: int | None

    @property
    def advice(self) -> str:
        """What to publish, and what would make it surer."""
        return advice_about(
            self.table, self.refits, self.n_judgments, self.more_judgments, self.to_come
        )

    @property
    def headline(self) -> str:
        """The count with its interval."""
        plural = "dimension" if self.count == 1 else "dimensions"
        return f"{self.count} {plural} (90 % interval {self.low} to {self.high})"

    def __repr__(self) -> str:
        if not len(self.table):
            return f"{self.headline}\n{self.advice}"
        shown = self.table[["probability", "returned", "verdict"]]
        return f"{self.headline}\n{self.advice}\n\n{shown.round({'probability': 2}).to_string()}"

    def _repr_html_(self) -> str:
        rows = [
            [str(name), f"{row.probability:.2f}", row.verdict, row.evidence]
            for name, row in self.table.iterrows()
        ]
        columns = ["dimension", "probability", "verdict", "evidence"]
        return html_table(self.headline, columns, rows, [self.advice])


def dimensionality(
    fit: Fit,
    data: Triplets,
    *,
    resamples: int = 12,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | Path | None = None,
    progress: bool = True,
) -> Dimensionality:
    """How many dimensions there really are, with an interval; also ``fit.dimensionality(data)``.

    The number that a single fit keeps depends on its learning rate and seed. So fits are made to
    random 80 % of the judgments, at a half, one and two times the automatic learning rate. A
    dimension is real if it comes back in them, one to one (r > .8). That includes dimensions that
    `fit` itself has missed. How often a dimension came back gives the probability that it is
    real, and these give the interval of the count; what came back once or never is not counted.
    Nine more fits to smaller shares show how the count grows with the judgments, and how many
    dimensions only all of them show.

    Parameters
    ----------
    fit : Fit
        The fit whose dimensions are in question. Its prior, choice, people and guide are used for
        all others; its learning rate is not.
    data : Triplets
        The judgments that it was fitted to.
    resamples : int
        Fits to 80 % of the judgments; with fewer than six, little can be told.
    seed : int
        Of the parts of the judgments and of the fits.
    n_jobs : int
        Processes to work in. Small fits are made many at a time in one process anyway.
    store : path, optional
        A folder for the results of single fits, from which a run that was killed goes on.
    progress : bool
        Whether to show a bar over the fits.

    Returns
    -------
    Dimensionality

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> three_kinds = 1.5 * np.repeat(np.eye(3), 10, axis=0)
    >>> data = pv.simulate(three_kinds, 2000, seed=0)
    >>> quick = pv.Training(schedule=pv.Anneal(steps=150), stop=pv.MaxEpochs(150))
    >>> fit = pv.fit(data, dimensions=4, training=quick)
    >>> found = fit.dimensionality(data, resamples=6)
    >>> found.count, found.low, found.high
    (3, 3, 3)
    >>> found.table.evidence[1]
    'came back in all 6 refits to 80 % of the judgments (mean r = 1.00)'
    """
    check_data(data, "data")
    if not fit.was_fitted_to(data):
        raise DataError(
            "These are not the judgments that were fitted: the dimensions in question are of those."
        )
    if fit.missing_code() is not None:
        raise PyroviceError(
            "Refits need the prior and choice of this fit, and one of them was given as code: "
            "load it with pv.load(path, prior=..., choice=...)."
        )
    large = whole(resamples, "resamples", least=2)
    shares = [SHARE] * large + [share for share in SMALLER_SHARES for _ in RATES]
    wanted = resamples_of(fit, data, shares, seed)
    kept = results_of(wanted, store=store, n_jobs=n_jobs, progress=progress)
    embeddings = [each["embedding"].astype(float) for each in kept]
    return _counted(fit, wanted, embeddings, large)


def real_probability(returned: NDArray[np.integer] | int, refits: int) -> NDArray[np.float64]:
    """The probability that a dimension is real that came back in so many of the refits.

    That is, that its long-run share is above a line, given Jeffreys' prior on that share; R refits
    count for R · 24 / (R + 24), because they share most of their judgments. The line is at .43,
    give or take .17.

    Examples
    --------
    >>> real_probability(np.array([0, 2, 4, 6, 12]), 12).round(2)
    array([0.02, 0.15, 0.37, 0.62, 1.  ])
    """
    return LINE_IS_AT @ _above_lines(np.atleast_1d(returned), refits)


def probability_of_counts(returned: NDArray[np.integer], refits: int) -> NDArray[np.float64]:
    """How probably 0, 1, 2, ... dimensions are real that came back so often.

    Examples
    --------
    >>> probability_of_counts(np.array([12, 6]), 12).round(2)
    array([0.  , 0.38, 0.62])
    """
    of_each = [number_of_events(above) for above in _above_lines(returned, refits)]
    return LINE_IS_AT @ np.array(of_each)


def _above_lines(returned: NDArray[np.integer], refits: int) -> NDArray[np.float64]:
    """How probably dimensions are above each of the lines, (lines, dimensions)."""
    worth = refits * WORTH_AT_MOST / (refits + WORTH_AT_MOST)
    share = np.asarray(returned) / refits
    return beta.sf(LINES[:, None], worth * share + 0.5, worth * (1 - share) + 0.5)


def number_of_events(probabilities: Sequence[float] | NDArray[np.floating]) -> NDArray[np.float64]:
    """How probably 0, 1, 2, ... of independent events happen (Poisson's binomial).

    Examples
    --------
    >>> number_of_events([0.5, 0.5, 1.0])
    array([0.  , 0.25, 0.5 , 0.25])
    """
    found = np.ones(1)
    for p in probabilities:
        found = np.convolve(found, [1 - p, p])
    return found


def _counted(
    fit: Fit, wanted: Sequence[Resample], embeddings: Sequence[NDArray[np.float64]], large: int
) -> Dimensionality:
    common = recurring(embeddings[:large])
    table, own = _table(fit, common, embeddings[:large], wanted[:large])
    # Where each refit, the smaller ones included, has the dimensions of the table.
    found = np.stack([_finds(own, each) for each in embeddings])
    found[:large] = _found(common, own.columns)
    real = table.probability.to_numpy() >= 0.5
    refits = pd.DataFrame(
        {
            "share": [each.share for each in wanted],
            "rate": [each.rate for each in wanted],
            "kept": [each.shape[1] for each in embeddings],
            "real": found[:, real].sum(axis=1),
        }
    )
    often = table.returned[table.returned >= LEAST_RETURNS].to_numpy()
    to_come = still_to_come(refits)
    distribution = np.convolve(probability_of_counts(often, large), _poisson(to_come))
    below = distribution.cumsum()
    tail = (1 - LEVEL) / 2
    count, low, high = (int(np.searchsorted(below, q)) for q in (0.5, tail, 1 - tail))
    uncertain = table.verdict.isin(["likely", "possible"]).to_numpy()
    more = judgments_to_settle(found[:, uncertain], refits.share.to_numpy(), fit.n_judgments, SHARE)
    return Dimensionality(
        count, low, high, table, refits, distribution, to_come, fit.n_judgments, more
    )


def still_to_come(refits: pd.DataFrame) -> float:
    """How many more real dimensions are expected of all judgments than of four fifths of them.

    Examples
    --------
    >>> refits = pd.DataFrame({"share": [0.2, 0.4, 0.6, 0.8], "real": [2, 6, 8, 10]})
    >>> round(still_to_come(refits), 2)
    0.64
    """
    found = refits.groupby("share").real.mean()
    # Since two fifths, and lately: what has settled by now may have risen steeply before.
    speeds = [(found[SHARE] - found[s]) / np.log(SHARE / s) for s in SMALLER_SHARES[1:]]
    return float(GROWTH_GOES_ON * max(min(speeds), 0.0) * np.log(1 / SHARE))


def _poisson(mean: float) -> NDArray[np.float64]:
    """The probability of 0, 1, 2, ... of many things that are each improbable."""
    found: NDArray[np.float64] = poisson.pmf(np.arange(poisson.isf(1e-9, mean) + 1), mean)
    return found / found.sum()


@dataclass(frozen=True, eq=False)
class _Rows:
    """The dimensions of the table: what they are like, and which recurring ones they are."""

    weights: NDArray[np.float64]
    columns: NDArray[np.intp]


def _found(common: Recurring, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which embeddings have which of these recurring dimensions, none those that are -1."""
    # One more that nobody has, so that -1 is there even if nothing recurs.
    nowhere = np.zeros((len(common.found), 1), bool)
    return np.concatenate([common.found, nowhere], axis=1)[:, columns]


def _finds(rows: _Rows, embedding: NDArray[np.float64]) -> NDArray[np.bool_]:
    return same_dimensions(rows.weights, embedding) >= 0


def _table(
    fit: Fit,
    common: Recurring,
    embeddings: Sequence[NDArray[np.float64]],
    wanted: Sequence[Resample],
) -> tuple[pd.DataFrame, _Rows]:
    own = fit.embedding()
    of_fit = same_dimensions(own.to_numpy(float), common.centres)
    returned = common.found.sum(axis=0)
    missed = [c for c in np.flatnonzero(returned >= LEAST_RETURNS) if c not in of_fit]
    columns = np.concatenate([of_fit, missed]).astype(int)
    centres = common.centres[:, missed]
    rows = _Rows(np.concatenate([own.to_numpy(float), centres], axis=1), columns)
    found = _found(common, columns)
    probability = real_probability(found.sum(axis=0), len(embeddings))
    rates = np.array([each.rate for each in wanted])
    described = []
    for j in range(len(columns)):
        matches = [
            correlations(rows.weights[:, [j]], embedding[:, [common.columns[i, columns[j]]]])[0, 0]
            for i, embedding in enumerate(embeddings)
            if found[i, j]
        ]
        r = float(np.mean(matches)) if matches else np.nan
        best = [] if j < own.shape[1] else np.argsort(-rows.weights[:, j])[:3].tolist()
        described.append((r, evidence(found[:, j], rates, r, [fit.names[i] for i in best])))
    table = pd.DataFrame(
        {
            "probability": probability,
            "returned": found.sum(axis=0),
            "correlation": [r for r, _ in described],
            "in_fit": np.arange(len(columns)) < own.shape[1],
            "verdict": [verdict(p) for p in probability],
            "evidence": [words for _, words in described],
        },
        index=pd.Index(
            [*own.columns, *(f"+{i}" for i in range(1, len(missed) + 1))],
            name="dimension",
            dtype=object,
        ),
    )
    return table, rows
