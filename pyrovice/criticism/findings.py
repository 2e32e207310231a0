"""The single questions of a diagnosis, each answered by a finding."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from pyro import poutine
from pyro.infer.importance import psis_diagnostic
from pyro.ops.stats import fit_generalized_pareto
from torch import Tensor

from pyrovice.criticism.across_seeds import reproducibility
from pyrovice.criticism.checks import CheckReport
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.criticism.interval_calibration import calibrate
from pyrovice.criticism.model_comparison import TRUSTED_PARETO_K
from pyrovice.criticism.refitting import LEVELS, refit
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole_seed
from pyrovice.inference.nuts import sample
from pyrovice.inference.refining import AGREED, Langevin, agreement, compared_weights
from pyrovice.inference.stopping import SETTLED
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.calibration import Calibration
from pyrovice.results.fit import Fit
from pyrovice.results.matching import SAME_DIMENSION
from pyrovice.results.mixing import MIXED

# The last part of training, in which the loss and the number of dimensions are examined.
LAST_OF_LOSS, LAST_OF_COUNT = 0.1, 0.2
# Seeds that agree less than this do not support publishing single dimensions.
REPRODUCIBLE = 0.7
# Intervals that should hold 95 % and hold less than this are too narrow to report.
LEAST_COVERAGE = 0.85
# How many importance weights: fewer where each takes long, because of many judgments or objects.
PARTICLES, FEWER_PARTICLES, MANY_JUDGMENTS, MANY_OBJECTS = 1000, 200, 200_000, 1000
ENTRIES_AT_ONCE = 2**25
# Pyro's: smaller weights do not count, and fewer of them say nothing.
SMALLEST_WEIGHT, FEWEST_IN_TAIL = 1e-15, 10
# Draws of the similarities by which NUTS and the guide are compared.
SIMILARITY_DRAWS = 500
# Draws of each of two chains, after half as many to warm up.
NUTS_DRAWS = 400


@dataclass(frozen=True)
class Finding:
    """One thing that was examined: what was found, the verdict, what to do about it."""

    question: str
    found: str
    verdict: str
    advice: str = ""


def settled(fit: Fit) -> Finding:
    """Whether the loss still fell between the two halves of the last tenth of training."""
    question = "Has training settled?"
    longer = (
        "Train longer before reading the dimensions: raise max_epochs or the steps of the schedule "
        "in Training(...)."
    )
    loss = fit.history.loss.to_numpy()
    half = int(len(loss) * LAST_OF_LOSS / 2)
    if half < 2:
        verdict = "look" if fit.converged else "bad"
        return Finding(question, f"{len(loss)} epochs are too few to see a trend.", verdict, longer)
    before, after = loss[-2 * half : -half], loss[-half:]
    fell = before.mean() - after.mean()
    noise = np.sqrt((before.var() + after.var()) / half)
    found = (
        f"Between the halves of the last tenth of {len(loss):,} epochs the loss fell by {fell:.5f} "
        f"nats per judgment (noise {noise:.5f}), to {after.mean():.4f}."
    )
    if fell > max(SETTLED, 3 * noise):
        return Finding(
            question,
            f"{found} It is still falling.",
            "look" if fit.converged else "bad",
            longer,
        )
    if not fit.converged:
        return Finding(
            question,
            f"{found} But training ended before its own stopping rule was met.",
            "bad",
            longer,
        )
    return Finding(question, found, "good")


def stable_count(fit: Fit) -> Finding:
    """Whether the number of dimensions still changed in the last fifth of training."""
    question = "Is the number of dimensions stable?"
    last = fit.history.dimensions.iloc[-max(1, int(len(fit.history) * LAST_OF_COUNT)) :]
    low, high = int(last.min()), int(last.max())
    if low == high and high > 0:
        kept = f"{high} dimension{'s' if high > 1 else ''}"
        return Finding(question, f"{kept} over the last fifth of training.", "good")
    if high == 0:
        return Finding(
            question,
            "No dimension was kept.",
            "bad",
            "Collect more judgments per object, or use a weaker prior.",
        )
    return Finding(
        question,
        f"Between {low} and {high} over the last fifth of training.",
        "look",
        "Report the number of dimensions with its spread, from several seeds.",
    )


def seeds_agree(fits: Sequence[Fit]) -> Finding:
    """Whether fits of other seeds have the same dimensions."""
    score = reproducibility(fits).score
    counts = [fit.n_dimensions for fit in fits]
    found = (
        f"{score:.0%} of the dimensions of {len(fits)} fits come back in the others with a mean "
        f"correlation above {SAME_DIMENSION:g}; they keep {_as_range(counts)} dimensions."
    )
    if score >= REPRODUCIBLE:
        return Finding("Do other seeds find the same?", found, "good")
    return Finding(
        "Do other seeds find the same?",
        found,
        "bad",
        "Name only dimensions that reproduce: pv.reproducibility(fits).table says which.",
    )


def counted(found: Dimensionality) -> Finding:
    """Whether it is known how many dimensions there are, and whether the fit has these."""
    question = "How many dimensions are there?"
    text = f"{found.headline}. {found.advice}"
    missing = int((~found.table.in_fit & (found.table.probability >= 0.5)).sum())
    surplus = int((found.table.in_fit & (found.table.verdict == "unlikely")).sum())
    if found.low == found.high and not (missing or surplus):
        return Finding(question, text, "good")
    return Finding(
        question,
        text,
        "look",
        f"Publish the count with its interval, {found.low} to {found.high}, and single dimensions "
        "with their probabilities: fit.dimensionality(data).table.",
    )


def importance_weights(fit: Fit, data: Triplets, seed: int) -> Finding:
    """How far the guide is from the posterior, by the weights that turn one into the other."""
    many = len(data) >= MANY_JUDGMENTS or data.n_objects >= MANY_OBJECTS
    with pyro_locked(), torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(whole_seed(seed))
        k = tail_index(_one_by_one(fit, data)) if many else _together(fit, data)
    return Finding(
        "Is the guide the posterior?",
        f"Pareto k-hat of the importance weights is {k:.1f}. Below {TRUSTED_PARETO_K:g} "
        "the guide could be reweighted into the exact posterior. With this many weights it is "
        "never that low, even for fits that predict and cover well, so it is not a reason to "
        "reject this one: it says that single weights are not exactly as certain as they look. "
        "What counts are the checks below.",
        "for information",
    )


def _one_by_one(fit: Fit, data: Triplets) -> Tensor:
    """Logarithms of importance weights of data so large that few at a time fit into caches."""
    judgments = fit.model.judgments(data)
    found = []
    for _ in range(FEWER_PARTICLES):
        guide = poutine.trace(fit.guide).get_trace(judgments)
        model = poutine.trace(poutine.replay(fit.model, trace=guide)).get_trace(judgments)
        found.append(model.log_prob_sum() - guide.log_prob_sum())
    return torch.stack(found)


def tail_index(log_weights: Tensor) -> float:
    """Pareto k-hat of the largest weights, as Pyro's `psis_diagnostic` defines it."""
    ordered = (log_weights - log_weights.max()).sort().values
    largest = math.ceil(min(0.2 * len(ordered), 3 * math.sqrt(len(ordered))))
    cutoff = max(math.log(SMALLEST_WEIGHT), float(ordered[-largest - 1]))
    tail = ordered[ordered > cutoff]
    if len(tail) < FEWEST_IN_TAIL:
        return math.inf
    return float(fit_generalized_pareto(tail.exp() - math.exp(cutoff))[0])


