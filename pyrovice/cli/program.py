"""What all commands have in common: sentences instead of tracebacks."""

from __future__ import annotations

import sys
import warnings
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from pyrovice.cli.signals import BY_SIGTERM, exit_code, terminating_like_an_interrupt
from pyrovice.errors import PyroviceError, PyroviceWarning


class Program(TyperGroup):
    """Commands that fail with a sentence on stderr and exit code 1, and can be stopped."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", PyroviceWarning)
            warnings.showwarning = _note
            try:
                with terminating_like_an_interrupt():
                    return super().invoke(ctx)
            except (PyroviceError, OSError) as error:
                typer.echo(f"pyrovice: {_sentence(error)}", err=True)
                raise typer.Exit(1) from error
            except KeyboardInterrupt as stop:
                by = "SIGTERM" if exit_code() == BY_SIGTERM else "Ctrl-C"
                typer.echo(f"pyrovice: stopped by {by}. {stop}".rstrip(), err=True)
                raise typer.Exit(exit_code()) from stop


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What the user should know, without the line of code that says it."""
    if issubclass(category, PyroviceWarning):
        typer.echo(f"pyrovice: note: {message}", err=True)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _sentence(error: Exception) -> str:
    """The error in words; those of the system name the file and what is wrong with it."""
    if isinstance(error, OSError) and not isinstance(error, PyroviceError) and error.strerror:
        # Standard output, say, has no name.
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)
