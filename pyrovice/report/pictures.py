"""The figures of the page, as images that the page itself holds."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pyrovice import plot
from pyrovice.criticism.checks import CheckReport
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.model.priors import Features
from pyrovice.results.calibration import Calibration
from pyrovice.results.fit import Fit

# Heat maps of more objects than this have more rows than a page has lines.
MOST_IN_HEAT_MAP = 150
PIXELS_PER_INCH = 96


@dataclass(frozen=True)
class Picture:
    """A figure with what it shows in words."""

    source: str
    width: int
    alt: str
    caption: str


def figures(
    fit: Fit,
    calibration: Calibration | None,
    checks: CheckReport | None,
    dimensionality: Dimensionality | None = None,
) -> dict[str, Picture]:
    """Every figure that can be drawn of what is given, by name."""
    found: dict[str, Picture] = {}

    def add(name: str, draw: Callable[[], Figure], alt: str, caption: str) -> None:
        found[name] = _picture(draw(), alt, caption)

    if not fit.posterior.from_chains and len(fit.history):
        add(
            "convergence",
            lambda: plot.convergence(fit),
            "Loss and number of dimensions over epochs",
            "Training: the loss with its two terms, and the number of dimensions kept.",
        )
    if calibration is not None:
        add(
            "calibration",
            lambda: plot.calibration(calibration),
            "Observed over predicted shares of answers",
            "Calibration: answers should be given as often as predicted.",
        )
    if checks is not None:
        add(
            "checks",
            lambda: plot.checks(checks),
            "Statistics of drawn and of real answers",
            "Predictive checks: the real answers (line) among answers drawn from the fit (grey).",
        )
    if dimensionality is not None:
        add(
            "dimensionality",
            lambda: plot.dimensionality(dimensionality),
            "Number of dimensions by share of the judgments, and the probability of each",
            "Left: how many of the real dimensions each refit to a share of the judgments has, and "
            "the count with its 90 % interval. Right: how probably each dimension is real.",
        )
    if not fit.n_dimensions:
        return found
    add(
        "importance",
        lambda: plot.importance(fit),
        "Importance of each dimension",
        "Importance of the dimensions.",
    )
    if isinstance(fit.prior, Features):
        add(
            "features",
            lambda: plot.features(fit),
            "Share of each dimension that features predict",
            "What features predict: the share of the variance of each dimension, every object "
            "predicted from the others.",
        )
    if len(fit.names) <= MOST_IN_HEAT_MAP:
        add(
            "embedding",
            lambda: plot.embedding(fit),
            "Heat map of weights, objects by dimensions",
            "All weights. Objects with the same strongest dimension stand together.",
        )
    return found | _of_people(fit)


def _of_people(fit: Fit) -> dict[str, Picture]:
    """Those of people, if they differ in something that can be drawn."""
    found: dict[str, Picture] = {}
    if {"person_weight", "person_temperature", "person_lapse"} & fit.posterior.others.keys():
        found["people"] = _picture(
            plot.people(fit),
            "Weights and temperatures of everybody",
            "Weights of everybody, those alike side by side. The typical person has one. Whole "
            "cells: the 90 % interval excludes one. Above, how much people differ.",
        )
    if "group_log_weight" in fit.posterior.others:
        found["groups"] = _picture(
            plot.groups(fit),
            "Differences of log-weights between groups",
            "What groups weigh differently: 90 % intervals, the probability that the difference "
            "is positive, and p of a permutation test over people.",
        )
    return found


def _picture(figure: Figure, alt: str, caption: str) -> Picture:
    content = BytesIO()
    # The same fit gives the same bytes. Text stays text: browsers have fonts for all scripts,
    # so what matplotlib's own font lacks does not matter to the reader.
    settings: Any = {"svg.hashsalt": "pyrovice", "svg.fonttype": "none"}
    with plt.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(content, format="svg", metadata={"Date": None})
    encoded = base64.b64encode(content.getvalue()).decode()
    width = round(figure.get_size_inches()[0] * PIXELS_PER_INCH)
    return Picture(f"data:image/svg+xml;base64,{encoded}", width, alt, caption)
