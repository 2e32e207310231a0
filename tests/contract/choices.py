"""Choices that must keep the same promises as the paper's."""

import pyro
import pyro.distributions as dist
import torch

import pyrovice as pv


def lapses(X, judgments):
    """A user's choice of four lines: some answers are guesses."""
    lapse = pyro.sample("lapse", dist.Beta(1.0, 20.0))
    log_p = pv.choices.similarities(X, judgments).log_softmax(-1)
    return torch.logaddexp(log_p + torch.log1p(-lapse), torch.log(lapse / 3))


def attention(X, judgments):
    """Dimensions count more or less in a comparison than their weights say."""
    with pyro.plate("dimension", X.shape[-1], dim=-1):
        weight = pyro.sample("weight", dist.LogNormal(0.0, 0.3))
    return pv.choices.similarities(X * weight, judgments).log_softmax(-1)


def by_hand(X, judgments):
    """The paper's choice, as a user would write it."""
    return pv.choices.similarities(X, judgments).log_softmax(-1)


CHOICES = {
    "DotProduct": pv.choices.DotProduct(),
    "DotProduct-learned": pv.choices.DotProduct(
        temperature=dist.LogNormal(0.0, 0.3),
        lapse=dist.Beta(1.0, 20.0),
        position=dist.Normal(0.0, 0.3),
    ),
    "Cosine": pv.choices.Cosine(),
    "Euclidean": pv.choices.Euclidean(lapse=0.05, position=(0.2, 0.0, -0.2)),
    "Contrast": pv.choices.Contrast(),
    "by hand": by_hand,
    "lapses": lapses,
    "attention": attention,
}
SITES = {
    "lapses": {"lapse": ()},
    "attention": {"weight": "dimensions"},
    "DotProduct-learned": {"temperature": (), "lapse": (), "position": (3,)},
    "Cosine": {"temperature": ()},
    "Contrast": {"distinctive": ()},
}
