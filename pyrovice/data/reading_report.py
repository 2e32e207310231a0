"""What reading a file found: rows left out and why, and trials that are not judgments."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pyrovice.data.wording import first_few


@dataclass(frozen=True)
class LeftOut:
    """Rows of a file that are not judgments, for one reason."""

    reason: str
    lines: tuple[int, ...]
    unit: str = "line"

    def __str__(self) -> str:
        plural = "" if len(self.lines) == 1 else "s"
        return f"{len(self.lines):,} {self.reason} ({self.unit}{plural} {first_few(self.lines)})"


@dataclass(frozen=True)
class Reading:
    """How a file of judgments was read.

    Attributes
    ----------
    path : str
        The file, or the member of an archive.
    format : str
        The format it was read as.
    decided : str
        What decided that, in words.
    rows : int
        How many rows of data the file has, including those left out.
    left_out : tuple of LeftOut
        What is not among the judgments, with line numbers.
    first_id : int or None
        0 or 1, where the file's ids began; None where objects have names.
    catch : DataFrame or None
        Trials that test attention: `participant`, and whether it was `passed`.
    notes : tuple of str
        What was assumed.
    """

    path: str
    format: str
    decided: str
    rows: int
    left_out: tuple[LeftOut, ...] = ()
    first_id: int | None = None
    catch: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.path}: {self.rows:,} rows, read as {self.format!r} ({self.decided})"]
        if self.first_id is not None:
            lines.append(f"  ids in the file begin at {self.first_id}")
        lines += [f"  left out: {left}" for left in self.left_out]
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)
