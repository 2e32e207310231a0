"""Which of several choices predicts better, in words."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from pyrovice.model.choices import Choice
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.results.fit import Fit
from pyrovice.storage.identity import name_of

# A difference of fewer standard errors than this is none.
CLEAR = 2.0


def which_choice(table: pd.DataFrame, fits: Mapping[str, Fit]) -> str:
    """Whether the best fit is clearly better than those with another choice, and what to type.

    Parameters
    ----------
    table : DataFrame
        What :func:`pyrovice.compare` found.
    fits : mapping of str to Fit
        What was compared. Not all have the same choice.
    """
    # Refits are the reference where there are any.
    behind, error = ("diff_kfold", "dse_kfold") if "diff_kfold" in table else ("elpd_diff", "dse")
    ordered = table.sort_values(behind)
    best = str(ordered.index[0])
    choice = fits[best].choice
    others = [name for name in ordered.index if repr(fits[str(name)].choice) != repr(choice)]
    other = str(others[0])
    nats, sd = (float(ordered.loc[other, column]) for column in (behind, error))
    difference = f"by {nats:.1f} nats with a standard error of {sd:.1f}"
    if nats > CLEAR * sd:
        return (
            f"The choice of {best!r} predicts clearly better than that of {other!r}, the best with "
            f"another: {difference}. Fit with choice={as_typed(choice)}."
        )
    return (
        f"No choice predicts clearly better: {best!r} is ahead of {other!r}, the best with "
        f"another, {difference}. Keep the simplest, choice={as_typed(simplest(fits))}."
    )


def simplest(fits: Mapping[str, Fit]) -> Choice:
    """The choice that learns least; of several the first."""
    return min(
        (fit.choice for fit in fits.values()),
        key=lambda choice: (
            len(choice.learned()) if isinstance(choice, SoftmaxChoice) else float("inf")
        ),
    )


def as_typed(choice: Choice) -> str:
    """A choice as it is typed: code by its name."""
    if not isinstance(choice, SoftmaxChoice):
        return name_of(choice)
    text = f"pv.choices.{choice!r}"
    for name in choice.learned():
        text = text.replace(f"{name}=", f"{name}=dist.", 1)
    return text
