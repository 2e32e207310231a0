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
# make weak dimensions costlier than they are. These numbers, and others below, were chosen by the
# trials in benchmarks/TRIED.md.
LEAST_WORTH = 0.7
# Shares of the decay of the learning rate after which dimensions are weighed. At first less is
# asked: the rate is still high, and weak dimensions explain more when noise is gone.
WEIGHED_AT = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
ASKED_FROM, ASKED_IN_FULL = 0.5, 0.95
# One draw of the weights of few objects says little, and neither does one part of many judgments.
WEIGHTS_TO_DRAW = 2000
FEWEST_DRAWS, MOST_DRAWS = 4, 32
# Further draws are spared a dimension that is above so many times what is asked, and by so much
# more, which single draws of a worthless one hardly ever are.
FAR_ABOVE, AND_MORE = 2.0, 0.3
# Entries of similarities and scores that are computed together.
MOST_AT_ONCE = 2**20


def is_time_to_weigh(run: Run, past: float) -> bool:
    """Whether dimensions are due to be weighed, `past` being the share of the decay that is over.

    Only where leaving one out is the same as having no weights in it, and where what it costs is
    independent of the others. Of functions of the user's nobody knows.
    """
    people, structure = run.model.people, run.model.structure
    # A regression on features costs a dimension far more than it would if its coefficients were
    # not independent: where judgments are few, true ones would go.
    plain = all(node["value"].numel() <= run.model.dimensions for node in structure.above.values())
    apart = (
        type(run.guide) is MeanFieldGuide
        and structure.separable
        and plain
        and not run.model.is_code
        # Somebody's own deviations may stand where nobody else has weights.
        and not (people is not None and people.varies("own"))
    )
    return apart and _times(past) > run.weighed


def pay_for_themselves(run: Run, parts: Sequence[Judgments], past: float) -> NDArray[np.bool_]:
    """Which dimensions explain enough of the judgments, which are given in random parts.

    At least one does.
    """
    run.weighed = _times(past)
    asked = min(1.0, (past - ASKED_FROM) / (ASKED_IN_FULL - ASKED_FROM))
    least = LEAST_WORTH * asked**2
    found = worths(run, parts, _each(run), least)
    # From the least worth on. What is not a number says nothing against a dimension.
    poor = np.argsort(found)[: (found < least).sum()]
    poor = poor[: len(found) - 1]
    # Each half of a dimension that is split explains little, as long as there is the other. So
    # what several explain together counts too.
    while len(poor) > 1:
        together = _each(run)[poor].any(0, keepdim=True)
        if worths(run, parts, together, least)[0] < least:
            break
        poor = poor[: len(poor) // 2]
    return ~np.isin(np.arange(len(found)), poor)


def _times(past: float) -> int:
    """How many times dimensions were due to be weighed by now."""
    return sum(past >= share for share in WEIGHED_AT)


def _each(run: Run) -> Tensor:
    """Every dimension as a set of its own."""
    return torch.eye(run.model.dimensions, dtype=torch.bool, device="cpu")


@torch.no_grad()
def worths(run: Run, parts: Sequence[Judgments], sets: Tensor, least: float) -> NDArray[np.float64]:
    """What sets of dimensions explain, over what they cost.

    Parameters
    ----------
    run : Run
        One that can be weighed. Random numbers are left as they are.
    parts : sequence of Judgments
        All judgments, in random parts of about the same size.
    sets : Tensor of shape (k, dimensions)
        Which dimensions each of the sets has.
    least : float
        Sets that are clearly worth more are not looked at twice.

    Returns
    -------
    array of shape (k,)
        Above 1 where the bound is higher with the set than without.
    """
    draws = WEIGHTS_TO_DRAW // run.model.n_objects
    draws = min(max(draws, min(len(parts), FEWEST_DRAWS)), MOST_DRAWS)
    explained, drawn = torch.zeros(2, len(sets), dtype=torch.float64, device="cpu")
    cost = torch.zeros(run.model.dimensions, dtype=torch.float64, device="cpu")
    asked = torch.arange(len(sets), device="cpu")
    with torch.random.fork_rng():
        for i in range(draws):
            part = parts[i % len(parts)]
            guide = poutine.trace(run.guide).get_trace()
            # Any judgment will do: the densities of what is drawn do not depend on them.
            one_row = torch.zeros(1, dtype=torch.long, device=part.odd.device)
            model = poutine.trace(poutine.replay(run.model, guide)).get_trace(part[one_row])
            sites = {name: guide.nodes[name]["value"] for name in run.model.structure.latent}
            sites["X"] = model.nodes["X"]["value"]
            explained[asked] += _explained(run, sites, part, sets[asked]) * len(parts)
            cost += _cost(run, guide, model)
            drawn[asked] += 1
            of_sets = sets.double() @ cost / (i + 1)
            worth = explained / drawn / of_sets.clamp(min=torch.finfo().tiny)
            asked = torch.nonzero(~(worth > FAR_ABOVE * least + AND_MORE)).squeeze(-1)
            if not len(asked):
                break
    return worth.numpy()


def _explained(run: Run, sites: Mapping[str, Tensor], part: Judgments, sets: Tensor) -> Tensor:
    """How much less probable the answers are, in nats, without each of the sets of dimensions."""
    X = sites["X"]
    whole = _log_likelihood(run, sites, part)
    # What a choice samples, or people, is one draw, and has no dim for several embeddings.
    at_once = 1
    if run.model.people is None and getattr(run.model.choice, "samples_nothing", False):
        at_once = max(1, MOST_AT_ONCE // (run.model.n_objects**2 + 3 * len(part)))
    found = []
    for some in sets.to(X.device).split(at_once):
        without = X.masked_fill(some.unsqueeze(-2), 0.0)
        # Alone it is computed as in a step, the fast way.
        given = {**sites, "X": without[0]} if len(some) == 1 else {"X": without}
        found.append((whole - _log_likelihood(run, given, part)).reshape(-1))
    return torch.cat(found).cpu()


def _log_likelihood(run: Run, sites: Mapping[str, Tensor], part: Judgments) -> Tensor:
    """The log-probability of all answers, (...,)."""
    log_p = run.model.choice_log_probability(sites, part)
    odd = part.odd.unsqueeze(-1).expand(*log_p.shape[:-1], 1)
    own = log_p.gather(-1, odd).squeeze(-1).double()
    return (own if part.weight is None else own * part.weight).sum(-1)


def _cost(run: Run, guide: poutine.Trace, model: poutine.Trace) -> Tensor:
    """log q − log p of all that is a dimension's own."""
    assert isinstance(run.guide, MeanFieldGuide)
    total = torch.zeros(run.model.dimensions, dtype=torch.float64, device="cpu")
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
