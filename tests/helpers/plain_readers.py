"""The formats once more, as plainly as possible: a line at a time, by the csv module.

Slow, and it says no more than yes or no; the readers must agree with it.
"""

import csv
import io
import json
import re

NUMBER = re.compile(r"[ \t\v\f]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\v\f]*", re.ASCII)
MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"}


class ViolationError(Exception):
    """A row that is not in its format."""


def demand(condition):
    if not condition:
        raise ViolationError


def whole(field):
    demand(NUMBER.fullmatch(field))
    value = float(field)
    demand(value == int(value) and abs(value) <= 2**53)
    return int(value)


def name(field):
    demand(field.strip())
    return field.strip()


def rows_of(text, wanted=()):
    """The columns by name if there are any wanted, and all rows, which must be of equal length."""
    lines = [line for line in re.split("\r\n|\r|\n", text) if line.strip(" \t")]
    if wanted:
        fits = [s for s in "\t,;" if set(wanted) <= {f.strip() for f in split(lines[0], s)}]
        separator = fits[0]
    else:
        separator = next((mark for mark in "\t,;" if mark in lines[0]), None)
    if separator and '"' in text:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        rows = [row for row in rows if len(row) > 1 or (row and row[0].strip())]
    else:
        rows = [split(line, separator) for line in lines]
    demand(all(len(row) == len(rows[0]) for row in rows))
    columns = [field.strip() for field in rows.pop(0)] if wanted else []
    demand(rows)
    return columns, [dict(zip(columns, row, strict=True)) if columns else row for row in rows]


def split(line, separator):
    if separator is None:
        return re.split("[ \t]+", line.strip(" \t"))
    return next(csv.reader([line], delimiter=separator))


def judgment(objects, odd, anchor=None):
    """Three different objects, the odd one of them, and the anchor."""
    demand(len(set(objects)) == 3 and odd in objects and odd != anchor)
    return frozenset(objects), odd, anchor


def vice(text):
    for row in rows_of(text)[1]:
        ids = [whole(field) for field in row]
        demand(len(ids) in (3, 4) and min(ids) >= 0)
        yield judgment(ids[:3], ids[2])


def noiseceiling(text):
    for row in rows_of(text)[1]:
        ids = [whole(field) for field in row[:4]]
        demand(len(row) in (4, 5) and min(ids) >= 0 and ids[3] in (1, 2, 3))
        yield judgment(ids[:3], ids[ids[3] - 1])


def cblearn(text):
    for row in rows_of(text)[1]:
        ids = [whole(field) for field in row]
        demand(len(ids) in (3, 4) and min(ids[:3]) >= 0)
        votes = ids[3] if len(ids) == 4 else 1
        for _ in range(abs(votes)):
            yield judgment(ids[:3], ids[2 if votes > 0 else 1], ids[0])


def names(text):
    for row in rows_of(text)[1]:
        demand(len(row) == 3)
        objects = [name(field) for field in row]
        yield judgment(objects, objects[2])


def things(text):
    for row in rows_of(text, ["image1", "image2", "image3", "choice"])[1]:
        ids = [whole(row[f"image{i}"]) for i in (1, 2, 3)]
        if row["choice"] == "":
            continue
        choice = whole(row["choice"])
        demand(choice in (1, 2, 3) and min(ids) >= 1)
        demand("RT" not in row or row["RT"].strip() in MISSING or NUMBER.fullmatch(row["RT"]))
        yield judgment(ids, ids[choice - 1])


def salmon(text):
    try:
        columns, rows = rows_of(text, ["head", "left", "right", "winner", "loser"])
    except IndexError:
        columns, rows = rows_of(text, ["Participant.ID", "Center", "Left", "Right", "Answer"])
    roles = ["head", "left", "right", "winner", "loser"]
    objects = [f"{role}_object" for role in roles]
    of = name
    if "head" not in columns:
        roles = ["Center", "Left", "Right", "Answer"]
    elif set(objects) <= set(columns):
        roles = objects
    else:
        of = whole
    for row in rows:
        head, left, right, winner, *loser = (of(row[role]) for role in roles)
        loser = loser[0] if loser else right if winner == left else left
        demand({winner, loser} == {left, right})
        demand(isinstance(head, str) or min(head, left, right) >= 0)
        yield judgment([head, left, right], loser, head)


def triplet_tools(text):
    columns, rows = rows_of(text, ["head", "winner", "loser"])
    for row in rows:
        named = {"Center", "Left", "Right", "Answer"} <= set(columns)
        of = name if named else whole
        keys = ("Center", "Left", "Right", "Answer") if named else ("head", "winner", "loser")
        head, first, second, *answer = (of(row[key]) for key in keys)
        if row.get("sampleAlg", "").strip() == "check":
            continue
        winner = answer[0] if named else first
        demand(winner in (first, second))
        yield judgment([head, first, second], second if winner == first else first, head)


def triads(text):
    columns, rows = rows_of(text, ["item1", "item2", "item3"])
    people = [column for column in columns if column not in ("NUM", "item1", "item2", "item3", "")]
    for row in rows:
        items = [name(row[f"item{i}"]) for i in (1, 2, 3)]
        for person in people:
            if row[person].strip() not in MISSING:
                answer = whole(row[person])
                demand(answer in (1, 2, 3))
                yield judgment(items, items[answer - 1])


def votes(text):
    if text.lstrip()[0] in "{[":
        content = json.loads(text)
        for row, counts in zip(content["answers"], content["agreement"], strict=True):
            demand(all(type(value) in (int, str) for value in row) and len(row) == 3)
            demand(all(type(value) is int and value >= 0 for value in counts) and len(counts) == 2)
            for odd, count in zip((2, 1), counts, strict=True):
                for _ in range(count):
                    yield judgment(row, row[odd], row[0])
        return
    wanted = [f"clip{i}_{what}" for what in ("id", "numvotes") for i in (1, 2, 3)]
    for row in rows_of(text, wanted)[1]:
        clips = [name(row[key]) for key in wanted[:3]]
        counts = [whole(row[key]) for key in wanted[3:]]
        demand(min(counts) >= 0)
        for clip, count in zip(clips, counts, strict=True):
            for _ in range(count):
                yield judgment(clips, clip)


def table(text):
    for row in rows_of(text, ["object_1", "object_2", "object_3", "odd"])[1]:
        objects = [name(row[f"object_{i}"]) for i in (1, 2, 3)]
        anchor = row.get("anchor", "").strip() or None
        demand(anchor is None or anchor in objects)
        yield judgment(objects, name(row["odd"]), anchor)


PLAIN = {
    "vice": vice,
    "noiseceiling": noiseceiling,
    "cblearn": cblearn,
    "names": names,
    "things": things,
    "salmon": salmon,
    "tripletTools": triplet_tools,
    "triads": triads,
    "votes": votes,
    "table": table,
}
