"""Mutated files become valid judgments or an error that names file and line, nothing else.

What is read must be what a second, plain parser reads line by line, row for row.
"""

import re
import warnings
from collections import Counter

import numpy as np
import pytest
from helpers.plain_readers import PLAIN
from test_readers import FILES

from pyrovice import PyroviceError, PyroviceWarning, Triplets

PIECES = [
    *(
        piece.encode()
        for piece in ("", " ", "\t", ",", ";", "\n", "\r\n", "\r", '"', "\0", "\ufeff")
    ),
    *(
        piece.encode()
        for piece in [
            "0",
            "1",
            "-1",
            "4",
            "3.5",
            "1e3",
            "nan",
            "inf",
            "NA",
            "True",
            "99999999999999999999",
        ]
    ),
    *(
        piece.encode()
        for piece in ["cat", "né", "#", "{", "[", "]", "null", "0x1", "1_0", "\u2028", "\x0c"]
    ),
    b"\xff",
]


def mutated(data, rng):
    """A few random edits: bytes flipped, cut, doubled, swapped, or pieces put in."""
    content = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(content) + 1))
        end = min(len(content), at + int(rng.integers(0, 8)))
        kind = rng.integers(0, 6)
        if kind == 0 and at < len(content):
            content[at] = int(rng.integers(0, 256))
        elif kind == 1:
            del content[at:end]
        elif kind == 2:
            content[at:at] = content[at:end]
        elif kind == 3:
            content[at:end] = PIECES[rng.integers(0, len(PIECES))]
        elif kind == 4:
            lines = bytes(content).split(b"\n")
            i, j = rng.integers(0, len(lines), 2)
            lines[i], lines[j] = lines[j], lines[i]
            content = bytearray(b"\n".join(lines))
        else:
            content = content[:at] if rng.random() < 0.3 else content
    return bytes(content)


def check_one(path, data, format, rng):
    path.write_bytes(mutated(data, rng))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", PyroviceWarning)
            t = Triplets.read(path, format=format)
    except PyroviceError as error:
        return "refused" if says_where(path, str(error)) else f"refused without a place: {error}"
    content = path.read_bytes()
    western = "Windows-1252" in str(t.reading)
    text = content.decode("cp1252") if western else content.decode("utf-8-sig")
    assert judgments(t) == list(PLAIN[t.reading.format](text)), text
    return "read"


def says_where(path, message):
    """Whether a message names the file and one of its lines, or of the answers in JSON."""
    rest = message.partition(path.name)[2]
    place = re.search(r"\blines? (\d+)", rest)
    if place is None:
        return rest.startswith((" is empty", ", answer "))
    return int(place[1]) <= len(re.split(rb"\r\n|\r|\n", path.read_bytes()))


def judgments(t):
    """What was read, in the file's own ids or names."""
    first = t.reading.first_id
    labels = t.names if first is None else range(first, t.n_objects + first)
    return [
        (frozenset(labels[i] for i in row), labels[row[odd]], None if at < 0 else labels[row[at]])
        for row, odd, at in zip(t.objects.tolist(), t.odd, t.anchor, strict=True)
    ]


def fuzz(folder, rounds, seed):
    rng = np.random.default_rng(seed)
    cases = [(text.encode(), name.split()[0].rstrip(",")) for name, (text, _) in FILES.items()]
    told = Counter()
    for i in range(rounds):
        data, format = cases[i % len(cases)]
        told[check_one(folder / "fuzzed.csv", data, "auto" if i % 3 else format, rng)] += 1
    return told


def test_some_mutated_files(tmp_path):
    told = fuzz(tmp_path, 600, seed=0)
    assert set(told) == {"read", "refused"}
    assert min(told.values()) > 100


@pytest.mark.slow
def test_five_thousand_mutated_files(tmp_path):
    told = fuzz(tmp_path, 5_000, seed=1)
    assert set(told) == {"read", "refused"}
    assert min(told.values()) > 1_000
