"""What was judged how often."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyrovice.data.description import Description
from pyrovice.data.triplets import Triplets
from pyrovice.plot.labels import labels
from pyrovice.plot.style import BLUE, GREY, ORANGE, PAGE_WIDTH, STYLE, figure_of, part_for

SIGHTING_BINS = 30
MOST_BARS = 12


def coverage(data: Triplets | Description, ax: Axes | None = None) -> Figure:
    """How often objects and pairs were shown, and where the answers stood.

    Where places on the screen are known, the band of the third panel holds 95 % of the shares
    that chance would give if none were favoured. Places in the order of ids say nothing about
    people.

    Examples
    --------
    >>> import pyrovice as pv
    >>> figure = pv.plot.coverage(pv.load_example().triplets)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['objects', 'share of all pairs', 'share of answers']
    """
    described = data if isinstance(data, Description) else data.describe()
    with plt.rc_context(STYLE):
        part = part_for(ax, PAGE_WIDTH, 2.1)
        objects, pairs, positions = part.subplots(1, 3, width_ratios=(3, 3, 2))
        _objects(objects, described)
        _pairs(pairs, described)
        _positions(positions, described)
    return figure_of(part)


def _objects(axes: Axes, described: Description) -> None:
    most = int(described.sightings.max())
    axes.hist(described.sightings, bins=SIGHTING_BINS, range=(0, 1.05 * most), color=BLUE)
    axes.set_xlim(0, 1.05 * most)
    axes.set_xlabel("judgments that show an object")
    axes.set_ylabel("objects")
    axes.locator_params(axis="y", integer=True)
    rarest = described.sightings.idxmin()
    named = labels(map(str, described.sightings.index), 20)[str(rarest)]
    least = f"rarest: {named} ({described.sightings.min():,})"
    axes.set_title(least, loc="left", color=GREY)


def _pairs(axes: Axes, described: Description) -> None:
    times = described.pairs.index.to_numpy()
    # Many different numbers of times share a bar.
    width = max(1, int(np.ceil((times.max() + 1) / MOST_BARS)))
    share = np.bincount(times // width, weights=described.pairs / described.pairs.sum())
    bars = np.arange(len(share))
    axes.bar(bars, share, color=[ORANGE if width == 1 and bar == 0 else BLUE for bar in bars])
    ranges = bars if width == 1 else [f"{bar * width}–{(bar + 1) * width - 1}" for bar in bars]
    axes.set_xticks(bars, ranges, rotation=0 if width == 1 else 60)
    axes.set_xlabel("times a pair was shown")
    axes.set_ylabel("share of all pairs")
    groups = "connected" if described.connected else f"{described.groups:,} groups"
    axes.set_title(f"{described.coverage:.0%} of pairs, {groups}", loc="left", color=GREY)


def _positions(axes: Axes, described: Description) -> None:
    answers, total = described.positions, int(described.positions.sum())
    everywhere = described.anchored == 0
    if described.anchored == described.judgments and (answers > 0).sum() == 2:
        # The anchor has a place of its own, at which no answer can stand.
        answers, everywhere = answers[answers > 0], True
    axes.bar(range(len(answers)), answers / total, color=BLUE)
    if described.on_screen and everywhere:
        chance = 1 / len(answers)
        spread = 1.96 * np.sqrt(chance * (1 - chance) / total)
        axes.axhspan(chance - spread, chance + spread, color=ORANGE, alpha=0.4, linewidth=0)
        axes.axhline(chance, color=ORANGE, linewidth=0.8)
    axes.set_xticks(range(len(answers)), list(map(str, answers.index)))
    axes.set_xlabel("place on the screen" if described.on_screen else "place in the order of ids")
    axes.set_ylabel("share of answers")
    axes.set_title(f"{total:,} answers", loc="left", color=GREY)
