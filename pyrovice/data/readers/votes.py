"""Votes: how many people gave each answer.

JSON with `answers` (rows of a reference and two others, a and b) and `agreement` (votes for a
and b), as Lagunas et al. have it: anchored. Tables of MagnaTagATune, with `clip1_id` ... and
`clip1_numvotes` ...: how often each of three clips was the odd one. A vote becomes a judgment.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import LARGEST_WHOLE, Table, header, read_with_header
from pyrovice.errors import DataError

CLIPS = tuple(f"clip{i}_id" for i in (1, 2, 3))
VOTES = tuple(f"clip{i}_numvotes" for i in (1, 2, 3))
KEYS = ("answers", "agreement")
# More votes than anybody collects for one triplet.
MOST_VOTES = 10_000


def recognise(sample: Sample) -> str | None:
    """By its columns, or by being JSON."""
    if sample.kind == "json":
        return "JSON"
    if header(sample, (*CLIPS, *VOTES)) is None:
        return None
    return f"the columns {', '.join((*CLIPS, *VOTES))}"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    sample = source.sample()
    if sample.kind == "json":
        return _read_json(source, options, decided)
    found = header(sample, (*CLIPS, *VOTES))
    if found is None:
        raise DataError(
            f"{source.label}, line 1: neither JSON with answers and agreement nor a table with "
            f"{', '.join((*CLIPS, *VOTES))}."
        )
    table = read_with_header(source, *found, (*CLIPS, *VOTES), text=CLIPS)
    shown = table.text(CLIPS, "a clip")
    return _one_judgment_per_vote(
        table, shown, (0, 1, 2), table.whole(VOTES, "votes"), options, decided
    )


def repeated_rows(table: Table, times: NDArray[np.integer]) -> tuple[Table, NDArray[np.intp]]:
    """A table that repeats each row `times` times (once if unusable), and which row each was."""
    table.complain(times > MOST_VOTES, f"holds more than {MOST_VOTES:,} votes")
    rows = np.repeat(np.arange(len(table)), np.where(table.unusable(), 1, np.clip(times, 1, None)))
    longer = Table(
        table.source, {}, table.lines[rows], table.unit, lambda row: table.show(rows[row])
    )
    longer.wrong = {reason: mask[rows] for reason, mask in table.wrong.items()}
    longer.left = {reason: mask[rows] for reason, mask in table.left.items()}
    return longer, rows


def _one_judgment_per_vote(
    table: Table,
    shown: NDArray[Any],
    odd_columns: tuple[int, ...],
    votes: NDArray[np.integer],
    options: Options,
    decided: str,
) -> dict[str, Any]:
    """A judgment for every vote; `votes` has a column for each answer that can be given."""
    table.complain((votes < 0).any(axis=1), "holds a negative number of votes")
    table.leave_out(np.all(votes == 0, axis=1), "without votes")
    table.complain((votes > MOST_VOTES).any(axis=1), f"holds more than {MOST_VOTES:,} votes")
    usable = np.where(table.unusable()[:, None], 0, votes)
    longer, rows = repeated_rows(table, usable.sum(axis=1))
    # An unusable row stands there once, with any answer.
    usable[usable.sum(axis=1) == 0, 0] = 1
    odd = np.repeat(np.tile(odd_columns, len(table)), usable.ravel())
    return finish(
        Found(
            longer,
            shown[rows],
            odd,
            anchor=0 if len(odd_columns) == 2 else None,
            first_id=None,
        ),
        options,
        "votes",
        decided,
    )


def _read_json(source: Source, options: Options, decided: str) -> dict[str, Any]:
    answers, agreement = _answers_and_agreement(source)
    good = np.array(
        [
            _is_row(row, 3, int | str) and _is_row(votes, 2, int)
            for row, votes in zip(answers, agreement, strict=True)
        ]
    )
    table = Table(
        source,
        {},
        np.arange(len(answers)),
        unit="answer",
        show=lambda row: f"{answers[row]!r} with {agreement[row]!r}"[:80],
    )
    table.complain(~good, "is not three objects with two numbers of votes")
    rows = [row if ok else [0, 1, 2] for row, ok in zip(answers, good, strict=True)]
    named = any(isinstance(value, str) for row in rows for value in row)
    shown = np.array([list(map(str, row)) for row in rows], object) if named else np.array(rows)
    votes = np.array([row if ok else [0, 0] for row, ok in zip(agreement, good, strict=True)])
    return _one_judgment_per_vote(table, shown, (2, 1), votes, options, decided)


def _answers_and_agreement(source: Source) -> tuple[list[Any], list[Any]]:
    with source.open() as file:
        try:
            content = json.loads(file.read().decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            line = f"{source.label}, line {error.lineno}"
            raise DataError(f"{line} is not JSON ({error.msg}).") from error
        except (UnicodeDecodeError, RecursionError, ValueError) as error:
            raise DataError(f"{source.label}, line 1 is not JSON ({error}).") from error
    lists: list[Any] = [content.get(name) if isinstance(content, dict) else 0 for name in KEYS]
    if not all(isinstance(rows, list) and rows for rows in lists):
        raise DataError(
            f"{source.label}, line 1: expected an object with the lists 'answers' (rows of a "
            "reference, a and b) and 'agreement' (votes for a and b)."
        )
    answers, agreement = lists
    if len(answers) != len(agreement):
        raise DataError(
            f"{source.label}, line 1: {len(answers)} answers, but {len(agreement)} rows of "
            "agreement; expected one for each answer."
        )
    return answers, agreement


def _is_row(row: Any, length: int, kind: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == length
        and all(isinstance(x, kind) and not isinstance(x, bool) for x in row)
        and all(isinstance(x, str) or abs(x) < LARGEST_WHOLE for x in row)
    )
