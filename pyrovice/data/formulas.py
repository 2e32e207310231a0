"""Cells that a spreadsheet would run, and how to write them so that it does not.

A spreadsheet takes what begins with =, +, - or @ for a formula. An apostrophe before it makes it
text there, and is taken off again when pyrovice reads the file.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from pyrovice.data.wording import first_few
from pyrovice.errors import tell

FORMULA = re.compile(r"[=+\-@]")
ESCAPED = re.compile(r"'+[=+\-@]")


def escape(text: str) -> str:
    """An apostrophe before what would be run.

    Examples
    --------
    >>> escape("=1+1"), escape("-2.5"), unescape("'=1+1"), unescape("'tis")
    ("'=1+1", '-2.5', '=1+1', "'tis")
    """
    return f"'{text}" if _would_run(text) or ESCAPED.match(text) else text


def unescape(text: str) -> str:
    """What :func:`escape` was given."""
    return text[1:] if ESCAPED.match(text) else text


def without_formulas(table: pd.DataFrame, escaped: bool) -> pd.DataFrame:
    """A table to write: cells of text escaped, or a warning about those that would be run."""
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    values = {
        value: None for name in texts for value in table[name].unique() if isinstance(value, str)
    }
    would_run = [value for value in values if _would_run(value)]
    if would_run and not escaped:
        tell(
            f"{len(would_run):,} names or labels begin with =, +, - or @ "
            f"({first_few(map(repr, would_run))}), so that a spreadsheet would run them as "
            "formulas. Write with escape_formulas=True, on the command line --escape-formulas, "
            "before you open the file in one."
        )
    # What looks escaped already is always escaped, or reading would change it.
    special = {v: escape(v) for v in values if ESCAPED.match(v) or (escaped and _would_run(v))}
    if not special:
        return table
    return table.assign(**{name: _replaced(table[name], special) for name in texts})


def _replaced(column: pd.Series, special: dict[str, str]) -> pd.Series:
    def cell(value: Any) -> Any:
        return special.get(value, value) if isinstance(value, str) else value

    return column.map(cell)


def _would_run(text: str) -> bool:
    if not FORMULA.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
