"""Priors, guides and training as options of the command line."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pyrovice as pv

if TYPE_CHECKING:
    import torch

    from pyrovice.model.priors import Prior


class PriorName(StrEnum):
    """Priors that have a name on the command line."""

    spike_slab = "spike-slab"
    learned = "learned"
    horseshoe = "horseshoe"
    ard = "ard"
    exponential = "exponential"


class GuideName(StrEnum):
    """Guides that have a name on the command line."""

    mean_field = "mean-field"
    low_rank = "low-rank"
    point = "map"


PARAMETERS = {
    PriorName.spike_slab: ("spike", "slab", "pi"),
    PriorName.learned: ("spike", "slab", "pi"),
    PriorName.horseshoe: ("scale", "slab"),
    PriorName.ard: ("scale",),
    PriorName.exponential: ("rate",),
}

Dimensions = Annotated[
    str, typer.Option("--dimensions", "-d", help="How many to start from, or 'auto'.")
]
Guide = Annotated[GuideName, typer.Option("--guide", help="Shape of the posterior.")]
Rank = Annotated[int | None, typer.Option("--rank", min=1, help="Of --guide low-rank.")]
Paper = Annotated[bool, typer.Option("--paper", help="Train by the paper's recipe, which is slow.")]
LearningRate = Annotated[
    float | None, typer.Option("--learning-rate", help="Adam's, at the start.")
]
BatchSize = Annotated[int | None, typer.Option("--batch-size", min=1, help="Judgments per step.")]
MaxEpochs = Annotated[
    int | None, typer.Option("--max-epochs", min=1, help="Train for at most this many.")
]
Device = Annotated[
    str, typer.Option("--device", help="Where torch computes, such as cpu or cuda:0.")
]


def choose_prior(name: PriorName, **given: float | None) -> Prior:
    """The prior of that name; refuses parameters of another."""
    parameters = {key: value for key, value in given.items() if value is not None}
    for key in parameters:
        if key not in PARAMETERS[name]:
            fitting = ", ".join(other for other in PriorName if key in PARAMETERS[other])
            raise typer.BadParameter(f"--{key} is for --prior {fitting}, but this is {name}.")
    if name is PriorName.exponential and not parameters.get("rate", 0) > 0:
        raise typer.BadParameter("--prior exponential needs a positive --rate, for example 5.")
    return _prior_classes()[name](**parameters)


def _prior_classes() -> dict[PriorName, Any]:
    import pyro.distributions as dist

    return {
        PriorName.spike_slab: pv.SpikeSlab,
        PriorName.learned: pv.LearnedSpikeSlab,
        PriorName.horseshoe: pv.Horseshoe,
        PriorName.ard: pv.ARD,
        PriorName.exponential: dist.Exponential,
    }


def choose_grid(
    spike: list[float] | None, slab: list[float] | None, pi: list[float] | None, paper: bool
) -> list[pv.SpikeSlab]:
    """Every combination whose spike is narrower than its slab."""
    if paper and (spike or slab or pi):
        raise typer.BadParameter("--paper-grid has its own --spike, --slab and --pi.")
    if paper:
        return pv.priors.paper_grid()
    one = pv.SpikeSlab()
    axes = product(spike or [one.spike], slab or [one.slab], pi or [one.pi])
    priors = [pv.SpikeSlab(*numbers) for numbers in axes if numbers[0] < numbers[1]]
    if not priors:
        raise typer.BadParameter("No --spike is narrower than a --slab.")
    return priors


def choose_guide(name: GuideName, rank: int | None) -> Any:
    """The guide of that name."""
    if (name is GuideName.low_rank) != (rank is not None):
        raise typer.BadParameter("--guide low-rank and --rank need each other.")
    if rank is not None:
        return pv.LowRank(rank)
    return pv.MAP() if name is GuideName.point else pv.MeanField()


def choose_training(
    paper: bool, learning_rate: float | None, batch_size: int | None, max_epochs: int | None
) -> pv.Training:
    """The default recipe or the paper's, with what was given changed."""
    given: dict[str, Any] = {
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "max_epochs": max_epochs,
    }
    recipe = pv.Training.paper() if paper else pv.Training()
    return replace(recipe, **{name: value for name, value in given.items() if value is not None})


def choose_dimensions(text: str) -> int | str:
    """A number, or "auto"."""
    if text == "auto":
        return text
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise typer.BadParameter(f"--dimensions {text}: expected a positive number, or auto.")
    return int(text)


def choose_device(name: str) -> torch.device:
    """A device on which a number can be put."""
    import torch

    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise typer.BadParameter(f"--device {name} cannot be used here ({reason}).") from error
