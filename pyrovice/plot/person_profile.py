"""One of the people who answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import label, labels, labels_of_dimensions
from pyrovice.plot.log_ticks import mark_ratios
from pyrovice.plot.object_bars import BAR_HEIGHT
from pyrovice.plot.similarity_map import DRAWS, THIRDS
from pyrovice.plot.style import (
    BLUE,
    GREY,
    ORANGE,
    PAGE_WIDTH,
    PALE,
    SMALL,
    STYLE,
    figure_of,
    part_for,
)
from pyrovice.results.fit import Fit
from pyrovice.results.persons import Person

# Standard deviations within which nine of ten people are.
NINE_OF_TEN = 1.645
LEAST_OBJECTS = 8
# Shares of the panel that the longest bar may have.
SHORTEST_BARS, LONGEST_BARS = 0.15, 0.4


def person(fit: Fit, label: Any, k: int | None = None, ax: Axes | None = None) -> Figure:
    """How one person differs from the typical one: in weights, and in which objects.

    On the left their weights with 90 % intervals, in colour where these exclude one, the typical
    person's; nine of ten people are within the pale bars. On the right the `k` objects whose
    similarities to all others are least like the typical person's: one minus their correlation,
    with the object that each has come closest to (+) and gone furthest from (−). By default there
    are as many of them as dimensions, and at least 8.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> fit = pv.fit(data, people=pv.People(), dimensions=12)
    >>> figure = pv.plot.person(fit, "p01")
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['weight, the typical person has 1', '1 − correlation']
    """
    somebody = fit.person(label)
    traits = somebody.traits()
    weights = traits[traits.index.str.startswith("weight ")]
    if weights.empty:
        raise PyroviceError(
            "In this fit people have no weights on dimensions that are kept, so there is nothing "
            "to draw: fit with people=pv.People(weights=True)."
        )
    seen = _seen_differently(fit, somebody).head(k or max(LEAST_OBJECTS, len(weights)))
    with plt.rc_context(STYLE):
        rows = max(len(weights), len(seen))
        title = _title(somebody, traits)
        part = part_for(ax, PAGE_WIDTH, 0.7 + 0.13 * title.count("\n") + BAR_HEIGHT * rows)
        left, right = part.subplots(1, 2, width_ratios=(4, 5))
        _draw_weights(left, fit, weights)
        left.set_title(title, loc="left")
        _draw_objects(right, seen, fit.names)
        # Rows of both are equally high.
        left.set_ylim(rows - 0.4, -0.6)
        right.set_ylim(rows - 0.4, -0.6)
        _leave_room(right, float(seen.apart.max()))
    return figure_of(part)


def _title(somebody: Person, traits: pd.DataFrame) -> str:
    said = [f"{label(str(somebody.label), 20)}: {somebody.judgments:,} judgments"]
    for trait in ("temperature", "lapse"):
        if trait in traits.index:
            middle, low, high = traits.loc[trait]
            said.append(f"{trait} {middle:.2f} ({low:.2f}–{high:.2f})")
    # Two lines at least, as on the right; one each, or they would run into the title beside them.
    return "\n".join(said) if said[1:] else f"{said[0]}\n"


def _draw_weights(axes: Axes, fit: Fit, weights: pd.DataFrame) -> None:
    dims = list(fit.embedding())
    rows = np.arange(len(weights))
    median, low, high = weights.to_numpy().T
    ends = [low.min(), high.max(), 0.5, 2.0]
    site = fit.posterior.others.get("weight_spread")
    if site is not None:
        reach = np.exp(NINE_OF_TEN * np.median(site.pooled, axis=0)[fit.kept_positions()])
        axes.hlines(rows, 1 / reach, reach, color=PALE, linewidth=5, alpha=0.6)
        ends += [1 / reach.max(), reach.max()]
    away = np.where(low > 1, ORANGE, np.where(high < 1, BLUE, GREY))
    axes.hlines(rows, low, high, color=away, linewidth=1.2)
    axes.scatter(median, rows, color=away, s=14, zorder=3)
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--", zorder=0)
    axes.set_xscale("log")
    axes.set_xlim(min(ends) / 1.1, max(ends) * 1.1)
    mark_ratios(axes.xaxis, *axes.get_xlim())
    named = labels_of_dimensions(fit, longest=22)
    axes.set_yticks(rows, [named[dim] for dim in dims])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("weight, the typical person has 1")


def _seen_differently(fit: Fit, somebody: Person) -> pd.DataFrame:
    """Objects by how little their similarities correlate with the typical person's."""
    own = _standardised(somebody.similarity(draws=DRAWS, thirds=THIRDS).to_numpy())
    typical = _standardised(fit.similarity(draws=DRAWS, thirds=THIRDS).to_numpy())
    moved = own - typical
    names = np.array(fit.names, dtype=object)
    table = pd.DataFrame(
        {
            "apart": 1 - np.nanmean(own * typical, axis=1),
            "closer": names[np.nanargmax(moved, axis=1)],
            "away": names[np.nanargmin(moved, axis=1)],
        },
        index=names,
    )
    return table.sort_values("apart", ascending=False, kind="stable")


def _standardised(alike: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of mean zero and variance one, without the diagonal."""
    values = np.array(alike, dtype=float)
    np.fill_diagonal(values, np.nan)
    spread = np.nanstd(values, axis=1, keepdims=True)
    spread = np.where(spread > 0, spread, 1.0)
    return np.asarray((values - np.nanmean(values, axis=1, keepdims=True)) / spread)


def _draw_objects(axes: Axes, seen: pd.DataFrame, names: Sequence[str]) -> None:
    rows = np.arange(len(seen))
    axes.barh(rows, seen.apart, color=PALE, height=0.7)
    beside, below = labels(names, 10), labels(names, 14)
    for row, (apart, closer, away) in enumerate(seen.itertuples(index=False)):
        text = f"+ {beside[str(closer)]}  − {beside[str(away)]}"
        axes.annotate(
            text, (apart, row), xytext=(3, 0), textcoords="offset points", va="center",
            fontsize=SMALL, annotation_clip=False,
        ).set_in_layout(False)  # fmt: skip
    axes.set_yticks(rows, [below[str(name)] for name in seen.index])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("1 − correlation", loc="left")
    axes.set_title("seen most differently\n+ closer to, − further from", loc="left")


def _leave_room(axes: Axes, longest: float) -> None:
    """Make bars as short as the texts beside them need."""
    longest = max(longest, 1e-3)
    axes.set_xlim(0, longest)
    figure_of(axes).draw_without_rendering()
    width = axes.get_window_extent().width
    text = max(text.get_window_extent().width for text in axes.texts)
    share = np.clip(1 - 1.1 * text / width, SHORTEST_BARS, LONGEST_BARS)
    axes.set_xlim(0, longest / share)
    ticks = MaxNLocator(1).tick_values(0, longest)
    ticks = [tick for tick in ticks if 0 <= tick <= 1.2 * longest]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.spines.bottom.set_bounds(0, axes.get_xticks()[-1])
