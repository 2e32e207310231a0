"""Tables with a column of names, from text files: ``NA``, ``None`` and ``NULL`` are names too."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pyrovice.data.writing import SEPARATOR_OF_ENDING


def read_text_table(path: Path) -> pd.DataFrame:
    """Read a ``.csv`` or ``.tsv`` file of numbers whose first column may hold names."""
    separator = SEPARATOR_OF_ENDING[path.suffix]
    table = pd.read_csv(path, sep=separator)
    if not len(table.columns):
        return table
    first = table.iloc[:, 0]
    if first.isna().all() or not pd.api.types.is_numeric_dtype(first):
        # What pandas takes for a missing number may be what an object is called.
        names = pd.read_csv(path, sep=separator, usecols=[0], dtype=str, keep_default_na=False)
        table = table.assign(**{str(table.columns[0]): names.iloc[:, 0]})
    return table


def read_words(path: Path) -> pd.DataFrame:
    """Read a ``.csv`` or ``.tsv`` file as text; nothing but an empty field is missing."""
    separator = SEPARATOR_OF_ENDING[path.suffix]
    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_values=[""])
