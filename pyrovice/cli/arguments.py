"""Priors, guides and training as options of the command line."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pyrovice as pv
from pyrovice.cli.inputs import check_table
from pyrovice.errors import DataError

if TYPE_CHECKING:
    import torch

    from pyrovice.model.priors import Prior


class PriorName(StrEnum):
    """Priors that have a name on the command line."""

    spike_slab = "spike-slab"
    learned = "learned"
    horseshoe = "horseshoe"
    ard = "ard"
    cumulative = "cumulative"
    exponential = "exponential"


class GuideName(StrEnum):
    """Guides that have a name on the command line."""

    mean_field = "mean-field"
    low_rank = "low-rank"
    point = "map"


class ChoiceName(StrEnum):
    """Choices that have a name on the command line."""

    dot_product = "dot-product"
    cosine = "cosine"
    euclidean = "euclidean"
    contrast = "contrast"


# Of --rate: chosen on validation judgments.
AUTO = "auto"

PARAMETERS = {
    PriorName.spike_slab: ("spike", "slab", "pi"),
    PriorName.learned: ("spike", "slab", "pi"),
    PriorName.horseshoe: ("scale", "slab"),
    PriorName.ard: ("scale",),
    PriorName.cumulative: ("spike", "slab"),
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
Choice = Annotated[ChoiceName, typer.Option("--choice", help="How alike two objects look.")]
Lapse = Annotated[
    str | None,
    typer.Option("--lapse", help="Share of answers at random: a number, or 'learn'."),
]
Places = Annotated[
    bool, typer.Option("--places", help="Learn whether people favour a place on the screen.")
]
People = Annotated[
    bool,
    typer.Option("--people", help="People differ: weights and a temperature for each of them."),
]
Groups = Annotated[
    Path | None,
    typer.Option("--groups", help="With --people: a .csv or .tsv with columns person and group."),
]
Device = Annotated[
    str, typer.Option("--device", help="Where torch computes, such as cpu or cuda:0.")
]


def choose_rate(
    text: str | None, prior: PriorName | None, guide: GuideName, validation: str | None
) -> float | str | None:
    """A number, or "auto" if everything that it needs is there."""
    if text is None:
        return None
    if text == AUTO:
        if (prior, guide) != (PriorName.exponential, GuideName.point) or validation is None:
            raise typer.BadParameter(
                "--rate auto is for --prior exponential with --guide map, and is chosen on "
                "judgments that are not fitted: --validation FILE."
            )
        return AUTO
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"--rate {text}: expected a number such as 5, or auto.") from error


def choose_prior(
    name: PriorName | None, features: list[Path] | None, **given: float | None
) -> Prior:
    """The prior of that name, or of these features; refuses parameters of another."""
    if features:
        others = [f"--{key}" for key, value in given.items() if value is not None]
        if name is not None or others:
            raise typer.BadParameter(
                f"--features is a prior of its own; leave {', '.join(others) or '--prior'} out."
            )
        return features_in(features)
    name = name or PriorName.spike_slab
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
        PriorName.cumulative: pv.CumulativeShrinkage,
        PriorName.exponential: dist.Exponential,
    }


def features_in(paths: list[Path]) -> pv.Features:
    """The features in files, a block each, called after its file."""
    if len(paths) == 1:
        return pv.Features(paths[0])
    blocks = {path.stem: path for path in paths}
    if len(blocks) < len(paths):
        raise typer.BadParameter("Two files of --features have the same name; rename one.")
    return pv.Features(blocks)


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


def choose_choice(name: ChoiceName, lapse: str | None, places: bool) -> Any:
    """The choice of that name; what is learned has the priors that the docstrings name."""
    import pyro.distributions as dist

    given: dict[str, Any] = {}
    if lapse == "learn":
        given["lapse"] = dist.Beta(1.0, 20.0)
    elif lapse is not None:
        try:
            given["lapse"] = float(lapse)
        except ValueError as error:
            raise typer.BadParameter(
                f"--lapse {lapse}: expected a share such as 0.05, or learn."
            ) from error
    if places:
        given["position"] = dist.Normal(0.0, 0.3)
    classes = {
        ChoiceName.dot_product: pv.choices.DotProduct,
        ChoiceName.cosine: pv.choices.Cosine,
        ChoiceName.euclidean: pv.choices.Euclidean,
        ChoiceName.contrast: pv.choices.Contrast,
    }
    return classes[name](**given)


def choose_people(wanted: bool, groups: Path | None, data: pv.Triplets) -> pv.People | None:
    """One mind, or people who differ, in groups if a file says so."""
    if groups is None:
        return pv.People() if wanted else None
    if not wanted:
        raise typer.BadParameter("--groups says which groups people are in, and needs --people.")
    return pv.People(groups=read_groups(groups, data))


def read_groups(path: Path, data: pv.Triplets) -> dict[Any, str]:
    """The group of each person, from a table of person and group."""
    check_table(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected a table of person and group.")
    from pyrovice.data.named_tables import read_words
    from pyrovice.data.wording import first_few

    try:
        table = read_words(path)
    except ValueError as error:
        raise DataError(f"{path} does not hold a table of person and group ({error}).") from error
    if not {"person", "group"} <= set(table):
        raise DataError(
            f"{path} has the columns {', '.join(map(str, table))}; expected person and group."
        )
    table = table.dropna(subset=["person", "group"])
    twice = table["person"][table["person"].duplicated()]
    if len(twice):
        raise DataError(f"{path} names {first_few(twice)} more than once; expected a row each.")
    # A file has text where the judgments may have numbers.
    labels = {str(person): person for person in data.people()}
    return {labels.get(who, who): group for who, group in table[["person", "group"]].to_numpy()}


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
