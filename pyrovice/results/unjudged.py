"""Objects that no judgment and no feature says anything about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import some_of
from pyrovice.errors import tell
from pyrovice.model.priors import Features, Prior


def unjudged_objects(data: Triplets, prior: Prior) -> tuple[str, ...]:
    """The objects of which nothing is known but the prior, the same for all of them."""
    # A prior that is code may know objects; the values of pyrovice do not, without features.
    if isinstance(prior, Features):
        return ()
    seen = np.bincount(data.objects.ravel(), minlength=data.n_objects)
    return tuple(name for name, times in zip(data.names, seen, strict=True) if not times)


def warn_at_fit(unjudged: Sequence[str], n_objects: int) -> None:
    """Say that some objects of the data are in no judgment."""
    tell(
        f"No judgment has {some_of(unjudged, 'object')} of {n_objects:,}, whose weights are "
        "therefore those of the prior. Leave them out, data.compact(), or give features of all "
        "objects, prior=pv.Features(table)."
    )


def warn_of_unjudged(names: Sequence[str], unjudged: Sequence[str], asked: Triplets) -> None:
    """Say how many judgments ask about objects that the fit knows nothing of."""
    unknown = np.isin(np.asarray(names), np.asarray(unjudged))
    with_unknown = unknown[asked.objects].any(axis=1)
    if with_unknown.any():
        tell(
            f"{with_unknown.sum():,} of {len(asked):,} judgments have one of "
            f"{some_of(unjudged, 'object')} that the fit has never seen, so that they are "
            "predicted hardly better than by chance. Fit with features of the objects, "
            "prior=pv.Features(table)."
        )
