import pytest
import torch

from pyrovice.model import judgments as tensors
from pyrovice.model.choices.weighted_pairs import weighted_similarity
from pyrovice.model.judgments import Judgments, pair_ids

M, D, P, N = 6, 3, 4, 17


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(tensors, "BLOCK", 5)
    torch.manual_seed(0)
    objects = torch.stack([torch.randperm(M)[:3].sort().values for _ in range(N)])
    # The last person made no judgment, and the last object was not judged.
    objects[objects == M - 1] = 0
    person = torch.randint(P - 1, (N,))
    odd = torch.zeros(N, dtype=torch.long)
    return Judgments(pair_ids(objects, M), odd, None, None, M, N, person=person)


@pytest.fixture
def parts():
    torch.manual_seed(1)
    X, weight = torch.rand(M, D, dtype=torch.double), torch.rand(P, D, dtype=torch.double)
    return X.requires_grad_(), weight.requires_grad_()


def test_similarities_are_weighted_by_who_judged(asked, parts):
    X, weight = parts
    found = weighted_similarity(X, weight, asked)
    for n, (i, j, k) in enumerate(asked.objects.T):
        w = weight[asked.person[n]]
        for place, (a, b) in enumerate(((j, k), (i, k), (i, j))):
            assert found[place, n].item() == pytest.approx((w * X[a] * X[b]).sum().item())


def test_first_and_second_derivatives_are_those_of_differences(asked, parts):
    assert torch.autograd.gradcheck(lambda *at: weighted_similarity(*at, asked), parts)
    assert torch.autograd.gradgradcheck(lambda *at: weighted_similarity(*at, asked), parts)
