"""Commands for what reviewers ask: participants, split-half, compare-groups."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.arguments import Dimensions, choose_dimensions, read_groups
from pyrovice.cli.inputs import (
    all_or_none,
    check_output,
    check_table,
    read_judgments,
    with_catch_trials,
    write_table,
)
from pyrovice.cli.options import Data, Format, Json, Names, Part, Seed

if TYPE_CHECKING:
    from pyrovice.data.participants import Review, Rule


# What the columns of everybody are, said below the table.
MEANINGS = {
    "median_time": "median reaction time in milliseconds",
    "one_position": "largest share of answers at one place",
    "catch_failed": "how many catch trials were failed",
    "agreement": "share of answers that those of all others predict",
    "lapse": "share of answers that look like guesses",
}


class RuleName(StrEnum):
    """Rules for leaving people out that have a name on the command line."""

    things = "things"
    food = "food"
    too_fast = "too-fast"
    one_position = "one-position"
    quick = "quick"
    failed_catch = "failed-catch"


class Half(StrEnum):
    """What can be dealt into halves."""

    judgments = "judgments"
    people = "people"


def participants(
    data: Data,
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    rule: Annotated[
        list[RuleName] | None,
        typer.Option(
            help="Whom to exclude: 'things' and 'food' as the paper did, or by one of their rules; "
            "repeatable."
        ),
    ] = None,
    catch_trials: Annotated[
        Path | None,
        typer.Option(help="Who passed catch trials: a .csv or .tsv, as `convert` writes it."),
    ] = None,
    kept: Annotated[
        Path | None, typer.Option(help="Write the judgments of all others here, as `convert` does.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table of everybody here: .csv or .tsv."),
    ] = None,
    effect: Annotated[
        bool,
        typer.Option("--effect", help="Also say whether it matters that they are gone: 21 fits."),
    ] = False,
    dimensions: Dimensions = "auto",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what is known of everybody, and whom rules exclude.

    A row per person: judgments, median reaction time in milliseconds, the largest share of
    answers at one place, failed catch trials, agreement with the others, the share of guesses.
    """
    if not rule and (kept is not None or effect):
        option = "--effect" if effect else "--kept"
        raise typer.BadParameter(f"{option} needs to know whom to exclude; add --rule things.")
    for path in (kept, output):
        if path is not None:
            check_output(path)
    if output is not None:
        check_table(output)
    first = choose_dimensions(dimensions)
    judgments = read_judgments(data, format, names, part)
    if catch_trials is not None:
        judgments = with_catch_trials(judgments, catch_trials)
    review = pv.participants.review(judgments, *_rules(rule or []))
    changed = None
    if effect and review.excluded:
        changed = pv.exclusion_effect(judgments, review, seed=seed, dimensions=first)
    written = _written(review, judgments, output, kept)
    record = {
        "participants": review.table.reset_index(),
        "excluded": review.exclusions.reset_index(),
        "effect": None if changed is None else changed.table.reset_index(),
        "effect_p_value": None if changed is None else changed.p_value.to_dict(),
        "written": written,
    }
    shown = review.table if not rule else review.exclusions
    lines = [shown.drop(columns="excluded", errors="ignore").round(3).to_string()]
    meanings = [f"{name}: {MEANINGS[name]}" for name in shown if name in MEANINGS]
    lines.append("\n".join(meanings))
    if rule:
        lines = [repr(review), *(lines if review.excluded else [])]
    if changed is not None:
        lines.append(repr(changed))
    lines += [f"Written: {path}" for path in written]
    answer("\n".join(lines), record, as_json=json)


def _rules(names: list[RuleName]) -> list[Rule]:
    """The rules of these names, each of them once."""
    known = pv.participants
    sets: dict[RuleName, tuple[Rule, ...]] = {
        RuleName.things: known.THINGS,
        RuleName.food: known.FOOD,
        RuleName.too_fast: (known.TooFast(),),
        RuleName.one_position: (known.OnePosition(),),
        RuleName.quick: (known.QuickOnTheWhole(),),
        RuleName.failed_catch: (known.FailedCatch(),),
    }
    return list(dict.fromkeys(rule for name in names for rule in sets[name]))


def _written(
    review: Review, judgments: pv.Triplets, output: Path | None, kept: Path | None
) -> list[str]:
    with all_or_none() as written:
        if output is not None:
            write_table(review.table, output, overwrite=False)
            written.append(output)
        if kept is not None:
            review.kept(judgments).write(kept)
            written.append(kept)
        return [str(path) for path in written]


def split_half(
    data: Data,
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    by: Annotated[Half, typer.Option(help="What to deal into halves.")] = Half.judgments,
    splits: Annotated[int, typer.Option(min=1, help="Ways to split; two fits each.")] = 5,
    dimensions: Dimensions = "auto",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say how much comes back in other judgments or people.

    Halves are fitted apart and compared: the similarities of all pairs of objects, and
    dimensions with their best match. Chance is what exchanged objects would give.
    """
    first = choose_dimensions(dimensions)
    judgments = read_judgments(data, format, names, part)
    found = pv.split_half(judgments, by=by.value, splits=splits, seed=seed, dimensions=first)
    record = {
        "by": found.by,
        "summary": found.summary.to_dict("index"),
        "splits": found.table,
    }
    answer(found, record, as_json=json)


def compare_groups(
    data: Data,
    groups: Annotated[
        Path, typer.Option(help="Who is in which of two: a .csv or .tsv of person and group.")
    ],
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="How often people are exchanged; two fits each.")
    ] = 39,
    dimensions: Dimensions = "auto",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say whether the embeddings of two groups differ.

    Each group is fitted by itself, and then groups of the same sizes with people exchanged
    at random, for what differs by chance.
    """
    first = choose_dimensions(dimensions)
    judgments = read_judgments(data, format, names, part)
    found = pv.compare_groups(
        judgments,
        read_groups(groups, judgments),
        permutations=permutations,
        seed=seed,
        dimensions=first,
    )
    record: dict[str, Any] = {
        "groups": found.groups,
        "people": found.people,
        "judgments": found.judgments,
        "dimensions": [fit.n_dimensions for fit in found.fits],
        "observed": found.observed,
        "p_value": found.p_value.to_dict(),
        "chance": found.null,
    }
    answer(found, record, as_json=json)


COMMANDS = {
    participants: "pyrovice participants all.csv --rule things --kept kept.csv",
    split_half: "pyrovice split-half train.csv --by people",
    compare_groups: "pyrovice compare-groups train.csv --groups groups.csv",
}
