"""The sections of PAPER.md, each from whatever runs are stored, and what becomes of the claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import pyrovice as pv
from benchmarks.harness.data import embedding
from benchmarks.paper import figures
from benchmarks.paper.data import EMBEDDINGS, described, load
from benchmarks.paper.experiments import (
    BEST,
    DEFAULT,
    LITTLE,
    PARTITION_SEEDS,
    PARTITIONS,
    PEOPLE,
    TRIED,
)
from benchmarks.paper.runs import Runs, chosen_settings, median, over_seeds, pairs
from pyrovice.criticism.significance import unpaired
from pyrovice.results.matching import recovered

Claims = list[tuple[str, str, str]]
"""What the paper says, what is found here, and whether they agree."""

DATA = ("THINGS", "ADJECTIVES", "FOOD", PEOPLE)
# Accuracy, KL, dimensions with their sd, and reproducibility in the paper.
PAPER = {
    ("THINGS", "VICE"): (0.638, 0.100, "44 (1.59)", 0.870),
    ("THINGS", "SPoSE"): (0.637, 0.103, "52 (1.82)", 0.813),
    ("ADJECTIVES", "VICE"): (0.559, 0.083, "21 (0.77)", 0.768),
    ("ADJECTIVES", "SPoSE"): (0.562, 0.088, "22 (1.53)", 0.716),
    ("FOOD", "VICE"): (0.693, None, "5 (0.95)", 0.874),
    ("FOOD", "SPoSE"): (0.698, None, "16 (1.02)", 0.629),
}
NOT_IN_PAPER = (None, None, "–", None)
PAPERS, CHOSEN = "the paper's", "by validation"
CEILING = {"THINGS": 0.673, "ADJECTIVES": 0.607}


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else number(value)


def interval(difference: float, low: float, high: float, digits: int = 3) -> str:
    if np.isnan(low):
        return f"{difference:+.{digits}f}, the same in all"
    return f"{difference:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def verdict(low: float, high: float, wanted: int) -> str:
    """Whether an interval of a difference lies on the side that the paper reports."""
    if np.isnan(low):
        return "no spread to test with"
    if low > 0 or high < 0:
        return "agrees" if np.sign(low + high) == wanted else "**the other way round**"
    return "no difference to be seen"


def full_data(runs: Runs, claims: Claims) -> str:
    rows, tests = [], []
    for name in DATA:
        all_of = runs.full(name)
        for model, of_model in all_of.items():
            one = median(of_model)
            told = PAPER.get((name, model), NOT_IN_PAPER)
            ceiling = f"{one.ceiling_low:.3f} to {one.ceiling:.3f}"
            rows.append(
                [name, model, f"{one.judgments:,}", number(one.accuracy), number(told[0]), ceiling,
                 number(CEILING.get(name)), number(one.kl_divergence), number(told[1]),
                 number(one.chance_kl), number(one.cross_entropy)]
            )  # fmt: skip
        fits = {model: runs.fit(median(of_model)) for model, of_model in all_of.items()}
        for ours, theirs in pairs(fits):
            test = load(name, runs.quick).test
            found = pv.compare_choices(fits[ours], fits[theirs], test).table
            for measure, row in found.iterrows():
                tests.append(
                    [name, f"{ours} − {theirs}", str(measure).replace("_", " "),
                     interval(row.difference, row.low, row.high, 4),
                     p_value(row.p_value), number(row.effect_size), int(row.n)]
                )  # fmt: skip
            if theirs != "SPoSE":
                continue
            # The paper tests KL too where it has 25 answers to a triplet.
            tested = ("accuracy", "kl_divergence") if name in CEILING else ("accuracy",)
            for measure in tested:
                row = found.loc[measure]
                of = measure.replace("kl_divergence", "KL")
                claims.append(
                    (f"{name}: VICE and SPoSE predict equally well from all data ({of})",
                     interval(row.difference, row.low, row.high, 4),
                     "agrees" if row.p_value >= 0.05 else "**they differ**")
                )  # fmt: skip
    if not rows:
        return ""
    sources = ", ".join(f"{name}: {described(name)}" for name in DATA)
    return "\n\n".join(
        [
            "## All data",
            f"{sources}. The ceiling is what the majority of the *other* answers predicts, to the "
            "paper's, the share of the majority: the truth lies between.",
            table(
                ["data", "method", "judgments", "accuracy", "paper", "ceiling", "paper", "KL",
                 "paper", "KL of guessing", "nats"],
                rows,
            ),
            "Two-sided paired t-tests over test triplets:",
            table(
                ["data", "models", "measure", "difference", "p", "effect size", "triplets"], tests
            ),
        ]
    )  # fmt: skip


def less_data(runs: Runs, claims: Claims, folder: Path) -> str:
    rows, curves = [], []
    for fraction in PARTITIONS:
        means = {
            model: over_seeds(pd.concat([runs.of("THINGS", each, fraction) for each in settings]))
            for model, settings in TRIED.items()
        }
        ways = {
            PAPERS: {model: of[of.setting == TRIED[model][0]] for model, of in means.items()},
        }
        if fraction <= LITTLE and all(map(len, means.values())):
            ways[CHOSEN] = {model: chosen_settings(of) for model, of in means.items()}
        for way, found in ways.items():
            curves += [of.assign(model=f"{model}, {way}") for model, of in found.items()]
            ours, theirs = found["VICE"], found["SPoSE"]
            if len(ours) < 2 or ours.partition.tolist() != theirs.partition.tolist():
                continue
            differences = []
            for measure, wanted in {"accuracy": 1, "kl_divergence": -1}.items():
                a, b = ours[measure].to_numpy(), theirs[measure].to_numpy()
                low, high = stats.ttest_rel(a, b).confidence_interval()
                differences.append(interval((a - b).mean(), low, high))
                if fraction <= LITTLE:
                    of = measure.replace("kl_divergence", "KL")
                    claims.append(
                        (f"THINGS, {fraction:.0%} of the data: VICE is above SPoSE ({of}, settings "
                         f"{way})", differences[-1], verdict(low, high, wanted))
                    )  # fmt: skip
            rows.append(
                [f"{fraction:.0%}", f"{ours.judgments.iloc[0]:,.0f}", len(ours), way,
                 number(ours.accuracy.mean()), number(theirs.accuracy.mean()), *differences,
                 number(ours.dimensions.mean(), 1), number(theirs.dimensions.mean(), 1)]
            )  # fmt: skip
    if not rows:
        return ""
    curves += [
        of_model.assign(model=f"{model}, {PAPERS}")
        for model, of_model in runs.full("THINGS").items()
        if "noise" not in model
    ]
    drawn = pv.plot.data_efficiency(pd.concat(curves, ignore_index=True))
    return "\n\n".join(
        [
            "## Less data",
            "Disjoint partitions of the THINGS training data, each fitted with "
            f"{2 if runs.quick else PARTITION_SEEDS} seeds; test and validation data stay the "
            "same. Scores are averaged over the seeds of a partition, and differences, VICE − "
            "SPoSE, are paired over partitions. Both have the settings that the paper found best "
            f"on all data; up to {LITTLE:.0%} also, by cross-entropy on validation data, the "
            "better of those and a weaker one (VICE "
            f"{' or '.join('/'.join(f'{v:g}' for v in each) for each in TRIED['VICE'])}, SPoSE "
            f"{' or '.join(f'{rate:g}' for (rate,) in TRIED['SPoSE'])}).",
            table(
                ["data", "judgments", "partitions", "settings", "accuracy VICE", "SPoSE",
                 "difference", "difference in KL", "dimensions VICE", "SPoSE"],
                rows,
            ),
            figures.save(
                drawn,
                folder,
                "data_efficiency",
                "Less data, with the paper's settings or settings by validation: means over "
                "partitions (over seeds for all data) with 95 % intervals",
            ),
        ]
    )  # fmt: skip


def reproducibility(runs: Runs, claims: Claims) -> str:
    rows, tests = [], []
    for name in DATA:
        all_of = {model: runs.fits(of_model) for model, of_model in runs.full(name).items()}
        fits = {
            model: of_model
            for model, of_model in all_of.items()
            if any(fit.n_dimensions for fit in of_model)
        }
        scores = {}
        for model, of_model in fits.items():
            found = pv.reproducibility(of_model)
            strict = pv.reproducibility(of_model, matching="one-to-one")
            scores[model] = found.by_model.score
            counts = [fit.n_dimensions for fit in of_model]
            spread = f"{np.mean(counts):.1f} ({np.std(counts, ddof=1):.2f})"
            told = PAPER.get((name, model), NOT_IN_PAPER)
            share = "–" if told[3] is None else f"{told[3]:.1%}"
            rows.append(
                [name, model, len(of_model), spread,
                 told[2], f"{found.score:.1%}", share, f"{strict.score:.1%}",
                 truth_found(name, of_model, runs.quick), most_alike(of_model)]
            )  # fmt: skip
        for ours, theirs in pairs(fits):
            dims = pv.compare_dimensions(fits[ours], fits[theirs])
            t, sign = dims.loc["t"], dims.loc["sign"]
            gain = pd.Series(unpaired(scores[ours].to_numpy(), scores[theirs].to_numpy()))
            tests.append(
                [name, f"{ours} − {theirs}", interval(t.estimate, t.low, t.high, 1),
                 p_value(t.p_value), p_value(dims.loc["F", "p_value"]), p_value(sign.p_value),
                 interval(gain.estimate, gain.low, gain.high), p_value(gain.p_value)]
            )  # fmt: skip
            against = "" if theirs == "SPoSE" else f" ({ours} − {theirs})"
            claims.append(
                (f"{name}: VICE has fewer dimensions{against}",
                 interval(t.estimate, t.low, t.high, 1), verdict(t.low, t.high, -1))
            )  # fmt: skip
            claims.append(
                (f"{name}: VICE is more reproducible{against}",
                 f"share {interval(gain.estimate, gain.low, gain.high)}",
                 verdict(gain.low, gain.high, 1))
            )  # fmt: skip
    if not rows:
        return ""
    return "\n\n".join(
        [
            "## Dimensions and reproducibility over seeds",
            table(
                ["data", "method", "seeds", "dimensions (sd)", "paper", "reproducible", "paper",
                 "one-to-one", "true dimensions found", "most alike two of a model"],
                rows,
            ),
            "Unpaired t-tests of dimensions and of the share reproducible per model, "
            "F-test of the variances and sign test of the dimensions (– where a method finds the "
            "same number with every seed):",
            table(
                ["data", "models", "dimensions", "p (t)", "p (F)", "p (sign)",
                 "share reproducible", "p (t)"],
                tests,
            ),
        ]
    )  # fmt: skip


def most_alike(fits: list[pv.Fit]) -> str:
    several = [pv.redundancy(fit).correlation.max() for fit in fits if fit.n_dimensions > 1]
    return number(max(several, default=None), 2)


def truth_found(name: str, fits: list[pv.Fit], quick: bool) -> str:
    if name not in EMBEDDINGS or quick:
        return "–"
    truth = embedding(EMBEDDINGS[name])
    return f"{np.mean([recovered(truth, fit.embedding().to_numpy()) for fit in fits]):.0%}"


def convergence(runs: Runs, folder: Path) -> str:
    histories = {
        name: [fit.history for fit in runs.fits(runs.full(name)["VICE"])]
        for name in DATA
        if runs.full(name)
    }
    if not histories:
        return ""
    settled = ", ".join(
        f"{name} {np.median([len(h) for h in of]):,.0f} epochs "
        f"({np.median([h.step.iloc[-1] for h in of]):,.0f} steps)"
        for name, of in histories.items()
    )
    caption = "Dimensions kept by VICE over training, a line per seed"
    return (
        f"## Convergence\n\nMedian time until training settled: {settled}.\n\n"
        f"{figures.save(figures.convergence(histories), folder, 'convergence', caption)}"
    )


def bounds(runs: Runs, claims: Claims, folder: Path) -> str:
    found: dict[str, list[pv.bounds.Bound]] = {}
    rows = []
    for name in DATA:
        both = runs.full(name)
        if not both:
            continue
        data = load(name, runs.quick)
        middle = median(both["VICE"])
        others = both["VICE"].drop(middle.name)
        fits = [runs.fit(middle), *runs.fits(others)]
        found[name] = [
            # The training error of the others is not shown: a part of it is quick.
            pv.bounds.generalization(
                fit.embedding(), data.train if first else data.train.subset(1000, 0), test=data.test
            )
            for fit, first in zip(fits, [True] + [False] * len(others), strict=True)
        ]
        bound, shape = found[name][0], fits[0].embedding().shape
        at = bound.table.set_index("scale").loc[bound.scale]
        largest = max(fit.embedding().to_numpy().max() for fit in fits)
        asked = pv.bounds.sample_size(*shape)
        rows.append(
            [name, number(bound.value), f"{bound.scale:g}", number(at.test_error),
             number(1 - middle.accuracy), number(bound.guessing), f"{largest:.2f}", f"{asked:,}"]
        )  # fmt: skip
        claims.append(
            (f"{name}: the bound holds", f"test error {at.test_error:.3f} ≤ {bound.value:.3f}",
             "agrees" if at.test_error <= bound.value else "**it does not**")
        )  # fmt: skip
        fine, whole = bound.table.set_index("scale").test_error[0.2], 1 - middle.accuracy
        claims.append(
            (f"{name}: quantising at Δ = 0.2 costs next to nothing",
             f"test error {fine:.3f}, unquantised {whole:.3f}",
             "agrees" if fine - whole < 0.015 else "**it costs more**")
        )  # fmt: skip
    if not rows:
        return ""
    caption = "Test error of quantised VICE embeddings over Δ, a line per seed, and the bound"
    return "\n\n".join(
        [
            "## Quantisation and bounds",
            "Algorithm 2 for the median model. The last column is the prospective bound for its "
            "number of dimensions with k = 4, ε = 0.1, δ = 0.001.",
            table(
                ["data", "bound on the error", "at Δ", "test error there", "test error unquantised",
                 "guessing", "largest weight of all seeds", "judgments that guarantee ε"],
                rows,
            ),
            figures.save(figures.quantization(found), folder, "quantization", caption),
        ]
    )  # fmt: skip


def hyperparameters(runs: Runs, claims: Claims) -> str:
    rows = []
    for name in DATA:
        default, best = runs.of(name, DEFAULT), runs.of(name, BEST[name])
        if default.empty or best.empty:
            continue
        difference = default.accuracy.mean() - best.accuracy.mean()
        t = runs.table
        vice = t[(t.data == name) & (t.fraction == 1) & (t.model == "VICE")]
        of_all = vice.groupby("setting").accuracy.mean()
        top = vice.groupby("setting").validation.mean().idxmin()
        rows.append(
            [name, number(default.accuracy.mean()), number(best.accuracy.mean()),
             f"{difference:+.4f}", number(default.dimensions.mean(), 1),
             number(best.dimensions.mean(), 1), len(of_all),
             f"{of_all.min():.3f} to {of_all.max():.3f}", "/".join(f"{v:g}" for v in top)]
        )  # fmt: skip
        gap = max(best.accuracy.mean(), of_all[top]) - default.accuracy.mean()
        claims.append(
            (f"{name}: the default prior is within 0.015 accuracy of the best",
             f"{gap:+.4f} behind", "agrees" if gap <= 0.015 else "**it is not**")
        )  # fmt: skip
    if not rows:
        return ""
    return "## Hyper-parameters\n\n" + table(
        ["data", "accuracy, default .25/1/.5", "the paper's best", "difference", "dimensions",
         "dimensions", "settings tried", "their accuracies", "lowest validation nats"],
        rows,
    )  # fmt: skip


def prior(runs: Runs, folder: Path) -> str:
    if not runs.full("THINGS"):
        return ""
    fit = runs.fit(median(runs.full("THINGS")["SPoSE"]))
    if fit.n_dimensions < 2:
        return ""
    caption = "Weights of the first two SPoSE dimensions on THINGS, and the prior it assumes"
    return "## The prior of SPoSE\n\n" + figures.save(
        figures.spose_weights(fit), folder, "spose_weights", caption
    )
