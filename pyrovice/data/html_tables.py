"""Small HTML tables: what notebooks show of a value beside its plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

BLUE = "#0072b2"
# Verdicts, in words and in colour.
COLOURS = {"good": "#00664b", "look": "#b84f00", "bad": "#b84f00"}


@dataclass(frozen=True)
class Bar:
    """A cell that shows a number as a share of the longest bar, with the number behind it."""

    share: float
    text: str

    def __str__(self) -> str:
        width = round(80 * min(max(self.share, 0.0), 1.0))
        return (
            f'<span style="display:inline-block;height:.7em;width:{width}px;background:{BLUE}">'
            f"</span> {escape(self.text)}"
        )


@dataclass(frozen=True)
class Verdict:
    """A cell that says good or bad, and has a colour."""

    text: str

    def __str__(self) -> str:
        colour = COLOURS.get(self.text, "inherit")
        return f'<b style="color:{colour}">{escape(self.text)}</b>'


def html_table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    notes: Sequence[str] = (),
) -> str:
    """A table as HTML, with sentences below it. All that is not a `Bar` or `Verdict` is text.

    Examples
    --------
    >>> html_table("two", ["name"], [["<b>"]]).count("&lt;b&gt;")
    1
    """
    left = ' style="text-align:left"'
    head = "".join(f"<th{left}>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td{left}>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    said = f'<caption style="text-align:left"><b>{escape(caption)}</b></caption>'
    thead = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<div><table>{said}{thead}<tbody>{body}</tbody></table>{below}</div>"


def _cell(content: object) -> str:
    return str(content) if isinstance(content, Bar | Verdict) else escape(str(content))
