"""People nobody has met: drawn from the population that those who are known reveal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import Tensor

from pyrovice.data.validation import whole_seed
from pyrovice.model.people.crowd import NEW, Crowd

Sites = dict[str, Tensor]


def with_newcomers(
    crowd: Crowd, drawn: Iterable[Mapping[str, Tensor]], n: int, seed: int
) -> Iterator[Sites]:
    """`n` draws of all sites, each with the traits of a person of its own who is new.

    The newcomers of all draws together cover the population evenly in each of their traits, so
    that their average depends less on chance.
    """
    generator = torch.Generator().manual_seed(whole_seed(seed))
    group = None
    if crowd.group is not None:
        group = crowd.group[torch.randint(crowd.size, (n,), generator=generator)]
    normals: dict[str, Tensor] = {}
    for i, sites in enumerate(drawn):
        for name in sites:
            if name in NEW and name not in normals:
                of_one = tuple(sites[name].shape[1:])
                normals[name] = _evenly_normal(n, of_one, generator)
        member = None if group is None else int(group[i])
        yield dict(sites) | _newcomer(crowd, sites, {k: z[i] for k, z in normals.items()}, member)


def _newcomer(crowd: Crowd, sites: Mapping[str, Tensor], normal: Sites, group: int | None) -> Sites:
    found = {}
    for name, z in normal.items():
        spread = crowd.spread(name, sites)
        deviation = spread * z.to(sites[name])
        if name == "person_weight":
            if group is not None and group < len(crowd.groups):
                deviation = deviation + sites["group_log_weight"][group]
            deviation = deviation.exp()
        elif name == "person_temperature":
            deviation = deviation.exp()
        elif name == "person_lapse":
            deviation = (sites["typical_lapse"].logit() + deviation).sigmoid()
        found[NEW[name]] = deviation
    return found


def _evenly_normal(n: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Normal numbers, (n, *shape), one from each n-th of the distribution in every column."""
    place = torch.rand((n, *shape), generator=generator).argsort(0)
    within = torch.rand((n, *shape), generator=generator).clamp(1e-6, 1 - 1e-6)
    return torch.special.ndtri((place + within) / n)
