"""Dot products of few of all pairs of objects, again and again.

A batch of judgments asks for some of the m² similarities of m objects, and for the same ones in
every step. Which these are is written down once, as the pattern of a sparse matrix, so that no
others are computed, and none of the gradient's zeros are multiplied.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# Against all m² similarities, .05 to .7 of the time up to here and 1.5 times at three times as many
# pairs, for 200 to 4,000 objects and 20 to 100 dimensions on one core.
MOST_PAIRS_PER_ENTRY = 0.2
# Fewer similarities are quickly computed, all of them.
FEWEST_ENTRIES = 2**17


def are_few_pairs(m: int, pairs: int) -> bool:
    """Whether so many pairs are few of all pairs of `m` objects, which are many."""
    return m * m >= FEWEST_ENTRIES and pairs <= MOST_PAIRS_PER_ENTRY * m * m


def worth_a_pattern(m: int, pairs: Tensor) -> bool:
    """Whether a pattern of these pairs of `m` objects pays, and can be used here."""
    here = pairs.device.type == "cpu" and torch.backends.mkl.is_available()
    return here and are_few_pairs(m, pairs.numel())


@dataclass(frozen=True, eq=False)
class PairPattern:
    """Which pairs are asked for, as sparse matrices of m x m.

    Attributes
    ----------
    distinct : Tensor
        A sparse matrix of zeros with an entry for every pair that is asked for.
    back : Tensor of shape (pairs,)
        The entry of each pair.
    row_starts, columns : Tensor
        All pairs and their mirror images in order of their first object: where each object's
        begin, and the second objects.
    source : Tensor
        Which pair each of these is.
    """

    distinct: Tensor
    back: Tensor
    row_starts: Tensor
    columns: Tensor
    source: Tensor

    @classmethod
    def of(cls, pairs: Tensor, m: int) -> PairPattern:
        """The pattern of pairs that are numbered i·m + j."""
        asked, back = pairs.flatten().unique(return_inverse=True)
        first, second = pairs.flatten() // m, pairs.flatten() % m
        both_ways = torch.cat([first * m + second, second * m + first]).argsort()
        rows, columns = torch.cat([first, second]), torch.cat([second, first])
        zeros = torch.zeros_like(asked, dtype=torch.get_default_dtype())
        with warnings.catch_warnings():
            # PyTorch says once that these matrices are in beta.
            warnings.filterwarnings("ignore", "Sparse CSR tensor support", UserWarning)
            distinct = _sparse(_starts(asked // m, m), asked % m, zeros)
        # Half as long numbers, because there are as many of them as there are judgments, and more.
        source = (both_ways % pairs.numel()).int()
        return cls(distinct, back.int(), _starts(rows, m), columns[both_ways].int(), source)

    def products(self, X: Tensor) -> Tensor:
        """The dot product of each pair of rows of X, (pairs,)."""
        found: Tensor = _Products.apply(X, self)
        return found


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, pattern: PairPattern) -> Tensor:
        ctx.save_for_backward(X)
        ctx.pattern = pattern
        sampled = torch.sparse.sampled_addmm(pattern.distinct.to(X.dtype), X, X.mT, beta=0.0)
        return sampled.values().index_select(0, pattern.back)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None]:
        (X,), pattern = ctx.saved_tensors, ctx.pattern
        if torch.is_grad_enabled():
            # Somebody wants second derivatives, and autograd knows them for dense matrices.
            m = len(X)
            rows = torch.arange(m).repeat_interleave(pattern.row_starts.diff())
            at = rows * m + pattern.columns
            slopes = slope.index_select(0, pattern.source)
            return X.new_zeros(m * m).index_add(0, at, slopes).unflatten(0, (m, m)) @ X, None
        slopes = _sparse(pattern.row_starts, pattern.columns, slope.index_select(0, pattern.source))
        return slopes @ X, None


def _starts(rows: Tensor, m: int) -> Tensor:
    """Where each of `m` rows begins among entries with these row numbers, and where all end."""
    return torch.cat([rows.new_zeros(1), rows.bincount(minlength=m).cumsum(0)]).int()


def _sparse(row_starts: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    m = len(row_starts) - 1
    # The constructor would look at all indices, in every step. A pair may be asked for twice, of
    # which the product of matrices makes the sum.
    return torch.sparse_csr_tensor(
        row_starts, columns.int(), values, (m, m), check_invariants=False
    )
