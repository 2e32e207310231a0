"""What the page says about those who judged, as the judgments show them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pyrovice.data.participants import (
    THINGS,
    FailedCatch,
    Rule,
    name_of,
    reasons,
    review,
    rule_in_words,
)
from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError

COLUMNS = {
    "judgments": ("Judgments", "{:,.0f}"),
    "median_time": ("Median time (ms)", "{:,.0f}"),
    "one_position": ("Most at one place", "{:.0%}"),
    "catch_failed": ("Catch trials failed", "{:,.0f}"),
    "agreement": ("Agrees with the others", "{:.0%}"),
    "lapse": ("Looks like guesses", "{:.0%}"),
}


def participants(data: Triplets | None) -> dict[str, Any] | None:
    """Everybody with what the exclusion rules look at; None if nobody is known.

    Returns
    -------
    dict
        `summary`: who there are, and whom the paper's rules would exclude, in sentences.
        `columns` and `rows`: a row per participant, those who agree least with the others first.
    """
    if data is None or not data.people():
        return None
    known: tuple[Rule, ...] = (*THINGS, FailedCatch())
    rules = [rule for rule in known if _applies(rule, data)]
    found = review(data, *rules)
    table = found.table.sort_values("agreement", kind="stable")
    shown = [name for name in COLUMNS if name in table]
    excluded = ["Would be excluded for"] if rules else []
    return {
        "summary": _summary(found.table, found.excluded, rules),
        "columns": ["Participant", *(COLUMNS[name][0] for name in shown), *excluded],
        "rows": [
            [
                str(person),
                *("–" if pd.isna(row[n]) else COLUMNS[n][1].format(row[n]) for n in shown),
                *([_excluded_for(row, rules)] if rules else []),
            ]
            for person, row in table.iterrows()
        ],
    }


def _applies(rule: Rule, data: Triplets) -> bool:
    try:
        rule(data)
    except DataError:
        return False
    return True


def _excluded_for(row: pd.Series, rules: list[Rule]) -> str:
    said = zip(rules, reasons(rules), strict=True)
    return ", ".join(reason for rule, reason in said if row[name_of(rule)]) or "–"


def _summary(table: pd.DataFrame, excluded: list[Any], rules: list[Rule]) -> list[str]:
    judged = table["judgments"]
    said = [
        f"{len(table):,} people made {judged.min():,} to {judged.max():,} of the judgments fitted "
        f"(median {judged.median():,.0f}). Those who agree least with the others come first."
    ]
    if not rules:
        said.append(
            "The judgments say neither how long answers took nor where they stood, so that the "
            "paper's rules of exclusion cannot be applied."
        )
    elif excluded:
        said.append(
            f"{len(excluded):,} of them would be excluded for {_named(rules)}: "
            f"{first_few(excluded)}. They are in this fit."
        )
    else:
        said.append(f"Nobody would be excluded for {_named(rules)}.")
    return said


def _named(rules: list[Rule]) -> str:
    return ", or ".join(map(rule_in_words, rules))
