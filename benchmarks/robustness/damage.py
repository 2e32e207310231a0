"""Ways to damage the content of a file."""

from __future__ import annotations

import random


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content after one random accident."""
    return rng.choice([_flipped, _cut, _holed, _blanked, _repeated])(content, rng)


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 10])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def _holed(content: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.sample(range(len(content)), 2))
    return content[:first] + content[last:]


def _blanked(content: bytes, rng: random.Random) -> bytes:
    first = rng.randrange(len(content))
    size = min(rng.randrange(1, 5000), len(content) - first)
    return content[:first] + bytes(size) + content[first + size :]


def _repeated(content: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.sample(range(len(content)), 2))
    return content[:last] + content[first:last] + content[last:]
