"""What the page says in words and numbers."""

from __future__ import annotations

from typing import Any

from pyrovice.criticism.checks import CheckReport
from pyrovice.criticism.diagnosis import NO_OBJECTION, Diagnosis
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.data.triplets import Triplets
from pyrovice.results.fit import Fit
from pyrovice.results.scores import Evaluation
from pyrovice.storage.identity import name_of
from pyrovice.storage.version import __version__


def describe(
    fit: Fit,
    data: Triplets | None,
    held_out: Triplets | None,
    found: Diagnosis | None,
    checked: CheckReport | None,
) -> dict[str, Any]:
    """What was fitted, how good it is, and how far it can be trusted."""
    given = held_out if data is None else data
    anchored = 0.0 if given is None else float(given.anchored.mean())
    return {
        "task": _task(anchored),
        "anchored": anchored > 0,
        "judgments": [] if data is None else _judgments(data),
        "checks": [] if checked is None else _checks(checked),
        "not_checked": [] if checked is None else _not_checked(checked),
        "facts": _facts(fit),
        "converged": fit.converged,
        "sampled": fit.posterior.from_chains,
        "scores": [
            _score(where, fit.evaluate(given), unseen)
            for where, given, unseen in (
                ("judgments that it has not seen", held_out, True),
                ("judgments that were fitted", data, False),
            )
            if given is not None
        ],
        "findings": [] if found is None else found.findings,
        "advice": [] if found is None else found.advice or [NO_OBJECTION],
        "diagnosed": found is not None,
        "held_out": held_out is not None,
        "version": __version__,
    }


def counted(found: Dimensionality | None) -> dict[str, Any] | None:
    """The number of dimensions, and how sure each one is."""
    if found is None:
        return None
    return {
        "headline": found.headline,
        "advice": found.advice,
        "rows": [
            {
                "dimension": str(name),
                "probability": f"{row.probability:.2f}",
                "verdict": row.verdict,
                "evidence": row.evidence,
            }
            for name, row in found.table.iterrows()
        ],
    }


def _facts(fit: Fit) -> dict[str, str]:
    facts = {
        "Objects": f"{len(fit.names):,}",
        "Judgments fitted": f"{fit.n_judgments:,}",
        "Dimensions kept": f"{fit.n_dimensions} of {fit.first_dimensions} at the start",
        "Prior": name_of(fit.prior),
        "Choice": name_of(fit.choice),
    }
    if fit.model.people is not None:
        facts["People"] = repr(fit.model.people)
    if fit.posterior.from_chains:
        facts["Inference"] = f"sampled: {fit.guide_family}"
    else:
        ended = "settled" if fit.converged else "ended before it settled"
        facts["Guide"] = name_of(fit.guide_family)
        facts["Training"] = f"{ended} after {len(fit.history):,} epochs"
        facts["−ELBO per judgment"] = f"{fit.history.loss.iloc[-1]:.4f} nats"
    return facts | {"Seed": str(fit.seed), "Fingerprint of the judgments": fit.data_digest[:16]}


def _task(anchored: float) -> str:
    """What people were asked; `anchored` is the share of questions with an anchor."""
    plain = "odd-one-out judgments"
    with_anchor = "anchored judgments (which of two is more like a third)"
    if not anchored:
        return plain
    return with_anchor if anchored == 1 else f"{plain} and {with_anchor}"


def _judgments(data: Triplets) -> list[str]:
    """What `data.describe` says, a sentence each, without the first line."""
    return [line.strip() for line in repr(data.describe()).splitlines()[1:]]


def _checks(checked: CheckReport) -> list[dict[str, str]]:
    return [
        {
            "name": str(name),
            "observed": as_number(row.observed),
            "drawn": "{} ({} to {})".format(*map(as_number, row[["drawn", "5 %", "95 %"]])),
            "tail_area": f"{row.tail_area:.3f}",
            "verdict": "look" if row.flagged else "good",
            "means": checked.checks[str(name)].means,
        }
        for name, row in checked.table.iterrows()
    ]


def as_number(value: float) -> str:
    """Four digits, without the powers of ten that few read.

    Examples
    --------
    >>> as_number(0.0123456), as_number(10394.4)
    ('0.01235', '10,394')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _not_checked(checked: CheckReport) -> list[str]:
    return [f"Not checked: {name}, because {why}." for name, why in checked.not_checked.items()]


def _score(where: str, found: Evaluation, unseen: bool) -> dict[str, Any]:
    return {
        "where": where,
        "unseen": unseen,
        "n": f"{found.n:,}",
        "accuracy": found.accuracy,
        "chance": found.chance_accuracy,
        "ceiling": found.ceiling_interval and (found.ceiling_low, found.ceiling),
        "ceiling_interval": found.ceiling_interval,
        "repeated": f"{found.repeated_questions:,}",
        "repeated_answers": f"{found.repeated_answers:,}",
        "cross_entropy": f"{found.cross_entropy:.3f}",
        "kl": None if found.kl_divergence is None else f"{found.kl_divergence:.3f}",
        "chance_kl": None if found.chance_kl is None else f"{found.chance_kl:.3f}",
    }