def _together(fit: Fit, data: Triplets) -> float:
    """The same by Pyro, which computes many weights at once."""
    people = fit.model.people
    own = people is not None and people.varies("weights")
    # What takes memory: answers, or rows of X as each person sees them.
    entries = 3 * len(data) * (fit.model.dimensions if own else 1)
    # Pyro cannot put together weights that come one by one.
    most = max(2, min(PARTICLES, ENTRIES_AT_ONCE // entries))
    with warnings.catch_warnings():
        # Pyro warns of too few tail samples; then k is infinite, which the finding says.
        warnings.simplefilter("ignore")
        return float(
            psis_diagnostic(
                fit.model,
                fit.guide,
                data,
                num_particles=PARTICLES,
                max_simultaneous_particles=max(
                    size for size in range(2, most + 1) if PARTICLES % size == 0
                ),
                max_plate_nesting=fit.model.structure.max_plate_nesting,
            )
        )


def calibrated(found: Calibration, unseen: bool) -> Finding:
    """Whether answers are given as often as predicted."""
    question = "Do probabilities mean what they say?"
    where = "judgments that it has not seen" if unseen else "judgments that were fitted"
    text = (
        f"Expected calibration error {found.error:.3f} on {found.n:,} {where}; perfect "
        f"predictions would have about {found.noise:.3f}."
    )
    if not unseen:
        text += " Held-out judgments would tell more: pass held_out=..."
    if found.error < max(0.02, 2 * found.noise):
        return Finding(question, text, "good")
    return Finding(
        question,
        text,
        "look",
        "Do not report single choice probabilities; look at "
        "pv.plot.calibration(fit.calibration(data)).",
    )


def predicts(checked: CheckReport) -> Finding:
    """Whether predictive checks flag anything."""
    question = "Could the judgments have come from this model?"
    worst = min(checked.checks.values(), key=lambda check: check.tail_area)
    if not checked.flagged:
        return Finding(
            question,
            f"{len(checked.checks)} predictive checks, none flagged; the smallest tail area is "
            f"{worst.tail_area:.3f} ({worst.name}).",
            "good",
        )
    reasons = "; ".join(checked.checks[name].means for name in checked.flagged)
    return Finding(
        question,
        f"{len(checked.flagged)} of {len(checked.checks)} predictive checks are flagged "
        f"({', '.join(checked.flagged)}): {reasons}.",
        "bad",
        _richer(checked) + "Look at pv.checks.report(fit, data) and its details, and say in the "
        "paper what the model misses; leave out people who did not do the task.",
    )


def _richer(checked: CheckReport) -> str:
    """What to fit again with, where checks call for a richer model."""
    typed = [each for name in checked.flagged if (each := checked.checks[name].remedy)]
    if not typed:
        return ""
    return (
        f"Fit again with {', then with '.join(typed)}, and keep it where "
        "pv.compare({'plain': fit, 'richer': other}, data) finds it better. "
    )


def recovers(fit: Fit, data: Triplets, refits: int, seed: int) -> list[Finding]:
    """Whether refits to simulated answers have the same dimensions, and cover the truth."""
    found = calibrate(fit, data, simulations=refits, seed=seed, progress=False)
    counts, true = list(found.n_dimensions), found.n_true
    again = Finding(
        "Does a refit find the same dimensions?",
        f"Refitted to answers simulated from it, {_as_range(counts)} of {true} dimensions are "
        "kept.",
        "good" if all(abs(count - true) <= max(1, 0.1 * true) for count in counts) else "look",
        "The number of dimensions is not determined by this many judgments; report it as a range "
        "over seeds and refits.",
    )
    narrow = found.coverage[LEVELS[-1]].min() < LEAST_COVERAGE
    covers = Finding(
        "Do intervals hold the truth?",
        found.found,
        "bad" if narrow else "good",
        "Intervals are too narrow: sample around the fit, pv.refine(fit.prune(), data), or use "
        "guide=pv.LowRank(5); pv.calibrate(fit, data) says more.",
    )
    return [again, covers]


def nuts_agrees(fit: Fit, data: Triplets, size: int, seed: int) -> Finding:
    """Compare the guide with NUTS on the judgments among a few objects that are judged most."""
    question = "Does NUTS agree?"
    part = _judged_most(data, size)
    if len(part) < 10 * size:
        return Finding(
            question,
            f"Only {len(part)} judgments are among the {size} objects shown most: too few to "
            "compare.",
            "for information",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = sample(
            part,
            prior=fit.prior,
            choice=fit.choice,
            people=fit.model.people,
            dimensions=2,
            draws=NUTS_DRAWS,
            warmup=NUTS_DRAWS // 2,
            chains=2,
            seed=seed,
            progress=False,
        )
    apart = float(exact.mixing().r_hat.max())
    if apart > MIXED:
        return Finding(
            question,
            f"The chains of NUTS do not agree with each other (R-hat up to {apart:.2f}), so they "
            "cannot tell.",
            "for information",
        )
    ours = refit(fit, part, seed, dimensions=2)
    pairs = np.triu_indices(size, 1)
    means, spreads = [], []
    for each in (exact, ours):
        S = each.draws(SIMILARITY_DRAWS, seed)
        S = (S @ S.transpose(0, 2, 1))[:, pairs[0], pairs[1]]
        means.append(S.mean(axis=0))
        spreads.append(S.std(axis=0))
    off = np.abs(means[0] - means[1]) / spreads[0]
    ratio = float(np.median(spreads[1] / spreads[0]))
    found = (
        f"On {len(part):,} judgments of {size} objects in 2 dimensions, similarities are at most "
        f"{off.max():.1f} standard deviations off, and their standard deviations are "
        f"{ratio:.2f} times those of NUTS (R-hat at most {apart:.2f})."
    )
    if ratio > 0.7 and off.max() < 1.5:
        return Finding(question, found, "good")
    return Finding(
        question, found, "look", "Sample around the fit for honest intervals: pv.refine(fit, data)."
    )


def _judged_most(data: Triplets, size: int) -> Triplets:
    """The judgments among the few objects that are shown most."""
    seen = np.bincount(data.objects.ravel(), minlength=data.n_objects)
    chosen = np.sort(np.argsort(-seen, kind="stable")[:size])
    inside = np.isin(data.objects, chosen).all(axis=1)
    return Triplets(
        np.searchsorted(chosen, data.objects[inside]),
        data.odd[inside],
        anchor=data.anchor[inside],
        participants=None if data.participants is None else data.participants[inside],
        names=[data.names[i] for i in chosen],
        trials=None if data.trials is None else data.trials[inside],
    )


def chains_agree(fit: Fit) -> Finding:
    """Whether Markov chains have found the same posterior."""
    question = "Do the chains agree?"
    chains = fit.posterior.chains
    if chains is None or len(chains) < 2:
        return Finding(
            question,
            "There is only one chain, and nothing to compare it with.",
            "look",
            "Sample several, with chains=4.",
        )
    if isinstance(fit.guide_family, Langevin):
        share = agreement(fit)
        found = f"They agree on {share:.0%} of {compared_weights(fit)}."
        if share >= AGREED:
            return Finding(question, found, "good")
        return Finding(
            question, found, "look", "Refine for longer: pv.refine(fit, data, draws=...)."
        )
    worst = float(fit.mixing().r_hat.max())
    if worst < MIXED:
        return Finding(question, f"R-hat is at most {worst:.3f}.", "good")
    return Finding(
        question,
        f"R-hat reaches {worst:.3f}; below {MIXED:g} is expected.",
        "bad",
        "Sample longer: pv.sample(data, draws=..., warmup=...).",
    )


def _as_range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
