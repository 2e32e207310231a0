"""What decides a fit, in words that checkpoints and stores are recognised by."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pyrovice.data.places import places_of
from pyrovice.data.triplets import Triplets
from pyrovice.inference.settings import Training
from pyrovice.model.choices import Choice, DotProduct, resolve_choice
from pyrovice.model.people import People
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
    choice: Choice,
    people: People | None = None,
) -> dict[str, str]:
    """Everything that decides a fit, except prior and seed, in words that can be compared."""
    # The paper's choice is not named: it was the only one when the first files were written.
    named = {} if choice == DotProduct() else {"choice": recognise(choice)}
    if people is not None:
        named["people"] = recognise(people)
    if resolve_choice(choice).asks_where and places_of(data) is not None:
        named["places"] = content_digest(places_of(data))
    # Who answered is part of the data if the model asks for it.
    by_person = people is not None or resolve_choice(choice).asks_who_answered
    return named | {
        "data": _judgments(data, by_person),
        "validation": "none" if validation is None else _judgments(validation, by_person),
        "guide": recognise(guide),
        "dimensions": str(dimensions),
        **{f"training.{f.name}": recognise(getattr(training, f.name)) for f in fields(training)},
        "pyrovice": __version__,
    }


def recognise_fit(fit: Fit) -> str:
    """The same for what a fit knows of X."""
    return f"{fit!r} [{content_digest(fit.posterior.arrays(), chr(0).join(fit.names))}]"


def _judgments(data: Triplets, by_person: bool) -> str:
    digest = data.digest(people=by_person)
    return f"{len(data):,} judgments of {data.n_objects:,} objects [{digest[:12]}]"
