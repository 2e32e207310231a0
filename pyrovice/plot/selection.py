"""What figures ask of a fit before they draw it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import pandas as pd

from pyrovice.errors import PyroviceError
from pyrovice.results.fit import Fit


def kept_embedding(fit: Fit, which: Iterable[int | str] | None = None) -> pd.DataFrame:
    """The kept dimensions, or `which` of them, in that order."""
    embedding = fit.embedding()
    if embedding.empty:
        raise PyroviceError("This fit kept no dimension, so there is nothing to draw.")
    if which is None:
        return embedding
    wanted = list(which)
    unknown = [dim for dim in wanted if dim not in embedding.columns]
    if unknown or not wanted:
        raise PyroviceError(
            f"which={wanted!r}; expected some of the dimensions that are kept: "
            f"{', '.join(map(str, embedding.columns))}."
        )
    return embedding[wanted]


def row_of(fit: Fit, name: str) -> int:
    """The row of an object; the error about an unknown name suggests similar ones."""
    names = list(map(str, fit.names))
    try:
        return names.index(str(name))
    except ValueError:
        raise PyroviceError(_no_such_object(str(name), names)) from None


def _no_such_object(name: str, names: Sequence[str]) -> str:
    lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    # What people call an object is often a part of its code.
    close = close or [each for each in lower if name.lower() in each][:3]
    if close:
        likely = " or ".join(repr(lower[each]) for each in close)
        return f"No object of this fit is called {name!r}; did you mean {likely}?"
    some = ", ".join(map(repr, names[:3]))
    return (
        f"No object of this fit is called {name!r}, nor anything like it. fit.names has all "
        f"{len(names):,}: {some}, ..."
    )
