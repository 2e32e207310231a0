"""What a fit learned about its prior: draws of the sites above X, given what is known of X.

A guide's own opinion of them is too sure: it takes the values that it holds for zeros, which are
arbitrary below the rectifier, for evidence. So the sites are drawn anew, given draws of [X]₊ and
nothing else about X, by Metropolis steps for many draws at once, one site after the other. Every
step is scored by the density of the whole prior, so that a site may have others below it.

Sites with plates of their own (regression weights, means of categories) or with event dims stay as
the guide drew them, and the others are drawn given these. So does everything if the prior cannot
say how probable a zero is, or cannot be computed for many draws at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy

import pyro
import torch
from pyro import poutine
from torch import Tensor
from torch.distributions import biject_to

from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.structure import SAME_DENSITY, Site

# Steps for every draw: the first forget where they began and find their stride.
STEPS = 150
# Steps between two draws for the same X.
STEPS_BETWEEN = 4
FIRST_LOG_STRIDE = -1.5
# The best share for one variable at a time.
ACCEPTED_SHARE = 0.44
# Coordinates of a site that only moves as a whole are moved in so many parts.
BLOCKS_OF_A_SITE = 8
# Fewer draws have too few differences between them.
ENOUGH_FOR_JOINT_MOVES = 12
# Below this many standard deviations erfc is too small for its logarithm.
FAR_OUT = -5.0
# Entries of X held at once.
MOST_AT_ONCE = 2**19

Values = dict[str, Tensor]
# Free values of the sites to log-densities, by dimension (n, d) and shared (n, 1).
Score = Callable[[Values], tuple[Tensor, Tensor]]


def redraw_prior_sites(
    model: Model, drawn: Mapping[str, Tensor], steps: int = STEPS, each: int = 1
) -> Values:
    """New draws of those sites of the prior that can be drawn given [X]₊; perhaps none.

    Parameters
    ----------
    model : Model
        Whose prior.
    drawn : mapping of str to Tensor
        Joint draws of X and all other sites, (n, ...). The new draws belong to these X.
    steps : int
        Metropolis steps; fewer suffice from a good start.
    each : int
        How many draws to make for each draw of X, a few steps apart.
    """
    names = redrawable(model)
    if not names or not drawn["X"].shape[-1]:
        return {}
    n, entries = len(drawn["X"]), drawn["X"][0].numel()
    parts = torch.arange(n).split(max(2, MOST_AT_ONCE // entries))
    try:
        found = [
            _redraw(PriorDensity(model, {k: v[rows] for k, v in drawn.items()}), names, steps, each)
            for rows in parts
        ]
    except (NotImplementedError, NotVectorisedError):
        return {}
    return {name: torch.cat([part[name] for part in found]) for name in names}


def redrawable(model: Model) -> list[str]:
    """The sites above X that all objects share: one value, or one per dimension."""
    if not model.structure.entrywise:
        return []
    return [
        name
        for name, site in model.structure.sites.items()
        if name in model.structure.above
        and site.event_dim == 0
        and {plate for plate, _, _ in site.plates} <= {"dimension"}
    ]


class NotVectorisedError(Exception):
    """A prior that cannot be computed for many draws at once."""


class PriorDensity:
    """The log-density of a prior at many draws at once, kept apart by dimension.

    Parameters
    ----------
    model : Model
        Whose prior.
    drawn : mapping of str to Tensor
        Joint draws of all sites, (n, ...); X counts as its rectified value.
    """

    def __init__(self, model: Model, drawn: Mapping[str, Tensor]) -> None:
        self.model = model
        self.sites = {name: model.structure.sites[name] for name in model.structure.latent}
        self.nesting = model.structure.max_plate_nesting
        self.n = len(drawn["X"])
        self.known = {name: self._aligned(name, drawn[name]) for name in self.sites}
        self.has_zeros = bool((drawn["X"] <= 0).any())

    def _aligned(self, name: str, values: Tensor) -> Tensor:
        """With dims of size one between the draws and the plates of a site."""
        batch = self.nesting - (values.dim() - 1 - self.sites[name].event_dim)
        return values.reshape(self.n, *(1,) * batch, *values.shape[1:])

    def __call__(self, values: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The density of what dimensions have of their own, (n, d), and of the rest, (n, 1)."""
        given = self.known | dict(values)
        with pyro.plate("draws", self.n, dim=-1 - self.nesting):
            trace = poutine.trace(poutine.condition(self.model.embedding, data=given)).get_trace()
        by_dimension = given["X"].new_zeros(self.n, self.model.dimensions)
        shared = given["X"].new_zeros(self.n, 1)
        for name, site in self.sites.items():
            if name in self.model.structure.of_choice:
                continue
            fn = trace.nodes[name]["fn"]
            log_p = self._rectified(fn, given["X"]) if name == "X" else fn.log_prob(given[name])
            if any(plate == "dimension" for plate, _, _ in site.plates):
                log_p = log_p.expand(torch.broadcast_shapes(log_p.shape, (self.model.dimensions,)))
                by_dimension = by_dimension + log_p.reshape(self.n, -1, log_p.shape[-1]).sum(1)
            else:
                shared = shared + log_p.reshape(self.n, -1).sum(1, keepdim=True)
        return by_dimension, shared

    def _rectified(self, fn: pyro.distributions.TorchDistribution, X: Tensor) -> Tensor:
        if not self.has_zeros:
            return fn.log_prob(X)
        zero = _log_probability_of_zero(fn, X)
        return torch.where(X > 0, fn.log_prob(X), zero)

    def check(self) -> None:
        """Refuse a prior that gives other densities for many draws than for one."""
        try:
            together = self._total()
            alone = [self.part(slice(i, i + 1))._total() for i in range(self.n)]
        except NotImplementedError:
            raise
        except (RuntimeError, ValueError, IndexError) as error:
            raise NotVectorisedError from error
        if not torch.isclose(together, torch.stack(alone).sum(), rtol=SAME_DENSITY):
            raise NotVectorisedError

    def part(self, rows: slice) -> PriorDensity:
        """That of some draws only."""
        other = copy(self)
        other.known = {name: values[rows] for name, values in self.known.items()}
        other.n = len(other.known["X"])
        return other

    def _total(self) -> Tensor:
        by_dimension, shared = self({})
        return by_dimension.sum() + shared.sum()


