"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Judgments: a file, a folder with train_90 and test_10, or the word 'example' for "
        "the built-in simulated ones. For tables with columns of your own see `convert`.",
    ),
]
SavedFit = Annotated[Path, typer.Argument(metavar="FIT", help="A fit, as `fit` wrote it.")]
Format = Annotated[
    str, typer.Option("--format", help="Format of the file; by default its content decides.")
]
Names = Annotated[
    Path | None,
    typer.Option("--names", help="Text file with one object name per line, for files of ids."),
]
Part = Annotated[
    str | None, typer.Option("--part", help="Of a folder: 'train', 'test' or 'inference'.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no summary; notes and errors stay.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for other programs.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
