"""The question of a diagnosis whether the prior is wide enough for the weights that were found."""

from __future__ import annotations

from pyrovice.criticism.findings import Finding
from pyrovice.results.fit import Fit
from pyrovice.results.large_weights import large_weights, scale_of_weights_matters


def room_for_weights(fit: Fit) -> list[Finding]:
    """Whether the weights are as large as the prior expects; nothing if it learns their size."""
    question = "Does the prior leave room for the weights?"
    large = large_weights(fit)
    if large is None:
        return []
    if not large.beyond:
        return [Finding(question, large.found, "good")]
    pulled = f"{large.found} The prior pulls them down"
    if scale_of_weights_matters(fit):
        low = f"{pulled}, and a learned lapse rate comes out too low."
        return [Finding(question, low, "look", large.advice)]
    # Predictions hardly suffer; whether they do, calibration says.
    known = f"{pulled}, which matters where a choice learns a lapse rate. {large.advice}"
    return [Finding(question, known, "for information")]
