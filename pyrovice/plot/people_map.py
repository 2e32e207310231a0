"""Who weighs what differently."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage

from pyrovice.errors import PyroviceError
from pyrovice.plot.labels import label, labels, labels_of_dimensions, name_rows
from pyrovice.plot.log_ticks import mark_ratios
from pyrovice.plot.similarity_map import MOST_IN_BEST_ORDER
from pyrovice.plot.style import BLUE, GREY, PALE, SMALL, STYLE, TALLEST, figure_of, part_for
from pyrovice.results.fit import Fit

# Red for more than the typical person, blue for less; both are told apart by the colour-blind.
COLOURS = "RdBu_r"
# Inches: a row, a column, what stands beside the weights, above and below them.
ROW, COLUMN, BESIDE, AROUND = 0.15, 0.26, 1.05, 2.4
NARROWEST, WIDEST = 1.3, 4.4
# The side of a cell whose weight may be that of the typical person.
SMALL_CELL = 0.45
# More cells than this are a picture in files of shapes.
MOST_SHAPES = 2000
# Half and twice as much as the typical person are seen at least.
LEAST_RANGE = 2.0
NO_GROUP = "no group"
# A line of a group's name, and letters of all its lines.
GROUP_LINE, LONGEST_GROUP = 16, 48
# Inches that a letter takes at most.
LETTER = 0.062


def people(fit: Fit, ax: Axes | None = None) -> Figure:
    """Heat map of everybody's weights, people by dimensions, with temperatures beside it.

    People who weigh the dimensions alike stand together (leaves of average-linkage clustering of
    log-weights), within their groups if there are any. A whole cell is a weight whose 90 %
    interval excludes one, the typical person's; a small cell is one that may be typical. Above:
    how much people differ, the spread of log-weights. Lines are 90 % intervals.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> figure = pv.plot.people(pv.fit(data, people=pv.People(), dimensions=12))
    >>> [axes.get_xlabel() for axes in figure.axes[-2:]]
    ['dimension', 'temperature']
    """
    table = fit.people()
    weighed = [f"weight {dim}" for dim in fit.embedding() if f"weight {dim}" in table]
    traits = [trait for trait in ("temperature", "lapse") if trait in table]
    if not weighed and not traits:
        raise PyroviceError(
            "In this fit people have neither weights on dimensions that are kept nor temperatures "
            "nor lapses, so there is nothing to draw."
        )
    table, first_of_group = _ordered(table, weighed or traits[:1])
    heat = float(np.clip(COLUMN * len(weighed), NARROWEST, WIDEST)) if weighed else 0.0
    beside = max(1, len(traits))
    widths = ([heat] if weighed else []) + [BESIDE] * (beside if weighed else len(traits))
    with plt.rc_context(STYLE):
        height = min((AROUND if weighed else 0.6) + ROW * len(table), TALLEST)
        part = part_for(ax, _room_for_names(table, first_of_group) + sum(widths), height)
        above = 0.5 if weighed else 0.0
        grid = part.add_gridspec(
            2 if weighed else 1,
            len(widths),
            width_ratios=widths,
            height_ratios=[above, height - AROUND] if weighed else None,
        )
        panels: list[Axes] = []
        if weighed:
            panels.append(_weights(part, grid, fit, table[_with_ends(weighed)]))
        for column, trait in enumerate(traits, start=len(panels)):
            shared = panels[0] if panels else None
            panel = part.add_subplot(grid[-1, column], sharey=shared)
            _trait(panel, table, trait)
            panels.append(panel)
        _name_people(panels, table, first_of_group)
    return figure_of(part)


def _ordered(table: pd.DataFrame, columns: list[str]) -> tuple[pd.DataFrame, dict[int, str]]:
    """Those who are alike side by side, by group; and the row where each group begins."""
    group = table["group"].fillna(NO_GROUP) if "group" in table else None
    if group is None:
        return table.iloc[_alike(table[columns])], {}
    names = sorted(set(group) - {NO_GROUP}) + [NO_GROUP] * (NO_GROUP in set(group))
    parts = [table[group == name] for name in names]
    starts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
    ordered = pd.concat([part.iloc[_alike(part[columns])] for part in parts])
    return ordered, dict(zip(starts, names, strict=True))


def _room_for_names(table: pd.DataFrame, first_of_group: dict[int, str]) -> float:
    """Inches for the names of people on the left and of groups on the right."""
    lines = "\n".join(_lines(name) for name in first_of_group.values()).split("\n")
    people = labels(map(str, table.index)).values()
    letters = max(map(len, people)) + max(map(len, lines))
    return max(1.1, 0.4 + LETTER * letters)


def _lines(group: str) -> str:
    return fill(label(group, LONGEST_GROUP), GROUP_LINE)


def _alike(values: pd.DataFrame) -> NDArray[np.intp]:
    if len(values) < 3:
        return np.arange(len(values))
    best = len(values) <= MOST_IN_BEST_ORDER
    return leaves_list(linkage(np.log(values.to_numpy()), "average", optimal_ordering=best))


def _with_ends(columns: list[str]) -> list[str]:
    return [f"{name}{end}" for end in ("", " 5 %", " 95 %") for name in columns]


def _weights(part: FigureBase, grid: Any, fit: Fit, table: pd.DataFrame) -> Axes:
    """The heat map, the spreads above it and what its colours mean."""
    median, low, high = np.split(table.to_numpy(), 3, axis=1)
    n, d = median.shape
    far = max(LEAST_RANGE, float(np.exp(np.quantile(np.abs(np.log(median)), 0.98))))
    norm = LogNorm(1 / far, far)
    top = part.add_subplot(grid[0, 0])
    _spreads(top, fit, d)
    beside = part.add_subplot(grid[0, 1:])
    beside.set_axis_off()
    _meaning(part, beside, ScalarMappable(norm, COLOURS), far)
    panel = part.add_subplot(grid[1, 0], sharex=top)
    certain = (low > 1) | (high < 1)
    half = np.where(certain, 1.0, SMALL_CELL).ravel() / 2
    y, x = (each.ravel() for each in np.mgrid[:n, :d])
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    cells = np.column_stack([x, y])[:, None] + half[:, None, None] * corners
    drawn = PolyCollection(list(cells), array=median.ravel(), cmap=COLOURS, norm=norm)
    drawn.set(edgecolor="none", antialiased=False, rasterized=len(cells) > MOST_SHAPES)
    panel.add_collection(drawn)
    panel.set(xlim=(-0.5, d - 0.5), ylim=(n - 0.5, -0.5))
    named = labels_of_dimensions(fit, longest=20)
    panel.set_xticks(range(d), [named[dim] for dim in fit.embedding()], rotation=90)
    panel.tick_params(axis="x", length=0)
    panel.set_xlabel("dimension")
    return panel


def _spreads(axes: Axes, fit: Fit, d: int) -> None:
    """How much people differ in each dimension."""
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    axes.spines.bottom.set_visible(False)
    site = fit.posterior.others.get("weight_spread")
    if site is None:
        axes.set_axis_off()
        return
    low, middle, high = np.quantile(site.pooled[:, fit.kept_positions()], (0.05, 0.5, 0.95), 0)
    axes.bar(range(d), middle, color=PALE, width=0.7)
    axes.vlines(range(d), low, high, color="black", linewidth=0.9)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.set_ylabel("spread")


def _meaning(part: FigureBase, beside: Axes, colours: ScalarMappable, far: float) -> None:
    bar = part.colorbar(
        colours,
        cax=beside.inset_axes((0.06, 0.45, 0.88, 0.2)),
        orientation="horizontal",
        extend="both",
    )
    mark_ratios(bar.ax.xaxis, 1 / far, far)
    bar.ax.set_title("weight", fontsize=SMALL)
    bar.outline.set_visible(False)


def _trait(axes: Axes, table: pd.DataFrame, trait: str) -> None:
    """A trait of everybody, with intervals."""
    rows = range(len(table))
    axes.hlines(rows, table[f"{trait} 5 %"], table[f"{trait} 95 %"], color=PALE, linewidth=1.2)
    axes.plot(table[trait], rows, ".", color=BLUE, markersize=3.5)
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.set_xlabel(trait)
    if trait == "temperature":
        axes.axvline(1, color=GREY, linewidth=0.7, linestyle="--", zorder=0)
        axes.set_xscale("log")
        mark_ratios(axes.xaxis, *axes.get_xlim())
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(2))


def _name_people(panels: list[Axes], table: pd.DataFrame, first_of_group: dict[int, str]) -> None:
    """Who the rows are, and where groups begin."""
    # How much room there is for names is known once all else has its place.
    figure_of(panels[0]).draw_without_rendering()
    name_rows(panels[0], list(map(str, table.index)), np.arange(len(table)))
    for panel in panels:
        for row in list(first_of_group)[1:]:
            panel.axhline(row - 0.5, color="black", linewidth=0.6)
    for panel in panels[1:]:
        panel.tick_params(axis="y", left=False, labelleft=False)
    last = panels[-1]
    for row, name in first_of_group.items():
        place = last.get_yaxis_transform()
        last.text(1.03, row - 0.4, _lines(name), transform=place, va="top", fontsize=SMALL)
