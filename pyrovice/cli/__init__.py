"""The command line: `pyrovice COMMAND`, one small file per group of commands.

Results go to stdout, in words or with ``--json`` for other programs; progress, notes and
errors go to stderr. The exit code is 0 when all went well, 1 when something could not be
done, which is said in a sentence, 2 when the command itself was not understood, and 130 or 143
when it was stopped by Ctrl-C or SIGTERM.
"""

from __future__ import annotations

from typing import Annotated

import typer

import pyrovice as pv
from pyrovice.cli import converting, fitting, looking, planning, reviewing
from pyrovice.cli.program import Program

app = typer.Typer(
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    # Plain text: it can be searched, piped and read aloud.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pyrovice {pv.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Sparse, non-negative embeddings from odd-one-out judgments.

    From a file of judgments to a page: convert, describe, fit, evaluate, report.
    """


for group in (looking, fitting, reviewing, planning, converting):
    for command, example in group.COMMANDS.items():
        # The backspace keeps the lines as they are.
        name = command.__name__.strip("_").replace("_", "-")
        app.command(name, epilog=f"\b\nExample:\n  {example}")(command)
