"""Judgments as tensors: what a choice model sees of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.data.places import places_of
from pyrovice.data.triplets import Triplets
from pyrovice.model.pair_pattern import PairPattern

# Aggregating pays where it saves a tenth of the rows.
WORTH_AGGREGATING = 0.9
UNKNOWN_PERSON = -1
# Judgments in a block: 2,000 to 8,000 were about as fast, the last with few dimensions faster.
BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments as tensors, ready for the model.

    Attributes
    ----------
    pairs : Tensor of shape (3, n)
        The pairs that leave out each of the three objects, as `pair_ids` numbers them.
    odd : Tensor of shape (n,)
        Position of the odd one.
    anchor : Tensor of shape (n,) or None
        Position of the anchor, -1 for none; None if no judgment has one.
    weight : Tensor of shape (n,) or None
        How many equal judgments a row stands for; None if each is its own.
    n_objects : int
        How many objects there are, judged or not.
    total : int
        How many rows the data have of which these are a part.
    rows : Tensor of shape (n,), slice or None
        Which of them these are; None if they are all.
    person : Tensor of shape (n,) or None
        Who answered, as a number among the people that the model knows, -1 for
        somebody else; None if the model does not ask.
    places : Tensor of shape (3, n) or None
        Where each of the three objects stood on the screen, 0 to 2 from left to right; None if
        the model does not ask or nobody knows.
    comes_again : bool
        Whether similarities of these pairs are asked for many times.
    by_place : bool
        Whether the three stand in the order of their places here, and not of their numbers.
    """

    pairs: Tensor
    odd: Tensor
    anchor: Tensor | None
    weight: Tensor | None
    n_objects: int
    total: int
    rows: Tensor | slice | None = None
    person: Tensor | None = None
    places: Tensor | None = None
    comes_again: bool = False
    by_place: bool = False

    @classmethod
    def of(
        cls,
        triplets: Triplets | Judgments,
        device: torch.device | str = "cpu",
        people: Sequence[Any] | None = None,
        where: bool = False,
    ) -> Judgments:
        """One row per judgment, in the order of `triplets`.

        `people` are the labels that persons are numbered by, if the model asks who answered;
        `where` says whether it asks where objects stood.
        """
        if isinstance(triplets, Judgments):
            return triplets
        places = places_of(triplets) if where else None
        return Judgments(
            pair_ids(_to(triplets.objects, device), triplets.n_objects),
            _to(triplets.odd, device),
            _to(triplets.anchor, device) if triplets.anchored.any() else None,
            None,
            triplets.n_objects,
            len(triplets),
            person=None if people is None else _to(person_numbers(triplets, people), device),
            places=None if places is None else _to(places.T, device).contiguous(),
        )

    @classmethod
    def aggregated(
        cls,
        triplets: Triplets,
        device: torch.device | str = "cpu",
        people: Sequence[Any] | None = None,
        where: bool = False,
    ) -> Judgments:
        """One weighted row per distinct judgment, where that saves a tenth of the rows.

        The log-likelihood is the same; its cost depends on the distinct judgments. Equal
        judgments of two people are distinct if the model asks who answered, and of two orders
        on the screen if it asks where objects stood.
        """
        beside = None if people is None else person_numbers(triplets, people)
        places = places_of(triplets) if where else None
        if places is not None:
            order = places @ (9, 3, 1)
            beside = order if beside is None else (beside + 1) * 27 + order
        first, counts = triplets.distinct_judgments(beside)
        if len(first) > WORTH_AGGREGATING * len(triplets):
            return cls.of(triplets, device, people, where)
        rows = cls.of(triplets[first], device, people, where)
        weight = torch.as_tensor(counts, dtype=torch.get_default_dtype(), device=device)
        return replace(rows, weight=weight)

    def __len__(self) -> int:
        return len(self.odd)

    def __getitem__(self, rows: Tensor | slice) -> Judgments:
        """Some rows, as a part of these."""
        return replace(
            self,
            pairs=self.pairs[:, rows],
            odd=self.odd[rows],
            anchor=None if self.anchor is None else self.anchor[rows],
            weight=None if self.weight is None else self.weight[rows],
            rows=rows,
            person=None if self.person is None else self.person[rows],
            places=None if self.places is None else self.places[:, rows],
            comes_again=False,
        )

    def coming_again(self) -> Judgments:
        """The same, worth preparing for being asked many times."""
        prepared = replace(self, comes_again=True)
        if self.places is None or self.anchor is not None:
            return prepared
        # Favours of places are quickly added to answers that stand in the order of places.
        at = self.places.argsort(0)
        return replace(
            prepared,
            pairs=self.pairs.gather(0, at),
            odd=self.places.gather(0, self.odd.unsqueeze(0)).squeeze(0),
            places=self.places.gather(0, at),
            by_place=True,
        )

    @cached_property
    def pattern(self) -> PairPattern:
        """The pairs as a pattern, which takes longer to make than to use."""
        return PairPattern.of(self.pairs, self.n_objects)

    @cached_property
    def objects(self) -> Tensor:
        """The three objects of every judgment, in the order of the pairs without them, (3, n)."""
        in_pairs = self.pairs // self.n_objects + self.pairs % self.n_objects
        # Each is in two of the pairs, and is left out by the third.
        return in_pairs.sum(0) // 2 - in_pairs

    @cached_property
    def blocks(self) -> list[Judgments]:
        """The same in parts, so small that what is computed of one stays in the cache."""
        return [self[rows] for rows in torch.arange(len(self)).to(self.odd.device).split(BLOCK)]

    @cached_property
    def order_by_object(self) -> tuple[Tensor, Tensor]:
        """The places of all objects, first, second and third, in order of their numbers."""
        numbers, places = self.objects.flatten().sort()
        return places, numbers

    @cached_property
    def order_by_person(self) -> tuple[Tensor, Tensor]:
        """The judgments in order of who made them, and the numbers of these people."""
        assert self.person is not None
        numbers, places = self.person.sort()
        return places, numbers

    @cached_property
    def chance(self) -> Tensor:
        """The probability of an answer at random, (1,), or (n,) where some have an anchor."""
        if self.anchor is None:
            return torch.full((1,), 1 / 3, device=self.odd.device)
        return 1 / (3.0 - (self.anchor >= 0).float())

    @cached_property
    def place_indicators(self) -> Tensor:
        """Whether an answer stood at the first and at the second place, (2, answers, n), 0.0 or 1.

        If at neither, it stood at the third. The answer is the odd one, or with an anchor the
        object that is kept with it.
        """
        assert self.places is not None
        at = self.places
        if self.anchor is not None:
            anchor = self.anchor.clamp(min=0)
            kept = torch.stack([(3 - anchor - odd).clamp(0, 2) for odd in range(3)])
            at = torch.where(self.anchor >= 0, at.gather(0, kept), at)
        return torch.stack([(at == place).float() for place in range(2)])

    @cached_property
    def told(self) -> tuple[Judgments, Judgments, Tensor]:
        """Those of people who are known, all others, and where each row is among them."""
        assert self.person is not None
        known, others = ((self.person >= 0) == side for side in (True, False))
        rows = [side.nonzero().squeeze(-1) for side in (known, others)]
        by_known, by_others = (replace(self[side], comes_again=self.comes_again) for side in rows)
        return by_known, by_others, torch.cat(rows).argsort()

    def by(self, person: int = UNKNOWN_PERSON) -> Judgments:
        """The same, asked of one person; by default of nobody who is known."""
        return replace(self, person=torch.full_like(self.odd, person))

    def about(self, pairs: Tensor, n_objects: int) -> Judgments:
        """The same answers to questions about other objects."""
        return replace(self, pairs=pairs, n_objects=n_objects)

    def parts(self, size: int) -> list[Judgments]:
        """Random disjoint parts of at most `size` rows, each laid out for fast access.

        Cutting up the data once costs less than gathering rows at every step, and
        neighbouring rows then look up neighbouring similarities.
        """
        shuffled = torch.randperm(len(self), device=self.odd.device).split(size)
        return [self[rows[self.pairs[2, rows].argsort()]] for rows in shuffled]


