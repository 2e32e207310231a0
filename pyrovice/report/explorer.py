"""What the page needs to answer questions about any three objects: posterior draws."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.model.choices.resolve import log_probability
from pyrovice.model.judgments import Judgments
from pyrovice.results.fit import Fit

# A weight is a byte: 255 is the largest of its dimension in any draw.
LEVELS = 255
# Bytes that all draws may take; more objects and dimensions have fewer draws.
MOST_BYTES = 2_000_000
MOST_DRAWS, FEWEST_DRAWS = 200, 12
# Triplets on which the page's formula is compared with the fit's own choice, and the error allowed.
COMPARED, SAME = 20, 1e-4


def explorer(fit: Fit) -> dict[str, Any] | None:
    """Draws of the weights kept, as bytes; None if the page cannot compute the fit's choice.

    The page knows one formula: the softmax over dot products of three pairs, and a share of
    answers at random.
    """
    kept = fit.kept_positions()
    m, d = len(fit.names), len(kept)
    if m < 3 or not d or fit.missing_code() is not None:
        return None
    n = (
        1
        if fit.posterior.is_point
        else int(np.clip(MOST_BYTES // (m * d), FEWEST_DRAWS, MOST_DRAWS))
    )
    sites = list(fit.posterior.each(n, seed=0))
    X = np.stack([each["X"].numpy() for each in sites])[:, :, kept].clip(min=0)
    lapse = np.array([float(each.get("typical_lapse", 0.0)) for each in sites])
    if not _is_formula(fit, sites[0]):
        return None
    largest = np.maximum(X.max(axis=(0, 1)), np.finfo(np.float32).tiny)
    packed = np.round(X / largest * LEVELS).astype(np.uint8).transpose(1, 0, 2)
    return {
        "draws": n,
        "scale": [float(f"{value:.6g}") for value in largest / LEVELS],
        "lapse": lapse.round(5).tolist(),
        "weights": base64.b64encode(packed.tobytes()).decode(),
        "first": _first_three(fit.embedding().to_numpy()),
    }


def chances(X: NDArray[np.floating], objects: NDArray[np.integer], lapse: float) -> NDArray[Any]:
    """The formula of the page: how probably each of three objects is the odd one, (n, 3)."""
    a, b, c = (X[objects[:, i]] for i in range(3))
    alike = np.stack([(b * c).sum(-1), (a * c).sum(-1), (a * b).sum(-1)], axis=-1)
    odds = np.exp(alike - alike.max(axis=-1, keepdims=True))
    return lapse / 3 + (1 - lapse) * odds / odds.sum(axis=-1, keepdims=True)


def _is_formula(fit: Fit, sites: dict[str, torch.Tensor]) -> bool:
    """Whether the fit's own choice, of one mind, gives what the page would."""
    rng = np.random.default_rng(0)
    objects = np.sort([rng.choice(len(fit.names), 3, replace=False) for _ in range(COMPARED)])
    asked = Judgments.of(Triplets(objects, np.zeros(COMPARED, dtype=int), names=fit.names))
    own = log_probability(fit.model.choice, sites, asked).exp().numpy()
    X = sites["X"].numpy().clip(min=0)
    return bool(np.abs(own - chances(X, objects, lapse=0.0)).max() < SAME)


def _first_three(weights: NDArray[np.floating]) -> list[int]:
    """Three objects to begin with: two that share a dimension, and one of another."""
    order = np.argsort(-weights[:, 0], kind="stable")
    others = np.argsort(-weights[:, -1] + weights[:, 0], kind="stable")
    third = next(int(each) for each in others if each not in order[:2])
    return [int(order[0]), int(order[1]), third]
