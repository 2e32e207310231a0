"""What the coverage of intervals means, in words."""

from __future__ import annotations

import pandas as pd

# Coverage that is off by less than this, or by less than twice its standard error, is as stated.
TOLERATED = 0.03


def found_of(coverage: pd.DataFrame, simulations: int, refined: bool) -> str:
    """How often intervals held the truth."""
    said = "; ".join(
        f"of a {name} " + ", ".join(f"{row[level]:.0%} ({level:.0%})" for level in coverage)
        for name, row in coverage.iterrows()
    )
    refits = f"{simulations} {'refined ' * refined}refit{'s' * (simulations > 1)}"
    return f"In {refits}, the intervals held the true value: {said}."


def advice_of(coverage: pd.DataFrame, error: pd.DataFrame, refined: bool) -> str:
    """Which intervals can be reported as they are, and what to do about the others."""
    level = coverage.columns[-1]
    off = coverage - pd.Series(coverage.columns, index=coverage.columns)
    doubt = (2 * error).clip(lower=TOLERATED)
    narrow = [name for name in coverage.index if (off.loc[name] < -doubt.loc[name]).any()]
    wide = [name for name in coverage.index if (off.loc[name] > doubt.loc[name]).any()]
    wide = [name for name in wide if name not in narrow]
    right = [name for name in coverage.index if name not in (*narrow, *wide)]
    sentences = []
    if right:
        sentences.append(f"Intervals of {_plural(right)} can be reported as they are.")
    if wide:
        sentences.append(f"Those of {_plural(wide)} are wider than they say, which is safe.")
    if narrow:
        held = ", ".join(f"{coverage.loc[name, level]:.0%}" for name in narrow)
        sentences.append(
            f"Those of {_plural(narrow)} are too narrow: of {level:.0%} intervals, {held} hold. "
            + (
                "Read them as a lower limit of the uncertainty."
                if refined
                else "Sample around the fit, pv.refine(fit.prune(), data), and examine those: "
                "pv.calibrate(fit, data, refined=True)."
            )
        )
    return " ".join(sentences)


def _plural(names: list[str]) -> str:
    words = {"choice probability": "choice probabilities", "similarity": "similarities"}
    words["weight"] = "weights"
    many = [words.get(name, name) for name in names]
    return many[0] if len(many) == 1 else f"{', '.join(many[:-1])} and {many[-1]}"
