"""What many fits say together: which prior predicts best, and which fit stands for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.criticism.across_seeds import Reproducibility, reproducibility
from pyrovice.data.html_tables import html_table
from pyrovice.data.wording import first_few
from pyrovice.errors import PyroviceError
from pyrovice.model.priors import Prior
from pyrovice.results.fit import Fit
from pyrovice.results.saved_fits import beside_in, from_source
from pyrovice.storage.identity import recognise

SCORE = "validation_cross_entropy"
# What a file has beside a fit: the log-probabilities of the validation judgments.
BY_JUDGMENT = "validation_log_probability"
# Priors in the table that a notebook shows.
MOST_SHOWN = 12
TABLE_COLUMNS = (
    *("seed", SCORE, "validation_accuracy", "dimensions", "loss"),
    *("converged", "epochs", "seconds", "note", "error"),
)


@dataclass(frozen=True, eq=False)
class Result:
    """One fit of a sweep: where it is and how it did, or why there is none."""

    prior: Prior
    seed: int
    source: Path | bytes | None = None
    scores: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    def by_judgment(self) -> NDArray[np.floating] | None:
        """Log-probabilities of validation judgments; None of fits that earlier versions made."""
        return beside_in(self.source).get(BY_JUDGMENT) if self.source else None


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The fits of several priors with several seeds; made by :func:`pyrovice.sweep`.

    Attributes
    ----------
    priors : tuple
        The priors, in the order given.
    seeds : tuple of int
        The seeds.
    results : tuple of Result
        One per prior and seed.
    """

    priors: tuple[Prior, ...]
    seeds: tuple[int, ...]
    results: tuple[Result, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per fit.

        `prior` and its parameters, `seed`, the scores on the validation judgments of the
        kept dimensions, how many of them there are, the last `loss`, how training went,
        what it warned of (`note`), and the `error` if there is no fit.
        """
        rows = [
            {
                "prior": self._label(result.prior),
                **_parameters(result.prior),
                "seed": result.seed,
                "note": "",
                **result.scores,
                "error": result.error,
            }
            for result in self.results
        ]
        table = pd.DataFrame(rows)
        parameters = [name for name in table if name not in ("prior", *TABLE_COLUMNS)]
        table = table.reindex(columns=["prior", *parameters, *TABLE_COLUMNS])
        # Kinds that can be missing, where a fit failed.
        kinds = {"dimensions": "Int64", "epochs": "Int64", "converged": "boolean"}
        return table.astype(kinds)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per prior, means over its seeds.

        `standard_error` is that of the score over validation judgments, `behind` how much worse
        than the best prior it is, and `paired_error` the standard error of that difference,
        judgment by judgment. `seeds_sd` is the spread of the score over seeds.
        """
        rows = []
        for prior in self.priors:
            made = self._successes(prior)
            scores = np.array([result.scores[SCORE] for result in made])
            dimensions = np.array([result.scores["dimensions"] for result in made])
            some, several = len(made) > 0, len(made) > 1
            rows.append(
                {
                    "prior": self._label(prior),
                    **_parameters(prior),
                    SCORE: scores.mean() if some else np.nan,
                    "seeds_sd": scores.std(ddof=1) if several else np.nan,
                    "dimensions": dimensions.mean() if some else np.nan,
                    "dimensions_sd": dimensions.std(ddof=1) if several else np.nan,
                    "fits": len(made),
                    "failed": len(self._results_of(prior)) - len(made),
                }
            )
        table = pd.DataFrame(rows).set_index("prior")
        errors = self._errors()
        for place, name in enumerate(errors, start=table.columns.get_loc(SCORE) + 1):
            table.insert(place, name, errors[name])
        return table

    def _mean_scores(self) -> NDArray[np.float64]:
        """By prior, the mean over seeds; NaN if all failed."""
        made = [self._successes(prior) for prior in self.priors]
        each = [[result.scores[SCORE] for result in results] for results in made]
        return np.array([np.mean(scores) if scores else np.nan for scores in each])

    def _errors(self) -> dict[str, NDArray[np.float64]]:
        """Standard errors over validation judgments, of scores and of differences to the best."""
        scores = self._mean_scores()
        own, paired = np.full((2, len(self.priors)), np.nan)
        best = 0 if np.isnan(scores).all() else int(np.nanargmin(scores))
        reference = self._by_judgment(self.priors[best])
        for i, prior in enumerate(self.priors):
            terms = self._by_judgment(prior)
            if terms is not None and reference is not None:
                own[i] = terms.std(ddof=1) / len(terms) ** 0.5
                paired[i] = (terms - reference).std(ddof=1) / len(terms) ** 0.5
        return {"standard_error": own, "behind": scores - scores[best], "paired_error": paired}

    def _by_judgment(self, prior: Prior) -> NDArray[np.float64] | None:
        """The mean over seeds of the log-probability of each validation judgment."""
        each = [result.by_judgment() for result in self._successes(prior)]
        known = [terms for terms in each if terms is not None]
        if not known or len(known) < len(each):
            return None
        return np.mean(np.stack(known), axis=0, dtype=float)

    @property
    def best(self) -> Prior:
        """The prior with the lowest mean cross-entropy on the validation judgments."""
        return self.priors[self._best_row()]

    @property
    def simplest(self) -> Prior:
        """The prior with the fewest dimensions that is no more than one error behind the best.

        One paired standard error over validation judgments: see `summary`.
        """
        self._best_row()
        scores, behind, error, dimensions = (
            self.summary[name].to_numpy()
            for name in (SCORE, "behind", "paired_error", "dimensions")
        )
        near = np.flatnonzero(behind <= np.nan_to_num(error))
        return self.priors[min(near, key=lambda i: (dimensions[i], scores[i]))]

    def fits(self, prior: Prior | None = None) -> list[Fit]:
        """The fits of a prior (by default the best), in the order of their seeds."""
        return [_load(result) for result in self._successes(self._chosen(prior))]

    def median(self, prior: Prior | None = None) -> Fit:
        """The fit that stands for a prior (by default the best).

        The one with the median cross-entropy on the validation judgments; the lower
        median for an even number of seeds.
        """
        made = self._successes(self._chosen(prior))
        ranked = sorted(made, key=lambda result: result.scores[SCORE])
        return _load(ranked[(len(ranked) - 1) // 2])

    def reproducibility(self, prior: Prior | None = None, **options: Any) -> Reproducibility:
        """How many dimensions of a prior (by default the best) come back with other seeds.

        The options are those of :func:`pyrovice.reproducibility`.
        """
        return reproducibility(self.fits(prior), **options)

    def __repr__(self) -> str:
        failed = sum(bool(result.error) for result in self.results)
        counts = {"prior": len(self.priors), "seed": len(self.seeds)}
        facts = " x ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in counts.items())
        if failed:
            facts += f", {failed} failed"
        if failed == len(self.results):
            return f"Sweep({facts})"
        row = self.summary.iloc[self._best_row()]
        error = "" if np.isnan(row.standard_error) else f" ± {row.standard_error:.4f}"
        simplest = self._label(self.simplest)
        return (
            f"Sweep({facts}; best {self._label(self.best)} with {row[SCORE]:.4f}{error} nats, "
            f"simplest within one paired standard error {simplest})"
        )

    def _repr_html_(self) -> str:
        ranked = self.summary.sort_values(SCORE)
        rows = [
            [
                prior,
                "failed" if np.isnan(row[SCORE]) else f"{row[SCORE]:.4f}",
                "–" if np.isnan(row.dimensions) else f"{row.dimensions:.1f}",
                f"{row.fits} of {row.fits + row.failed}",
            ]
            for prior, row in ranked[:MOST_SHOWN].iterrows()
        ]
        more = len(ranked) - len(rows)
        notes = [f"... and {more:,} more: see .summary"] if more else []
        columns = ["prior, the best first", "validation nats", "dimensions", "fits"]
        return html_table(repr(self), columns, rows, notes)

    # ------------------------------------------------------------------ looking up

    @cached_property
    def _labels(self) -> dict[str, str]:
        """Names of the priors, without digests where they differ without."""
        full = [recognise(prior) for prior in self.priors]
        short = [text.rsplit(" [", 1)[0] for text in full]
        return {
            text: name if short.count(name) == 1 else text
            for text, name in zip(full, short, strict=True)
        }

    def _label(self, prior: Prior) -> str:
        return self._labels[recognise(prior)]

    def _best_row(self) -> int:
        scores = self._mean_scores()
        if np.isnan(scores).all():
            raise PyroviceError(
                f"All {len(self.results)} fits failed, the first with: {self.results[0].error}"
            )
        return int(np.nanargmin(scores))

    def _chosen(self, prior: Prior | None) -> Prior:
        if prior is None:
            return self.best
        wanted = recognise(prior)
        if wanted not in self._labels:
            raise PyroviceError(
                f"This sweep has no prior {wanted}; it has {first_few(self._labels)}."
            )
        made = self._successes(prior)
        if not made:
            raise PyroviceError(
                f"All fits with {wanted} failed, the first with: {self._results_of(prior)[0].error}"
            )
        return prior

    def _results_of(self, prior: Prior) -> list[Result]:
        wanted = recognise(prior)
        return [result for result in self.results if recognise(result.prior) == wanted]

    def _successes(self, prior: Prior) -> list[Result]:
        return [result for result in self._results_of(prior) if not result.error]


def _parameters(prior: Prior) -> dict[str, Any]:
    if not is_dataclass(prior) or isinstance(prior, type):
        return {}
    return {f.name: getattr(prior, f.name) for f in fields(prior) if f.repr}


def _load(result: Result) -> Fit:
    assert result.source is not None
    return from_source(result.source)
