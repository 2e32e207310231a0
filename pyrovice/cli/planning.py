"""Commands to use before and during the experiment: sample-size, next, simulate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.inputs import (
    all_or_none,
    check_output,
    check_table,
    read_embedding,
    read_judgments,
)
from pyrovice.cli.options import Json, Quiet, SavedFit, Seed


def sample_size(
    objects: Annotated[int, typer.Argument(min=3, help="How many objects.")],
    dimensions: Annotated[int, typer.Argument(min=1, help="How many dimensions at most.")],
    participants: Annotated[
        int | None, typer.Option(min=1, help="How many people share the judgments.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="By how much the error may be off.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Probability that it is off by more.")] = 0.001,
    levels: Annotated[
        int, typer.Option(min=1, help="How many values above zero a weight can take.")
    ] = 4,
    judgments: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Also simulate this many judgments and fit them; repeatable."),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="Simulate from this embedding or fit, for example of a pilot."),
    ] = None,
    anchored: Annotated[
        bool, typer.Option("--anchored", help="Simulate 'is this more like a or b?' instead.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=2, help="Fits for each simulated number.")] = 2,
    json: Json = False,
) -> None:
    """Say how many judgments an experiment needs.

    By the paper's bound, and with --judgments by simulation.
    """
    for name, given in (("--like", like is not None), ("--anchored", anchored)):
        if given and not judgments:
            raise typer.BadParameter(f"{name} is for simulations; add --judgments.")
    found = pv.bounds.design(
        objects,
        dimensions,
        participants=participants,
        epsilon=epsilon,
        delta=delta,
        levels=levels,
        judgments=judgments or (),
        embedding=None if like is None else read_embedding(like),
        anchored=anchored,
        seeds=seeds,
    )
    record = asdict(found) | {"enough": found.enough}
    del record["runs"]
    answer(found, record, as_json=json)


def next_(
    fit: SavedFit,
    data: Annotated[str, typer.Option(help="All judgments so far: a file, as for `fit`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="List of trials to write: .csv or .tsv.")
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="How many triplets.")] = 500,
    random: Annotated[
        float, typer.Option(min=0, max=1, help="Share asked at random, to test predictions on.")
    ] = 0.1,
    about: Annotated[
        list[str] | None,
        typer.Option(help="Learn how alike this object is to others; repeatable."),
    ] = None,
    dimension: Annotated[
        str | None, typer.Option(help="Learn the weights of this dimension, by number or name.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="Learn what this participant weighs, and ask them.")
    ] = None,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="Triplets that were asked may be asked again.")
    ] = False,
    catch: Annotated[int, typer.Option(min=0, help="Catch trials to add.")] = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose the triplets to ask next, as a list of trials.

    For jsPsych, PsychoPy or lab.js.
    """
    from pyrovice.data.writing import SEPARATOR_OF_ENDING
    from pyrovice.storage.atomic import whole_file

    check_table(output)
    check_output(output)
    known = pv.load(fit)
    people = known.model.known_people or ()
    chosen = pv.next_triplets(
        known,
        n,
        data=read_judgments(data, names=known.names),
        random=random,
        objects=about or None,
        dimension=int(dimension) if dimension is not None and dimension.isdigit() else dimension,
        # Labels of participants need not be text.
        person=next((label for label in people if str(label) == person), person),
        repeats=repeats,
        seed=seed,
    )
    trials = pv.trial_list(chosen, catch=catch, seed=seed)
    with whole_file(output) as file:
        trials.to_csv(file, sep=SEPARATOR_OF_ENDING[output.suffix], index=False)
    gain = chosen.groupby("role").gain.mean()
    said = ", ".join(
        f"{(chosen.role == role).sum():,} {word} (expected gain {mean:.4f} nats each)"
        for role, mean in gain.items()
        for word in [{"ask": "chosen", "random": "at random"}[str(role)]]
    )
    record = {"trials": len(trials), "gain": gain.to_dict(), "written": [str(output)]}
    answer(f"{len(trials):,} trials: {said}\nWritten: {output}", record, as_json=json, quiet=quiet)


def simulate(
    judgments: Annotated[int, typer.Argument(min=1, help="How many judgments.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .csv, .tsv, .npy or .txt.")
    ],
    like: Annotated[
        Path | None,
        typer.Option(help="The embedding to simulate from: a fit, .csv, .tsv, .npy or .txt."),
    ] = None,
    objects: Annotated[
        int | None, typer.Option(min=3, help="Without --like: make up this many objects ...")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(min=1, help="... in this many dimensions.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="Also write the embedding: .csv, .tsv or .txt.")
    ] = None,
    anchored: Annotated[
        float, typer.Option(min=0, max=1, help="Share of judgments that have an anchor.")
    ] = 0.0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write judgments that the model itself would make."""
    import pandas as pd

    from pyrovice.data.writing import write_embedding
    from pyrovice.model.simulation import plausible_embedding

    if (like is None) == (objects is None) or (objects is None) != (dimensions is None):
        raise typer.BadParameter("Give either --like, or both --objects and --dimensions.")
    outputs = [path for path in (output, truth) if path is not None]
    for path in outputs:
        check_output(path)
    if like is not None:
        embedding = read_embedding(like)
    else:
        assert objects is not None
        assert dimensions is not None
        embedding = pd.DataFrame(plausible_embedding(objects, dimensions, seed=seed))
    data = pv.simulate(embedding, judgments, seed=seed, anchored=anchored)
    with all_or_none() as done:
        data.write(output)
        done.append(output)
        if truth is not None:
            write_embedding(embedding, truth)
    written = [str(path) for path in outputs]
    record = {"judgments": len(data), "objects": data.n_objects, "written": written}
    answer(
        f"{len(data):,} SIMULATED judgments of {data.n_objects:,} objects\n"
        f"Written: {', '.join(written)}",
        record,
        as_json=json,
        quiet=quiet,
    )


COMMANDS = {
    sample_size: "pyrovice sample-size 100 10 --participants 50",
    next_: "pyrovice next my.fit --data train.csv -n 500 -o ask.csv",
    simulate: "pyrovice simulate 20000 --objects 50 --dimensions 5 -o judgments.csv",
}
