"""What decides a fit, in words that checkpoints and stores are recognised by."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pyrovice.data.triplets import Triplets
from pyrovice.inference.settings import Training
from pyrovice.results.fit import Fit
from pyrovice.storage.identity import content_digest, recognise
from pyrovice.storage.version import __version__


def settings(
    data: Triplets,
    *,
    validation: Triplets | None,
    guide: Any,
    dimensions: int,
    training: Training,
) -> dict[str, str]:
    """Everything that decides a fit, except prior and seed, in words that can be compared."""
    return {
        "data": _judgments(data),
        "validation": "none" if validation is None else _judgments(validation),
        "guide": recognise(guide),
        "dimensions": str(dimensions),
        **{f"training.{f.name}": recognise(getattr(training, f.name)) for f in fields(training)},
        "pyrovice": __version__,
    }


def recognise_fit(fit: Fit) -> str:
    """The same for what a fit knows of X."""
    return f"{fit!r} [{content_digest(fit.posterior.arrays(), chr(0).join(fit.names))}]"


def _judgments(data: Triplets) -> str:
    return f"{len(data):,} judgments of {data.n_objects:,} objects [{data.digest()[:12]}]"
