"""Do intervals hold on other designs: the built-in example, anchored questions, and people?"""

from __future__ import annotations

import warnings

import pyrovice as pv
from benchmarks.quality.dimension_counts import STORE
from pyrovice.criticism.refitting import LEVELS

SIMULATIONS = 20


def run(quick: bool) -> str:
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    simulations = 2 if quick else SIMULATIONS
    lines = [
        f"`pv.calibrate`, {simulations} simulations each: the share of true values within central "
        "intervals (and its standard error), and root mean square error over root mean posterior "
        "variance. Refits by the mean field, and the same refined.",
        "",
        "| design | refits | quantity | 50 % | 80 % | 95 % | error over spread |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, (data, arguments) in designs(quick).items():
        fit = pv.fit(data, progress=False, **arguments)
        for refined in (False, True):
            found = pv.calibrate(
                fit, data, simulations=simulations, refined=refined, store=STORE / "calibration",
                progress=False,
            )  # fmt: skip
            for quantity, row in found.coverage.iterrows():
                shares = (f"{row[p]:.3f} ({found.error.loc[quantity, p]:.3f})" for p in LEVELS)
                ratio = found.ratio.get(quantity, float("nan"))
                kind = "refined" if refined else "mean field"
                lines.append(
                    f"| {name} | {kind} | {quantity} | {' | '.join(shares)} | {ratio:.2f} |"
                )
    return "\n".join(lines)


def designs(quick: bool) -> dict[str, tuple[pv.Triplets, dict]]:
    """Judgments, and how to fit them."""
    example = pv.load_example()
    n = 4000 if quick else 20_000
    anchored = pv.simulate(example.embedding, n, seed=0, anchored=True)
    found: dict[str, tuple[pv.Triplets, dict]] = {
        "example": (example.triplets.subset(n, seed=0), {"dimensions": 12}),
        "anchored": (anchored, {"dimensions": 12}),
    }
    if not quick:
        people = pv.load_example(people=12).triplets
        found["people"] = (people, {"dimensions": 12, "people": pv.People()})
    return found
