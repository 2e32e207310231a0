"""The command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Sparse, non-negative embeddings from odd-one-out judgments.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def main() -> None:
    """Sparse, non-negative embeddings from odd-one-out judgments."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the figures.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the fit.")] = 0,
) -> None:
    """Fit the built-in example, print what was found and draw it.

    Example: pyrovice demo --output figures
    """
    from pyrovice.demo import run

    run(output, seed)
