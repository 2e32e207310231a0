"""The command that brings judgments of any kind into a plain file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.inputs import (
    all_or_none,
    check_output,
    check_table,
    read_judgments,
    write_table,
)
from pyrovice.cli.options import Data, Format, Json, Names, Part, Quiet, Seed
from pyrovice.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def convert(
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help=".csv or .tsv for names; .npy or .txt for ids, the odd one last."
        ),
    ],
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    first_id: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Where ids begin, if not where the format says."),
    ] = None,
    leave_out_bad_rows: Annotated[
        bool, typer.Option("--leave-out-bad-rows", help="Leave out rows that are not judgments.")
    ] = False,
    unpacked_limit: Annotated[
        int | None,
        typer.Option(min=1, help="Bytes that a packed file may unpack to; 2 GiB by default."),
    ] = None,
    objects: Annotated[
        str | None,
        typer.Option(help="For a table of your own: its three columns of objects, such as a,b,c."),
    ] = None,
    odd: Annotated[str | None, typer.Option(help="Its column with the odd object ...")] = None,
    position: Annotated[
        str | None, typer.Option(help="... or with the odd one's place among the three, 1 to 3.")
    ] = None,
    anchor: Annotated[str | None, typer.Option(help="Its column with the anchor.")] = None,
    chosen: Annotated[
        str | None,
        typer.Option(help="... or, with --anchor, with what was chosen as like it."),
    ] = None,
    participant: Annotated[
        str | None, typer.Option(help="Its column that says who judged.")
    ] = None,
    reaction_time: Annotated[
        str | None, typer.Option(help="Its column with reaction times in milliseconds ...")
    ] = None,
    seconds: Annotated[bool, typer.Option("--seconds", help="... or in seconds.")] = False,
    set: Annotated[
        str | None, typer.Option(help="Its column that says which trials came together.")
    ] = None,
    catch: Annotated[
        str | None, typer.Option(help="Its column with 1, true, yes or catch for catch trials ...")
    ] = None,
    passed: Annotated[
        str | None,
        typer.Option(help="... and with 1 or true for those passed, if the answer does not tell."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of a text file that is not UTF-8, such as cp1252.")
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="Of an Excel workbook with several.")] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Write a part of the triplets here, to test with.")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How large a part --held-out gets.")
    ] = 0.1,
    catch_trials: Annotated[
        Path | None,
        typer.Option(help="Write who passed catch trials here, .csv or .tsv, for `participants`."),
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Keep spreadsheets from running names like =1+1."),
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rewrite judgments as a plain file; hold out a part.

    Every format of the field is read. For a table with columns of your own, say which
    holds what: --objects left,middle,right --odd answer. Its other columns are kept. Tables
    may be text, .xlsx, .parquet or records in JSON.
    """
    outputs = [path for path in (output, held_out) if path is not None]
    for path in (*outputs, catch_trials):
        if path is not None:
            check_output(path)
    if catch_trials is not None:
        check_table(catch_trials)
    columns = {
        "odd": odd,
        "position": position,
        "chosen": chosen,
        "anchor": anchor,
        "participant": participant,
        "reaction_time": reaction_time,
        "set": set,
        "catch": catch,
        "passed": passed,
    }
    given = {name: column for name, column in columns.items() if column is not None}
    options = {
        "first_id": first_id,
        "bad_rows": "leave out" if leave_out_bad_rows else None,
        "unpacked_limit": unpacked_limit,
        "encoding": encoding,
        "sheet": sheet,
        "reaction_time_unit": "s" if seconds else None,
        **_columns(objects, given),
    }
    judgments = read_judgments(data, format, names, part, **options)
    caught = None if catch_trials is None else _caught(judgments, data)
    parts = (judgments,) if held_out is None else judgments.split(1 - share, share, seed=seed)
    with all_or_none() as written:
        for some, path in zip(parts, outputs, strict=True):
            some.write(path, escape_formulas=escape_formulas)
            written.append(path)
        if caught is not None and catch_trials is not None:
            write_table(caught.set_index("participant"), catch_trials, overwrite=False)
            written.append(catch_trials)
    record = {
        "judgments": len(judgments),
        "objects": judgments.n_objects,
        "written": {str(path): len(some) for path, some in zip(outputs, parts, strict=True)},
        "catch_trials": None if caught is None else len(caught),
    }
    lines = [f"  {len(some):,} to {path}" for some, path in zip(parts, outputs, strict=True)]
    if caught is not None:
        lines.append(f"  {len(caught):,} catch trials to {catch_trials}")
    text = "\n".join([str(judgments.reading or judgments), "Written:", *lines])
    answer(text, record, as_json=json, quiet=quiet)


def _caught(judgments: pv.Triplets, data: str) -> pd.DataFrame:
    """Who passed catch trials, as the file says."""
    found = None if judgments.reading is None else judgments.reading.catch
    if found is None or "participant" not in found:
        raise DataError(
            f"{data} has no catch trials by participant to write; for a table of your own say "
            "which columns hold them: --catch and --participant."
        )
    return found


def _columns(objects: str | None, given: dict[str, str]) -> dict[str, Any]:
    """Which columns of a table of one's own hold what."""
    if objects is None:
        if given:
            option = next(iter(given)).replace("_", "-")
            raise typer.BadParameter(f"--{option} needs --objects a,b,c beside it.")
        return {}
    shown = [name.strip() for name in objects.split(",")]
    if len(shown) != 3:
        raise typer.BadParameter(f"--objects {objects}: expected three columns, such as a,b,c.")
    if len(given.keys() & {"odd", "position", "chosen"}) != 1:
        raise typer.BadParameter("--objects needs one of --odd, --position and --chosen beside it.")
    return {"objects": shown, **given}


COMMANDS = {convert: "pyrovice convert example -o train.csv --held-out test.csv --share 0.1"}