def _log_probability_of_zero(fn: pyro.distributions.TorchDistribution, X: Tensor) -> Tensor:
    if isinstance(fn, pyro.distributions.Normal):
        return _log_ndtr(-fn.loc / fn.scale)
    tiny = torch.finfo(X.dtype).tiny
    return fn.cdf(torch.zeros_like(X[..., :1, :])).clamp(min=tiny).log()


def _log_ndtr(z: Tensor) -> Tensor:
    """The same as torch's, in a third of the time: only far out does it take more than erfc."""
    found = torch.special.erfc(-z * 0.5**0.5).mul_(0.5).log_()
    far = z < FAR_OUT
    if far.any():
        found[far] = torch.special.log_ndtr(z[far])
    return found


@torch.no_grad()
def _redraw(density: PriorDensity, names: list[str], steps: int, each: int) -> Values:
    """Metropolis within Gibbs."""
    with pyro_locked(), torch.random.fork_rng(devices=[]), pyro.validation_enabled(False):
        torch.manual_seed(1)
        if density.model.is_code:
            density.part(slice(3)).check()
        moves = [Move(density, name) for name in names]
        free = {move.name: move.to_line(density.known[move.name]) for move in moves}
        by_name = {move.name: move for move in moves}

        def score(free: Values) -> tuple[Tensor, Tensor]:
            values = {name: by_name[name].to_support(u) for name, u in free.items()}
            by_dimension, shared = density(values)
            for name, u in free.items():
                jacobian = by_name[name].log_jacobian(u)
                if by_name[name].per_dimension:
                    by_dimension = by_dimension + jacobian
                else:
                    shared = shared + jacobian
            return by_dimension, shared

        for move in moves:
            move.find_out_whether_separable(score, free)
        now = score(free)
        kept: dict[str, list[Tensor]] = {name: [] for name in names}
        for step in range(1, steps + STEPS_BETWEEN * (each - 1) + 1):
            for move in moves:
                now = move.make(score, free, now, step)
            if len(moves) > 1 and density.n >= ENOUGH_FOR_JOINT_MOVES:
                now = _move_together(score, free, now)
            if step >= steps and (step - steps) % STEPS_BETWEEN == 0:
                for move in moves:
                    values = move.to_support(free[move.name])
                    kept[move.name].append(values.reshape(density.n, *move.shape))
        return {name: torch.cat(values) for name, values in kept.items()}


