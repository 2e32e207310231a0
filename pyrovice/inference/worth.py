"""What each dimension is worth: what it explains of the answers, over what it costs.

Both are parts of the bound. Without a dimension the answers are less probable, and there is less to
be uncertain about. Where it costs more than it explains, the bound is higher without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyro.distributions as dist
import torch
from numpy.typing import NDArray
from pyro import poutine
from torch import Tensor

from pyrovice.guides import MeanFieldGuide
from pyrovice.inference.run import Run
from pyrovice.model.judgments import Judgments
from pyrovice.model.structure import Node

# A dimension has to explain this share of what it costs: not all of it, because independent Normals
# make weak dimensions costlier than they are.
LEAST_WORTH = 0.7
# Shares of the decay of the learning rate after which dimensions are weighed. At first less is
# asked: the rate is still high, and weak dimensions explain more when noise is gone.
WEIGHED_AT = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
ASKED_FROM, ASKED_IN_FULL = 0.5, 0.95
# One draw of the weights of few objects says little, and neither does one part of many judgments.
WEIGHTS_TO_DRAW = 2000
FEWEST_DRAWS, MOST_DRAWS = 4, 32
# By how much a single draw may be wrong about a dimension that is worth next to nothing.
UNSURE = 0.3
# Entries of similarities and scores that are computed together.
MOST_AT_ONCE = 2**20


def is_time_to_weigh(run: Run, past: float) -> bool:
    """Whether dimensions are due to be weighed, `past` being the share of the decay that is over.

    They can be if one can be left out, and what it costs is its own.
    """
    due = sum(past >= share for share in WEIGHED_AT)
    separate = type(run.guide) is MeanFieldGuide and run.model.structure.separable
    return separate and due > run.weighed


def pay_for_themselves(run: Run, parts: Sequence[Judgments], past: float) -> NDArray[np.bool_]:
    """Which dimensions explain enough of the judgments, which are given in random parts."""
    run.weighed = sum(past >= share for share in WEIGHED_AT)
    asked = min(1.0, (past - ASKED_FROM) / (ASKED_IN_FULL - ASKED_FROM))
    least = LEAST_WORTH * asked**2
    return worths(run, parts, least) >= least


@torch.no_grad()
def worths(run: Run, parts: Sequence[Judgments], least: float) -> NDArray[np.float64]:
    """What each dimension explains, over what it costs: above 1 where the bound is higher with it.

    Parameters
    ----------
    run : Run
        One that can be weighed. Random numbers are left as they are.
    parts : sequence of Judgments
        All judgments, in random parts.
    least : float
        Dimensions that are clearly worth more are not looked at twice.
    """
    draws = WEIGHTS_TO_DRAW // run.model.n_objects
    draws = min(max(draws, min(len(parts), FEWEST_DRAWS)), MOST_DRAWS)
    explained, cost, drawn = torch.zeros(3, run.model.dimensions, dtype=torch.float64)
    asked = torch.arange(run.model.dimensions)
    with torch.random.fork_rng(devices=[]):
        for i in range(draws):
            part = parts[i % len(parts)]
            guide = poutine.trace(run.guide).get_trace()
            model = poutine.trace(poutine.replay(run.model, guide)).get_trace(part)
            sites = {name: guide.nodes[name]["value"] for name in run.model.structure.latent}
            sites["X"] = model.nodes["X"]["value"]
            explained[asked] += _explained(run, sites, part, asked) * len(parts)
            cost += _cost(run, guide, model)
            drawn[asked] += 1
            worth = explained / drawn / (cost / (i + 1)).clamp(min=torch.finfo().tiny)
            asked = torch.nonzero(worth < 2 * least + UNSURE).squeeze(-1)
            if not len(asked):
                break
    return worth.numpy()


def _explained(run: Run, sites: Mapping[str, Tensor], part: Judgments, columns: Tensor) -> Tensor:
    """How much less probable the answers are, in nats, without each of the columns."""
    whole = _log_likelihood(run, sites, part)
    # What a choice or people sample need not follow X to several columns at once.
    together = run.model.people is None and getattr(run.model.choice, "samples_nothing", False)
    entries = run.model.n_objects**2 + 3 * len(part)
    found = []
    for some in columns.split(max(1, MOST_AT_ONCE // entries) if together else 1):
        without = sites["X"].repeat(len(some), 1, 1)
        without[torch.arange(len(some)), :, some] = 0
        given = {"X": without} if together else dict(sites) | {"X": without[0]}
        found.append(whole - _log_likelihood(run, given, part))
    return torch.cat([each.reshape(-1) for each in found]).cpu()


def _log_likelihood(run: Run, sites: Mapping[str, Tensor], part: Judgments) -> Tensor:
    """The log-probability of all answers, (...,)."""
    log_p = run.model.choice_log_probability(sites, part)
    odd = part.odd.unsqueeze(-1).expand(*log_p.shape[:-1], 1)
    own = log_p.gather(-1, odd).squeeze(-1).double()
    return (own if part.weight is None else own * part.weight).sum(-1)


def _cost(run: Run, guide: poutine.Trace, model: poutine.Trace) -> Tensor:
    """log q − log p of all that is a dimension's own."""
    assert isinstance(run.guide, MeanFieldGuide)
    total = torch.zeros(run.model.dimensions, dtype=torch.float64)
    for site in run.guide.sites:
        dim = site.column_dim()
        if dim is not None:
            density = _density(guide.nodes[site.name]) - _density(model.nodes[site.name])
            others = [other for other in range(-density.dim(), 0) if other != dim]
            total += (density.sum(others) if others else density).double().cpu()
    return total


def _density(node: Node) -> Tensor:
    """The log-density of a site's value, entry by entry."""
    fn = node["fn"]
    while isinstance(fn, dist.Independent):
        fn = fn.base_dist
    return fn.log_prob(node["value"])
