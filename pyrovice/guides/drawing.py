"""Draws of the latent sites from any guide."""

from __future__ import annotations

from collections.abc import Collection

import pyro
import torch
from pyro import poutine
from pyro.infer.autoguide import AutoGuide, AutoMessenger
from pyro.poutine.util import prune_subsample_sites
from torch import Tensor

from pyrovice.data.validation import whole_seed
from pyrovice.guides.sites import Guide, SiteGuide
from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked


def draw_sites(guide: Guide, model: Model, n: int, seed: int = 0) -> dict[str, Tensor]:
    """`n` joint draws of every latent site and of X, the first dim running over draws.

    Other random numbers of the program are left as they are.
    """
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(whole_seed(seed))
        return with_embedding(model, _draw_many(guide, n, model.structure.max_plate_nesting))


def draw_apart(guide: Guide, names: Collection[str], n: int, seed: int = 0) -> dict[str, Tensor]:
    """`n` draws of some sites of a guide whose sites are independent of each other."""
    assert isinstance(guide, SiteGuide)
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(whole_seed(seed))
        chosen = [site for site in guide.sites if site.name in names]
        return {site.name: guide.marginal(site).sample((n,)) for site in chosen}


def with_embedding(model: Model, drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """Draws of the latent sites together with X, where it is computed from them."""
    if "X" in drawn:
        return drawn
    # One by one, because a user's code need not know how to do it for many at once.
    n = len(next(iter(drawn.values())))
    each = [{name: values[i] for name, values in drawn.items()} for i in range(n)]
    with pyro_locked(), torch.no_grad():
        X = [poutine.condition(model.embedding, data=values)() for values in each]
    return drawn | {"X": torch.stack(X)}


def _draw_many(guide: Guide, n: int, plates: int) -> dict[str, Tensor]:
    # What Pyro or pyrovice wrote can be drawn at once; a user's function may not.
    if isinstance(guide, SiteGuide | AutoGuide | AutoMessenger):
        shapes = {name: value.shape for name, value in _draw(guide).items()}
        with pyro.plate("draws", n, dim=-1 - plates):
            drawn = _draw(guide)
        return {name: drawn[name].reshape(n, *shape) for name, shape in shapes.items()}
    single = [_draw(guide) for _ in range(n)]
    return {name: torch.stack([draw[name] for draw in single]) for name in single[0]}


def _draw(guide: Guide) -> dict[str, Tensor]:
    trace = prune_subsample_sites(poutine.trace(guide).get_trace())
    return {
        name: node["value"]
        for name, node in trace.iter_stochastic_nodes()
        if not node["infer"].get("is_auxiliary")
    }
