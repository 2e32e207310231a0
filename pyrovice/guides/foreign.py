"""Guides that were written elsewhere: whether they follow the model."""

from __future__ import annotations

import torch
from pyro import poutine

from pyrovice.errors import GuideError
from pyrovice.guides.resolve import FunctionGuide
from pyrovice.guides.sites import Guide, SiteGuide
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model


def mismatch(guide: Guide, model: Model, judgments: Judgments) -> str | None:
    """Which site a guide leaves out or samples in another shape than the model, if any."""
    if isinstance(guide, SiteGuide):
        return None
    try:
        with torch.random.fork_rng(devices=[]):
            trace = poutine.trace(guide).get_trace(judgments)
    except Exception:
        return None
    for name, node in model.structure.latent.items():
        if name not in trace.nodes:
            return f"it does not sample the site {name!r}"
        found, expected = (tuple(at["value"].shape) for at in (trace.nodes[name], node))
        if found != expected:
            return f"it samples {name!r} in the shape {found}, expected {expected}"
    return None


def cannot_follow(guide: Guide, model: Model, reason: str) -> GuideError:
    """The error that says so."""
    what = "The function" if isinstance(guide, FunctionGuide) else type(guide).__name__
    return GuideError(
        f"{what} given as guide cannot follow the prior {model.prior}: {reason}. Use "
        "guide=MeanField(), or another autoguide."
    )