def pair_ids(objects: Tensor, m: int) -> Tensor:
    """Numbers i·m + j of the pairs that leave out each of three of `m` objects, (3, n)."""
    i, j, k = objects.unbind(-1)
    return torch.stack([j * m + k, i * m + k, i * m + j])


def person_numbers(triplets: Triplets, people: Sequence[Any]) -> NDArray[np.int64]:
    """The place of each judgment's participant among `people`, -1 for anybody else."""
    if triplets.participants is None:
        return np.full(len(triplets), UNKNOWN_PERSON)
    return pd.Index(people).get_indexer(pd.Index(triplets.participants)).astype(np.int64)


def _to(array: np.ndarray, device: torch.device | str) -> Tensor:
    return torch.as_tensor(array.astype(np.int64), device=device)


def pooled(sets: Sequence[Judgments]) -> tuple[Judgments, Tensor]:
    """The distinct judgments of several sets, and how often each was made in each set.

    Parameters
    ----------
    sets : sequence of Judgments
        Of the same objects, without people.

    Returns
    -------
    Judgments
        One row for every judgment that is in any of the sets.
    Tensor of shape (sets, rows)
        How often it was made.
    """
    m = sets[0].n_objects
    keys, counts = [], []
    for each in sets:
        anchor = each.odd.new_full((), -1) if each.anchor is None else each.anchor
        question = (each.pairs[2] * m + each.pairs[0] % m) * 4 + anchor + 1
        keys.append(question * 3 + each.odd)
        plain = torch.ones(len(each), device=each.odd.device)
        counts.append(plain if each.weight is None else each.weight)
    distinct, inverse = torch.cat(keys).unique(return_inverse=True)
    first = torch.empty_like(distinct)
    first.scatter_(0, inverse, torch.arange(len(inverse), device=inverse.device))
    members = torch.arange(len(sets), device=inverse.device)
    owner = members.repeat_interleave(torch.tensor([len(each) for each in sets]).to(members))
    weights = torch.zeros(len(sets), len(distinct), device=inverse.device)
    weights.index_put_((owner, inverse), torch.cat(counts), accumulate=True)
    anchors = [each.odd * 0 - 1 if each.anchor is None else each.anchor for each in sets]
    anchored = any(each.anchor is not None for each in sets)
    rows = Judgments(
        torch.cat([each.pairs for each in sets], dim=1)[:, first],
        torch.cat([each.odd for each in sets])[first],
        torch.cat(anchors)[first] if anchored else None,
        None,
        m,
        len(distinct),
    )
    return rows, weights