def _move_together(score: Score, free: Values, now: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Move all sites of every draw at once, along the difference of two other draws.

    Sites that depend on each other closely, such as a scale and the scale of scales above it,
    hardly move one at a time. The differences between draws know how they go together
    (differential evolution; ter Braak, 2006). Each half moves by the differences in the other.
    """
    n = len(now[0])
    order = torch.randperm(n)
    size = sum(u[0].numel() for u in free.values())
    # Now and then a whole difference, which can take a draw from one mode to another.
    stride = 1.0 if torch.rand(()) < 0.1 else 2.38 / (2 * size) ** 0.5
    for movers, others in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
        first = others[torch.randint(len(others), (len(movers),))]
        second = others[torch.randint(len(others), (len(movers),))]
        moved = {}
        for name, u in free.items():
            moved[name] = u.clone()
            moved[name][movers] += stride * (u[first] - u[second])
        there = score(moved)
        gain = (there[0] - now[0]).sum(-1, keepdim=True) + there[1] - now[1]
        accepted = gain > torch.rand_like(gain).log()
        now = (
            torch.where(accepted, there[0], now[0]),
            torch.where(accepted, there[1], now[1]),
        )
        for name, u in free.items():
            free[name] = torch.where(accepted.reshape(n, *(1,) * (u.dim() - 1)), moved[name], u)
    return now


class Move:
    """A Metropolis step of one site, for all draws at once."""

    def __init__(self, density: PriorDensity, name: str) -> None:
        self.name = name
        site: Site = density.sites[name]
        self.per_dimension = bool(site.plates)
        self.transform = biject_to(site.support)
        self.n, self.size = density.n, density.model.dimensions if self.per_dimension else 1
        self.shape = (self.size,) if self.per_dimension else ()
        self.separable = True
        self.log_stride = torch.full((1, self.size), FIRST_LOG_STRIDE)

    def to_line(self, values: Tensor) -> Tensor:
        """Values of the site as free numbers, aligned as the density expects them."""
        return self.transform.inv(values)

    def to_support(self, free: Tensor) -> Tensor:
        """Free numbers as values of the site."""
        return self.transform(free)

    def log_jacobian(self, free: Tensor) -> Tensor:
        """What the change of variables adds to the density, (n, size)."""
        value = self.transform(free)
        return self.transform.log_abs_det_jacobian(free, value).reshape(self.n, self.size)

    def find_out_whether_separable(self, score: Score, free: Values) -> None:
        """Whether a value of one dimension leaves the density of all others as it is."""
        if not self.per_dimension or self.size == 1:
            return
        before = score(free)
        for column in (0, self.size - 1):
            moved = free[self.name].clone()
            moved[..., column] += 0.5
            after = score(free | {self.name: moved})
            others = [i for i in range(self.size) if i != column]
            same = torch.allclose(before[0][:, others], after[0][:, others], rtol=1e-5)
            self.separable &= same and torch.allclose(before[1], after[1], rtol=1e-5)

    def make(
        self, score: Score, free: Values, now: tuple[Tensor, Tensor], step: int
    ) -> tuple[Tensor, Tensor]:
        """Move every draw, or leave it; `free` is changed, and the new density returned."""
        alone = self.per_dimension and self.separable
        # What only moves as a whole moves in parts, so that some of it gets accepted.
        size = self.size if alone else math.ceil(self.size / BLOCKS_OF_A_SITE)
        for columns in torch.arange(self.size).split(size):
            u = free[self.name]
            reach = torch.zeros(1, self.size)
            reach[:, columns] = self.log_stride[:, columns].exp()
            moved = u + reach * torch.randn_like(u)
            there = score(free | {self.name: moved})
            gain = there[0] - now[0]
            if not alone:
                gain = gain.sum(-1, keepdim=True) + there[1] - now[1]
            accepted = gain > torch.rand_like(gain).log()
            shape = (self.n, *(1,) * (u.dim() - 2), accepted.shape[-1])
            free[self.name] = torch.where(accepted.reshape(shape), moved, u)
            now = (
                torch.where(accepted, there[0], now[0]),
                # Of a separable site the shared part does not know.
                now[1] if alone else torch.where(accepted, there[1], now[1]),
            )
            surplus = accepted.float().mean(0, keepdim=True) - ACCEPTED_SHARE
            self.log_stride[:, columns] += surplus / step**0.5
        return now
