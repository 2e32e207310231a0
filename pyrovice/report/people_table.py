"""What the page says about the people who answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pyrovice.plot.person_profile import NINE_OF_TEN
from pyrovice.results.dimension_names import own_objects
from pyrovice.results.fit import Fit


def people(fit: Fit) -> dict[str, Any] | None:
    """The people of a fit, those who differ most first; None if all are of one mind.

    Returns
    -------
    dict
        `summary`: who there are and what they differ in most, in sentences. `columns`: the traits
        that `rows` have beside `person`, `judgments`, `more` and `less`, the dimensions whose
        weight is credibly above or below the typical person's.
    """
    if fit.model.people is None:
        return None
    table = fit.people()
    dims = [dim for dim in fit.embedding() if f"weight {dim}" in table]
    linked = {
        dim: {"number": int(place) + 1, "called": dim}
        for place, dim in zip(fit.kept_positions(), fit.embedding(), strict=True)
    }
    above = {dim: table[f"weight {dim} 5 %"] > 1 for dim in dims}
    below = {dim: table[f"weight {dim} 95 %"] < 1 for dim in dims}
    traits = [trait for trait in ("temperature", "lapse") if trait in table]
    rows = [
        {
            "person": str(person),
            "judgments": f"{table['judgments'].iloc[place]:,}",
            "group": _group(table, place),
            "traits": [_interval(table.iloc[place], trait) for trait in traits],
            "more": [linked[dim] for dim in dims if above[dim].iloc[place]],
            "less": [linked[dim] for dim in dims if below[dim].iloc[place]],
        }
        for place, person in enumerate(table.index)
    ]
    rows.sort(key=lambda row: -len(row["more"]) - len(row["less"]))
    return {
        "summary": _summary(fit, table, dims, rows),
        "grouped": "group" in table,
        "weighed": bool(dims),
        "columns": traits,
        "rows": rows,
    }


def _group(table: pd.DataFrame, place: int) -> str:
    group = table["group"].iloc[place] if "group" in table else None
    return "–" if pd.isna(group) else str(group)


def _interval(row: pd.Series, trait: str) -> str:
    return f"{row[trait]:.2f} ({row[f'{trait} 5 %']:.2f} to {row[f'{trait} 95 %']:.2f})"


def _summary(
    fit: Fit, table: pd.DataFrame, dims: list[Any], rows: list[dict[str, Any]]
) -> list[str]:
    judged = table["judgments"]
    said = [
        f"{len(table):,} people made {judged.min():,} to {judged.max():,} judgments each "
        f"(median {judged.median():,.0f})."
    ]
    site = fit.posterior.others.get("weight_spread")
    if dims and site is not None:
        spread = np.median(site.pooled, axis=0)[fit.kept_positions()]
        spread_of = dict(zip(fit.embedding(), spread, strict=True))
        named = {
            dim: f"{dim!r}" if isinstance(dim, str) else f"{dim} ({', '.join(own)})"
            for dim, own in own_objects(fit, 3).items()
        }
        most, least = (choose(dims, key=lambda dim: spread_of[dim]) for choose in (max, min))
        for dim, how in ((most, "most"), (least, "least")):
            reach = float(np.exp(NINE_OF_TEN * spread_of[dim]))
            said.append(
                f"They differ {how} in dimension {named[dim]}: nine of ten weigh it between "
                f"{1 / reach:.2f} and {reach:.2f} times as much as the typical person."
            )
    if dims:
        different = sum(bool(row["more"] or row["less"]) for row in rows)
        said.append(
            f"{different:,} of them weigh at least one dimension credibly unlike the typical "
            "person (the 90 % interval of the weight excludes one)."
        )
    return said
