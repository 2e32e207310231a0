"""One spelling for one name, and names that only look the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def clean_name(name: str) -> str:
    """A name without blanks around it, its accents in one of the ways to write them (NFC).

    Examples
    --------
    >>> clean_name(" cafe\\u0301\\u00a0") == "café"
    True
    """
    return name.strip() if name.isascii() else unicodedata.normalize("NFC", name).strip()


def clean_labels(values: NDArray[Any]) -> NDArray[Any]:
    """The same for every text in an array of objects; what is not text stays as it is."""
    # There are far fewer different values than rows.
    codes, different = pd.factorize(values.ravel(), use_na_sentinel=False)
    cleaned = np.empty(len(different), dtype=object)
    cleaned[:] = [clean_name(value) if isinstance(value, str) else value for value in different]
    return cleaned[codes].reshape(values.shape)


def look_alikes(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Names that a reader would take for each other: by case, width, or characters without width.

    Examples
    --------
    >>> look_alikes(["Cat", "dog", "cat", "d\\u200bog", "car"])
    [('Cat', 'cat'), ('dog', 'd\\u200bog')]
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_as_seen(name), []).append(name)
    return [tuple(several) for several in alike.values() if len(several) > 1]


def _as_seen(name: str) -> str:
    if name.isascii():
        return " ".join(name.casefold().split())
    # Format characters, such as zero-width spaces, are not seen.
    seen = "".join(c for c in name if unicodedata.category(c) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen).casefold().split())
