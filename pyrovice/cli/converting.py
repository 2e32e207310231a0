"""The command that brings judgments of any kind into a plain file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.inputs import all_or_none, check_output, read_judgments
from pyrovice.cli.options import Data, Format, Json, Names, Part, Quiet, Seed
from pyrovice.errors import DataError


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
    participant: Annotated[
        str | None, typer.Option(help="Its column that says who judged.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Write a part of the triplets here, to test with.")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How large a part --held-out gets.")
    ] = 0.1,
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
    holds what: --objects left,middle,right --odd answer.
    """
    outputs = [path for path in (output, held_out) if path is not None]
    for path in outputs:
        check_output(path)
    columns = {"odd": odd, "position": position, "anchor": anchor, "participant": participant}
    columns = {name: column for name, column in columns.items() if column is not None}
    if objects is not None:
        judgments = _from_table(Path(data), objects, columns, names)
    elif columns:
        raise typer.BadParameter(f"--{next(iter(columns))} needs --objects a,b,c beside it.")
    else:
        bad = "leave out" if leave_out_bad_rows else None
        options = {"first_id": first_id, "bad_rows": bad, "unpacked_limit": unpacked_limit}
        judgments = read_judgments(data, format, names, part, **options)
    parts = (judgments,) if held_out is None else judgments.split(1 - share, share, seed=seed)
    with all_or_none() as written:
        for some, path in zip(parts, outputs, strict=True):
            some.write(path, escape_formulas=escape_formulas)
            written.append(path)
    record = {
        "judgments": len(judgments),
        "objects": judgments.n_objects,
        "written": {str(path): len(some) for path, some in zip(outputs, parts, strict=True)},
    }
    lines = [f"  {len(some):,} to {path}" for some, path in zip(parts, outputs, strict=True)]
    text = "\n".join([str(judgments.reading or judgments), "Written:", *lines])
    answer(text, record, as_json=json, quiet=quiet)


def _from_table(
    path: Path, objects: str, columns: dict[str, Any], names: Path | None
) -> pv.Triplets:
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected a table with a header.")
    shown = [name.strip() for name in objects.split(",")]
    if len(shown) != 3:
        raise typer.BadParameter(f"--objects {objects}: expected three columns, such as a,b,c.")
    if ("odd" in columns) == ("position" in columns):
        raise typer.BadParameter("--objects needs either --odd or --position beside it.")
    import pandas as pd

    try:
        # Whatever separates the columns, the header shows it.
        table = pd.read_csv(path, sep=None, engine="python")
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{path} is not a table with a header ({error}).") from error
    from pyrovice.data.readers.finishing import read_names

    return pv.Triplets.from_dataframe(
        table, objects=shown, names=None if names is None else read_names(names), **columns
    )


COMMANDS = {convert: "pyrovice convert example -o train.csv --held-out test.csv --share 0.1"}
