import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pyrovice as pv
from pyrovice.model.choices import DotProduct, pairs
from pyrovice.model.judgments import Judgments


def asked(objects, m, anchor=None):
    """Judgments whose answers make no difference."""
    odd = np.zeros(len(objects), int) if anchor is None else (np.asarray(anchor) + 1) % 3
    return Judgments.of(pv.Triplets(objects, odd, names=range(m), anchor=anchor))


def log_likelihood(X, judgments):
    return DotProduct()(X, judgments).gather(-1, judgments.odd[:, None]).squeeze(-1)


def paper_probabilities(X, i, j, k):
    """Equation 1 of the paper, for the pairs that leave out i, j and k."""
    S = np.exp(X @ X.T)
    kept = np.array([S[j, k], S[i, k], S[i, j]])
    return kept / kept.sum()


def all_triplets(m):
    return np.array(list(itertools.combinations(range(m), 3)))


@pytest.fixture
def X():
    return np.random.default_rng(0).gamma(1.0, 0.7, (7, 3))


def test_probabilities_are_the_papers(X):
    objects = all_triplets(7)
    p = DotProduct()(torch.tensor(X), asked(objects, 7)).exp().numpy()
    expected = [paper_probabilities(X, *row) for row in objects]
    np.testing.assert_allclose(p, expected, rtol=1e-12)


def test_anchored_probabilities_are_the_two_allowed_ones(X):
    objects = all_triplets(7)
    anchor = np.arange(len(objects)) % 4 - 1
    p = DotProduct()(torch.tensor(X), asked(objects, 7, anchor)).exp()
    for row, a, got in zip(objects, anchor, p.numpy(), strict=True):
        expected = paper_probabilities(X, *row)
        if a >= 0:
            expected[a] = 0
            expected /= expected.sum()
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e2, 1e4])
def test_finite_with_finite_gradients_at_large_dot_products(scale):
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0))
    X = (X * (scale / 2) ** 0.5).requires_grad_()
    odd = np.arange(20) % 3
    anchor = np.where(np.arange(20) % 2, (odd + 1) % 3, -1)
    value = log_likelihood(X, Judgments.of(pv.Triplets(all_triplets(6), odd, anchor=anchor)))
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(X.grad).all()


def both_ways(monkeypatch, function):
    results = []
    for pairs_per_entry in (0.0, np.inf):
        monkeypatch.setattr(pairs, "PAIRS_PER_ENTRY", pairs_per_entry)
        results.append(function())
    return results


@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_computations_are_equal_gradients_included(monkeypatch, batch, dtype):
    generator = torch.Generator().manual_seed(1)
    m, d, n = 30, 5, 700
    X = torch.rand(*batch, m, d, generator=generator, dtype=dtype)
    objects = torch.stack([torch.randperm(m, generator=generator)[:3] for _ in range(n)])
    shown = asked(objects.sort(-1).values.numpy(), m)
    weight = torch.rand(*batch, n, 3, generator=generator, dtype=dtype)

    def value_and_gradient():
        leaf = X.clone().requires_grad_()
        value = DotProduct()(leaf, shown)
        (value * weight).sum().backward()
        return value.detach(), leaf.grad

    from_S, from_rows = both_ways(monkeypatch, value_and_gradient)
    accuracy = 1e-5 if dtype == torch.float32 else 1e-12
    for a, b in zip(from_S, from_rows, strict=True):
        torch.testing.assert_close(a, b, rtol=accuracy, atol=accuracy * 10)


def test_blocks_of_rows_are_joined_in_order(monkeypatch):
    X = torch.rand(9, 2, generator=torch.Generator().manual_seed(2))
    shown = asked(all_triplets(9), 9)
    whole = DotProduct()(X, shown)
    monkeypatch.setattr(pairs, "PAIRS_PER_ENTRY", np.inf)
    monkeypatch.setattr(pairs, "BLOCK", 7)
    torch.testing.assert_close(DotProduct()(X, shown), whole)


def test_too_many_objects_for_all_similarities(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_ENTRIES", 10)
    monkeypatch.setattr(
        pairs, "_from_all_similarities", lambda *_: pytest.fail("formed S after all")
    )
    DotProduct()(torch.rand(9, 2), asked(all_triplets(9), 9))


@pytest.mark.parametrize("way", ["_from_all_similarities", "_from_rows"])
def test_second_derivatives_exist(way):
    X = torch.rand(5, 2, dtype=torch.float64, requires_grad=True)
    numbers = torch.tensor([0 * 5 + 2, 1 * 5 + 2, 3 * 5 + 4])
    function = getattr(pairs, way)
    assert torch.autograd.gradgradcheck(lambda x: function(x, numbers), (X,))


embeddings = arrays(np.float64, (6, 3), elements=st.floats(0, 3))


def total(X, triplets):
    return log_likelihood(torch.tensor(np.ascontiguousarray(X)), Judgments.of(triplets)).sum()


@settings(max_examples=60, deadline=None)
@given(
    X=embeddings,
    relabel=st.permutations(range(6)),
    rows=st.permutations(range(20)),
    columns=st.permutations(range(3)),
    swap=st.permutations(range(3)),
    odd=arrays(np.int64, 20, elements=st.integers(0, 2)),
)
def test_names_order_and_places_do_not_matter(X, relabel, rows, columns, swap, odd):
    shown = all_triplets(6)
    before = total(X, pv.Triplets.from_array(shown, odd=odd))
    relabel, rows = np.array(relabel), np.array(rows)
    moved = np.empty_like(X)
    moved[relabel] = X[:, columns]
    other = relabel[shown][:, swap]
    position = np.array([swap.index(o) for o in odd])
    after = total(moved, pv.Triplets.from_array(other[rows], odd=position[rows], n_objects=6))
    np.testing.assert_allclose(after, before, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("size", [1.0, 12.0])  # with and without similarities beyond float32's exp
@pytest.mark.parametrize("anchored", [False, True])
def test_probabilities_by_stretches_are_those_of_the_choice(X, size, anchored, monkeypatch):
    monkeypatch.setattr(pairs, "STRETCH", 4)
    objects = all_triplets(len(X))
    anchor = np.arange(len(objects)) % 4 - 1 if anchored else None
    judgments = asked(objects, len(X), anchor)
    weights = torch.as_tensor(size * X, dtype=torch.float32)
    assert ((weights @ weights.mT).max() > pairs.LARGEST_EXPONENT) == (size > 1)
    found = torch.full((3, len(objects)), torch.nan)
    for rows, p in DotProduct().odd_in_stretches(weights, judgments):
        found[:, rows] = p
    expected = DotProduct()(weights, judgments).exp().mT
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=1e-6)
