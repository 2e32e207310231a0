"""The No-U-Turn sampler (Hoffman and Gelman, 2014; its multinomial form, Betancourt, 2017).

Each chain is a generator: it hands out a position and is sent the potential and its slope there, so
that whoever runs several chains can compute those of all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyro.ops.dual_averaging import DualAveraging

Vector = NDArray[np.floating]
Asking = Generator[Vector, tuple[float, Vector], Any]
"""Hands out positions, and is sent the potential and its slope there."""

# What steps are adapted to: the mean acceptance along a path.
ACCEPTANCE = 0.8
DEEPEST = 10
# A path that gained so much energy has left the density.
DIVERGED = 1000.0
# Numbers up to which their covariances are learned, and not their variances only.
COVARIANCES = 200
# Draws before the scale is learned, in its first window, and after the last one.
BEFORE, WINDOW, AFTER = 75, 25, 50
# The bend matters from the first, and is learned anew with every window.
FIRST_BENDS = (10, 30)
# Draws above zero that the width of an entry is taken from.
ENOUGH = 5


class State(NamedTuple):
    """A position, what is known there, and a momentum in units of the scale."""

    position: Vector
    potential: float
    slope: Vector
    momentum: Vector

    @property
    def energy(self) -> float:
        """Potential and kinetic."""
        return self.potential + 0.5 * float(self.momentum @ self.momentum)


class Tree(NamedTuple):
    """States along a path: their momenta, and one of the states that was drawn."""

    first: Vector
    last: Vector
    sum: Vector
    drawn: State
    log_weight: float
    depth: int

    def reversed(self) -> Tree:
        """The same path the other way round."""
        return self._replace(first=self.last, last=self.first)

    def turns_with(self, after: Tree) -> bool:
        """Whether this path and the one after it together go back to where they came from."""
        return (
            _back(self.sum + after.sum, self.first, after.last)
            or _back(self.sum + after.first, self.first, after.first)
            or _back(self.last + after.sum, self.last, after.last)
        )

    def followed_by(self, after: Tree, rng: np.random.Generator, *, eager: bool = False) -> Tree:
        """Both, with a draw of either; an eager one prefers what came after."""
        total = float(np.logaddexp(self.log_weight, after.log_weight))
        chance = after.log_weight - (self.log_weight if eager else total)
        drawn = after.drawn if math.log(1.0 - rng.random()) < chance else self.drawn
        return Tree(self.first, after.last, self.sum + after.sum, drawn, total, self.depth + 1)


def _back(along: Vector, first: Vector, last: Vector) -> bool:
    return bool(first @ along <= 0 or last @ along <= 0)


class Scale(NamedTuple):
    """The scale of a density: standard deviations, or a factor L of its covariance L Lᵀ."""

    factor: Vector

    @classmethod
    def of(cls, draws: Vector) -> Scale:
        """Learned from draws, and shrunk a little, because they are few."""
        n, size = draws.shape
        shrunk, little = n / (n + 5), 1e-3 * 5 / (n + 5)
        if size > COVARIANCES or n < 2 * size:
            return cls(np.sqrt(shrunk * draws.var(axis=0, ddof=1) + little))
        covariance = shrunk * np.atleast_2d(np.cov(draws.T)) + little * np.eye(size)
        return cls(np.linalg.cholesky(covariance))

    def velocity(self, momentum: Vector) -> Vector:
        """How a position with this momentum moves."""
        return self.factor * momentum if self.factor.ndim == 1 else self.factor @ momentum

    def force(self, slope: Vector) -> Vector:
        """How a slope changes momenta, up to the sign."""
        # Where a path has run away, slopes are infinite; it ends there, and nobody need be told.
        with np.errstate(invalid="ignore"):
            return self.factor * slope if self.factor.ndim == 1 else slope @ self.factor


class Bend(NamedTuple):
    """Coordinates u of positions x in which both sides of the rectifier have the same scale.

    Judgments say within a few hundredths what a positive entry of the embedding is, and nothing of
    a negative one, which is as wide as the prior. A path with steps that suit one side is lost on
    the other. With x = u above zero and x = u − k u²/2 below, the density of u is about as wide on
    both sides if 1/k is the width above; it is continuous at zero, where dx/du = 1.

    Examples
    --------
    >>> bend = Bend(np.array([10.0, 10.0, 0.0]))
    >>> x = bend.position(np.array([-0.3, 0.5, -0.3]))
    >>> x
    array([-0.75,  0.5 , -0.3 ])
    >>> bend.coordinates(x)
    array([-0.3,  0.5, -0.3])
    """

    k: Vector

    def position(self, u: Vector) -> Vector:
        """The x of these coordinates."""
        return u - 0.5 * self.k * np.square(np.minimum(u, 0.0))

    def coordinates(self, x: Vector) -> Vector:
        """The u of a position."""
        below = np.minimum(x, 0.0)
        # The root of the quadratic, in a form that holds for k = 0 too.
        return np.maximum(x, 0.0) + 2 * below / (1 + np.sqrt(1 - 2 * self.k * below))

    def density(self, u: Vector, potential: float, slope: Vector) -> tuple[float, Vector]:
        """Potential and slope in these coordinates, from those at their position."""
        stretched = 1 - self.k * np.minimum(u, 0.0)
        return (
            potential - float(np.log(stretched).sum()),
            slope * stretched + np.where(u < 0, self.k, 0.0) / stretched,
        )


class Path:
    """What is seen along the path to one draw."""

    def __init__(self) -> None:
        self.acceptance, self.leapfrogs, self.diverging = 0.0, 0, False

    def weigh(self, gained: float) -> bool:
        """Note a state with so much more energy than the first; whether to go on."""
        self.leapfrogs += 1
        self.acceptance += math.exp(-max(gained, 0.0)) if math.isfinite(gained) else 0.0
        self.diverging = not gained < DIVERGED
        return not self.diverging


class Sampler:
    """One chain: its scale, its step and its random numbers."""

    def __init__(self, rectified: NDArray[np.bool_], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rectified = rectified
        self.bend = Bend(np.zeros(len(rectified)))
        self.scale = Scale(np.ones(len(rectified)))
        self.step = 1.0

    def run(self, start: Vector, warmup: int, draws: int, tick: Callable[[], object]) -> Asking:
        """Positions, (draws, numbers), and what is known of each under the names of ArviZ."""
        state = yield from self._state(start)
        state = yield from self._warm_up(state, warmup, tick)
        positions, rows = [], []
        for _ in range(draws):
            state, path, depth = yield from self.draw(state)
            positions.append(self.bend.position(state.position))
            rows.append(
                {
                    "acceptance_rate": path.acceptance / path.leapfrogs,
                    "step_size": self.step,
                    "n_steps": path.leapfrogs,
                    "tree_depth": depth,
                    "energy": state.energy,
                    "diverging": path.diverging,
                }
            )
            tick()
        return np.stack(positions), {
            name: np.array([row[name] for row in rows]) for name in rows[0]
        }

    def draw(self, state: State) -> Asking:
        """The next state, the path that it is from, and how often that was doubled."""
        state = state._replace(momentum=self.rng.standard_normal(len(state.position)))
        first, path = state.energy, Path()
        p = state.momentum
        tree = Tree(p, p, p, state, 0.0, 0)
        ends, depth = {1: state, -1: state}, 0
        while depth < DEEPEST:
            depth += 1
            way = 1 if self.rng.random() < 0.5 else -1
            grown, ends[way] = yield from self._grow(ends[way], way, tree.depth, first, path)
            if grown is None:
                break
            if way < 0:
                tree = tree.reversed()
            turned = tree.turns_with(grown)
            tree = tree.followed_by(grown, self.rng, eager=True)
            if way < 0:
                tree = tree.reversed()
            if turned:
                break
        return tree.drawn, path, depth

    def _grow(self, end: State, way: int, depth: int, first: float, path: Path) -> Asking:
        """A path of 2 to the power of `depth` states from an end on, None if it turns."""
        halves: list[Tree] = []
        for _ in range(2**depth):
            end = yield from self._leapfrog(end, way * self.step)
            gained = end.energy - first
            if not path.weigh(gained):
                return None, end
            p = end.momentum
            tree = Tree(p, p, p, end, -gained, 0)
            while halves and halves[-1].depth == tree.depth:
                before = halves.pop()
                if before.turns_with(tree):
                    return None, end
                tree = before.followed_by(tree, self.rng)
            halves.append(tree)
        return halves[0], end

    def _leapfrog(self, state: State, step: float) -> Asking:
        half = state.momentum - 0.5 * step * self.scale.force(state.slope)
        at = state.position + step * self.scale.velocity(half)
        potential, slope = yield from self._density(at)
        return State(at, potential, slope, half - 0.5 * step * self.scale.force(slope))

    def _density(self, at: Vector) -> Asking:
        potential, slope = yield self.bend.position(at)
        return self.bend.density(at, potential, slope)

    def _state(self, x: Vector) -> Asking:
        at = self.bend.coordinates(x)
        potential, slope = yield from self._density(at)
        return State(at, potential, slope, np.zeros_like(at))

    def _warm_up(self, state: State, warmup: int, tick: Callable[[], object]) -> Asking:
        """Find a step, a scale and a bend on the way to where the density is."""
        averaging = yield from self._first_step(state)
        ends = windows(warmup)
        bends = {t for t in FIRST_BENDS if t < (ends or [warmup])[0]} | {*ends}
        seen: list[Vector] = []
        for t in range(1, warmup + 1):
            state, path, _ = yield from self.draw(state)
            averaging.step(ACCEPTANCE - path.acceptance / path.leapfrogs)
            self.step = math.exp(averaging.get_state()[0])
            seen.append(self.bend.position(state.position))
            if t in bends:
                self.bend = bend_for(np.stack(seen), self.rectified)
                state = yield from self._state(seen[-1])
                if t in ends[1:]:
                    self.scale = Scale.of(self.bend.coordinates(np.stack(seen)))
                seen = []
                averaging = yield from self._first_step(state)
            tick()
        if warmup:
            self.step = math.exp(averaging.get_state()[1])
        return state

    def _first_step(self, state: State) -> Asking:
        """A step whose acceptance is about the one wanted, to go on from."""
        way = 0
        while 1e-10 < self.step < 1e10:
            begun = state._replace(momentum=self.rng.standard_normal(len(state.position)))
            ended = yield from self._leapfrog(begun, self.step)
            now = 1 if begun.energy - ended.energy > math.log(ACCEPTANCE) else -1
            if way and now != way:
                break
            way = now
            self.step *= 2.0**way
        # What is tried first may be too short, never much too long.
        return DualAveraging(prox_center=math.log(10 * self.step))


def bend_for(seen: Vector, rectified: NDArray[np.bool_]) -> Bend:
    """The bend by how far these positions, (draws, numbers), spread above zero."""
    x = seen[:, rectified]
    x = x[:, (x > 0).sum(axis=0) >= ENOUGH]
    if not x.size:
        return Bend(np.zeros(len(rectified)))
    width = np.median(np.std(x, axis=0, where=x > 0))
    return Bend(np.where(rectified, 1 / width, 0.0) if width > 0 else np.zeros(len(rectified)))


def advance_together(
    chains: Sequence[Asking], potential: Callable[[Vector], tuple[Vector, Vector]]
) -> list[Any]:
    """What each chain comes to; all that are still running get their answers at once."""
    asked = {i: next(chain) for i, chain in enumerate(chains)}
    found: dict[int, Any] = {}
    while asked:
        values, slopes = potential(np.stack(list(asked.values())))
        for i, value, slope in zip(list(asked), values, slopes, strict=True):
            try:
                asked[i] = chains[i].send((float(value), slope))
            except StopIteration as over:
                found[i] = over.value
                del asked[i]
    return [found[i] for i in range(len(chains))]


def windows(warmup: int) -> list[int]:
    """Where the windows begin and end that the scale is learned in, each twice the one before."""
    before, after, size = BEFORE, AFTER, WINDOW
    if warmup < BEFORE + WINDOW + AFTER:
        before, after = int(0.15 * warmup), int(0.1 * warmup)
        size = warmup - before - after
    if size < 10:
        return []
    ends, last = [before], warmup - after
    while ends[-1] < last:
        end = ends[-1] + size
        # A last window that would be too short is a part of the one before.
        ends.append(last if end + 2 * size > last else end)
        size *= 2
    return ends
