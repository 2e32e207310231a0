"""Which of several models predicts judgments best: leave-one-out, and K-fold by refitting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.criticism.better_choice import which_choice
from pyrovice.criticism.refitting import refits
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import PyroviceError
from pyrovice.inference.plan import check_data
from pyrovice.results.arviz_groups import to_arviz
from pyrovice.results.arviz_versions import leave_one_out
from pyrovice.results.fit import Fit
from pyrovice.results.scores import log_score
from pyrovice.storage.identity import name_of

# Importance weights with a larger Pareto k are not to be trusted, however many draws there are.
TRUSTED_PARETO_K = 0.7


def compare(
    fits: Mapping[str, Fit],
    data: Triplets,
    *,
    folds: int | None = None,
    draws: int = 500,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare fits by how well they would predict judgments that they have not seen.

    Parameters
    ----------
    fits : mapping of str to Fit
        What to compare, by name, all fitted to `data`.
    data : Triplets
        The judgments that they were fitted to.
    folds : int, optional
        Also refit every model `folds` times without a part of the judgments and score
        that part: slower, and the reference where Pareto k is large. All judgments of
        one triplet are in the same part.
    draws : int
        Posterior draws.
    seed : int
        Seed of the draws, the folds and the refits.

    Returns
    -------
    DataFrame
        A row per fit, the best first: `elpd_loo`, the expected log-probability of
        `judgments` left out one at a time (PSIS-LOO by ArviZ; of large data a random
        part, the same for all), its standard error `se`, `p_loo` (effective number of
        parameters), `elpd_diff` to the best and the standard error `dse` of that
        difference, `high_k`, how many judgments have a Pareto k too high for their term
        to be trusted, and `dimensions` kept; `choice` if they differ in it. With `folds`
        also `elpd_kfold`, `se_kfold`, `diff_kfold`, `dse_kfold`. Where choices differ,
        ``table.attrs["found"]`` says which is better, if any is by more than two standard
        errors, and what to type.

    Notes
    -----
    LOO reweights draws as if they came from the posterior; here they come from a guide.
    A guide that is too narrow looks a little too good. Point estimates have no draws and
    can be compared by folds only.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets.subset(8000, seed=0)
    >>> short = {"dimensions": 12, "training": pv.Training(schedule=pv.Anneal(steps=300))}
    >>> fits = {
    ...     "wide": pv.fit(data, prior=pv.SpikeSlab(0.25, 1.0), **short),
    ...     "narrow": pv.fit(data, prior=pv.SpikeSlab(0.1, 0.3), **short),
    ... }
    >>> pv.compare(fits, data, draws=100).index.tolist()
    ['wide', 'narrow']
    """
    check_data(data, "data")
    if not isinstance(fits, Mapping) or not fits:
        raise PyroviceError(
            f"compare got {type(fits).__name__}; expected fits by name, for example "
            "pv.compare({'spike and slab': fit, 'exponential': other}, data)."
        )
    points = [name for name, fit in fits.items() if fit.posterior.is_point]
    if points and folds is None:
        raise PyroviceError(
            f"{points[0]!r} is a point estimate, which has no posterior to leave a judgment out "
            "of; compare by refitting, pv.compare(fits, data, folds=5)."
        )
    for name, fit in fits.items():
        if not fit.was_fitted_to(data):
            raise PyroviceError(
                f"{name!r} was fitted to other judgments than these. Leaving one out is about "
                "the judgments that were fitted: pass those, or compare fit.evaluate(data)."
            )
    rows: dict[str, dict[str, Any]] = {
        name: {"dimensions": fit.n_dimensions} for name, fit in fits.items()
    }
    terms: dict[str, NDArray[np.float64]] = {}
    for name, fit in fits.items():
        if name not in points:
            left_out = leave_one_out(
                to_arviz(fit, data, draws=draws, groups=["posterior", "log_likelihood"], seed=seed)
            )
            terms[name] = left_out["pointwise"]
            limit = min(TRUSTED_PARETO_K, 1 - 1 / np.log10(draws))
            rows[name] |= {
                "elpd_loo": left_out["elpd"],
                "se": left_out["se"],
                "p_loo": left_out["p"],
                "high_k": int((left_out["pareto_k"] > limit).sum()),
                "judgments": len(left_out["pointwise"]),
            }
    _add_differences(rows, terms, "elpd_diff", "dse")
    if len({repr(fit.choice) for fit in fits.values()}) > 1:
        for name, fit in fits.items():
            rows[name]["choice"] = name_of(fit.choice)
    if folds is not None:
        scores = _by_folds(fits, data, folds, draws, seed)
        for name, score in scores.items():
            rows[name] |= {"elpd_kfold": score.sum(), "se_kfold": _standard_error(score)}
        _add_differences(rows, scores, "diff_kfold", "dse_kfold")
    table = _as_table(rows, "elpd_loo" if not points else "elpd_kfold")
    if "choice" in table:
        table.attrs["found"] = which_choice(table, fits)
    return table


def _as_table(rows: dict[str, dict[str, Any]], by: str) -> pd.DataFrame:
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("fit")
    order = ["elpd_loo", "se", "p_loo", "elpd_diff", "dse", "high_k", "judgments", "dimensions"]
    order += ["choice"]
    order += ["elpd_kfold", "se_kfold", "diff_kfold", "dse_kfold"]
    table = table[[name for name in order if name in table]]
    counts = [name for name in ("high_k", "judgments", "dimensions") if name in table]
    return table.astype(dict.fromkeys(counts, "Int64")).sort_values(by, ascending=False)


def _by_folds(
    fits: Mapping[str, Fit], data: Triplets, folds: int, draws: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """The log-probability of every judgment under a refit without its fold."""
    parts = data.folds(whole(folds, "folds", least=2), seed=seed)
    scores: dict[str, NDArray[np.float64]] = {}
    for name, fit in fits.items():
        without = refits(fit, [(train, fit.seed) for train, _ in parts])
        scores[name] = np.concatenate(
            [
                log_score(again.predict(test, draws, seed), test.odd)
                for again, (_, test) in zip(without, parts, strict=True)
            ]
        )
    return scores


def _add_differences(
    rows: dict[str, dict[str, Any]], terms: dict[str, NDArray[np.float64]], diff: str, dse: str
) -> None:
    """How far each is behind the best, judgment by judgment."""
    if not terms:
        return
    best = max(terms, key=lambda name: terms[name].sum())
    for name, term in terms.items():
        behind = terms[best] - term
        rows[name] |= {diff: behind.sum(), dse: _standard_error(behind)}


def _standard_error(terms: NDArray[np.float64]) -> float:
    return float(np.sqrt(len(terms) * np.var(terms)))
