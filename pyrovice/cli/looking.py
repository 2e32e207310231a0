"""Commands that show what there is: demo, describe, evaluate, people, dimensions, label, report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.inputs import check_output, check_table, read_judgments, write_table
from pyrovice.cli.options import Data, Format, Json, Names, Overwrite, Part, Quiet, SavedFit, Seed


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the figures.")] = Path(
        "demo"
    ),
    seed: Seed = 0,
) -> None:
    """Fit the built-in example, print and draw what was found."""
    from pyrovice.cli.example_run import fit_the_example

    fit_the_example(output, seed)


def describe(
    data: Data, format: Format = "auto", names: Names = None, part: Part = None, json: Json = False
) -> None:
    """Say what is in a file of judgments, and what looks wrong."""
    found = read_judgments(data, format, names, part).describe()
    people = found.participants
    record = {
        "judgments": found.judgments,
        "objects": found.objects,
        "objects_judged": (found.sightings > 0).sum(),
        "triplets": found.triplets,
        "repeated": found.repeated,
        "anchored": found.anchored,
        "participants": None if people is None else len(people),
        "positions": found.positions.to_dict(),
        "coverage": found.coverage,
        "groups": found.groups,
        "format": None if found.reading is None else found.reading.format,
        "left_out": 0
        if found.reading is None
        else sum(len(rows.lines) for rows in found.reading.left_out),
        "notes": found.notes,
    }
    answer(found, record, as_json=json)


def evaluate(
    fit: SavedFit,
    data: Data,
    format: Format = "auto",
    part: Part = None,
    draws: Annotated[int, typer.Option(min=1, help="Posterior draws to average over.")] = 50,
    seed: Seed = 0,
    pruned: Annotated[
        bool, typer.Option("--pruned", help="Predict with the kept dimensions only.")
    ] = False,
    json: Json = False,
) -> None:
    """Score a fit on judgments that it has not seen."""
    found = pv.load(fit)
    judgments = read_judgments(data, format, found.names, part)
    scores = (found.prune() if pruned else found).evaluate(judgments, draws=draws, seed=seed)
    record = asdict(scores)
    if scores.ceiling_interval is None:
        # Of a few repeated questions it would be taken for more than it is.
        record |= {"ceiling": None, "ceiling_low": None}
    answer(scores, record, as_json=json)


def people(
    fit: SavedFit,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table here: .csv or .tsv.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Say how those who answered differ, of a fit with --people.

    A row per person: temperature and weights with their 90 % intervals.
    """
    if output is not None:
        check_output(output, overwrite)
        check_table(output)
    found = pv.load(fit)
    table = found.people()
    grouped = found.groups() if "group" in table else None
    record = {
        "people": table.reset_index(),
        "groups": None if grouped is None else grouped.reset_index(),
        "written": [] if output is None else [str(output)],
    }
    lines = [table[[name for name in table if not name.endswith("%")]].round(2).to_string()]
    if grouped is not None:
        lines.append(grouped.round(3).to_string())
    if output is not None:
        write_table(table, output, overwrite)
        lines.append(f"Written: {output}")
    answer("\n\n".join(lines), record, as_json=json)


def dimensions(
    fit: SavedFit,
    data: Data,
    format: Format = "auto",
    part: Part = None,
    resamples: Annotated[
        int, typer.Option(min=2, help="Refits to 80 % of the judgments; nine smaller ones follow.")
    ] = 12,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes to work in.")] = 1,
    store: Annotated[
        Path | None, typer.Option("--store", help="Folder to go on from after a stop.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Draw it here: .pdf, .svg or .png.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table here: .csv or .tsv.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how many dimensions are real, with an interval.

    DATA are the judgments that were fitted. Which dimensions come back in refits to parts of
    them, whatever the learning rate? A row per dimension, with the probability that it is real.
    """
    for path in (output, figure):
        if path is not None:
            check_output(path, overwrite)
    if output is not None:
        check_table(output)
    fitted = pv.load(fit)
    judgments = read_judgments(data, format, fitted.names, part)
    found = fitted.dimensionality(
        judgments, resamples=resamples, seed=seed, n_jobs=jobs, store=store, progress=not quiet
    )
    if figure is not None:
        pv.plot.dimensionality(found).savefig(figure)
    if output is not None:
        write_table(found.table, output, overwrite)
    written = [str(path) for path in (output, figure) if path is not None]
    record = {
        "count": found.count,
        "low": found.low,
        "high": found.high,
        "advice": found.advice,
        "more_judgments": found.more_judgments,
        "dimensions": found.table.reset_index(),
        "written": written,
    }
    meaning = f"returned: in how many of {resamples} refits to 80 % of the judgments it came back"
    text = "\n".join([repr(found), meaning, *(f"Written: {path}" for path in written)])
    answer(text, record, as_json=json, quiet=quiet)


def label(
    fit: SavedFit,
    names: Annotated[
        Path,
        typer.Argument(metavar="NAMES", help='Names that the page saved, or {"1": "animal", ...}.'),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the named fit goes.")],
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Give the dimensions of a fit the names that are in a file."""
    check_output(output, overwrite)
    named = pv.load(fit).label(names)
    named.save(output, overwrite=overwrite)
    called = [str(dim) for dim in named.embedding()]
    record = {"written": output, "dimensions": called}
    answer(f"{', '.join(called)}\nWritten: {output}", record, as_json=json, quiet=quiet)


def report(
    fit: SavedFit,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")],
    data: Annotated[
        str | None, typer.Option("--data", help="The judgments it was fitted to, if at hand.")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option("--held-out", help="Judgments to score it on.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option("--images", help="Folder with a picture of each object.")
    ] = None,
    dimensions: Annotated[
        bool,
        typer.Option("--dimensions", help="Count dimensions with an interval too: 21 more fits."),
    ] = False,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write an HTML page that shows and explains a fit."""
    check_output(output, overwrite)
    found = pv.load(fit)
    judgments = None if data is None else read_judgments(data, names=found.names)
    counted = None
    if dimensions:
        if judgments is None:
            raise typer.BadParameter(
                "--dimensions needs the judgments that were fitted: --data FILE."
            )
        counted = found.dimensionality(judgments, progress=not quiet)
    found.report(
        output,
        data=judgments,
        dimensionality=counted,
        held_out=None if held_out is None else read_judgments(held_out, names=found.names),
        images=images,
        overwrite=overwrite,
    )
    record = {"written": output, "dimensions": found.n_dimensions, "objects": len(found.names)}
    answer(f"Written: {output}", record, as_json=json, quiet=quiet)


COMMANDS = {
    demo: "pyrovice demo --output figures",
    describe: "pyrovice describe judgments.csv",
    evaluate: "pyrovice evaluate my.fit test.csv",
    people: "pyrovice people my.fit -o people.csv",
    dimensions: "pyrovice dimensions my.fit train.csv --figure dimensions.pdf",
    label: "pyrovice label my.fit names.json -o named.fit",
    report: "pyrovice report my.fit --data train.csv --held-out test.csv -o page.html",
}
