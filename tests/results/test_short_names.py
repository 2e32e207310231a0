"""Names are shortened so that what tells them apart stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyrovice.results.short_names import short_names, shorten

CODED = [f"stimuli/set_{i // 10}/face_{i:04d}_neutral_frontal.jpg" for i in range(300)]


@pytest.mark.parametrize("longest", [12, 16, 28])
def test_coded_names_stay_apart(longest):
    short = short_names(CODED, longest)
    assert len(set(short.values())) == len(CODED)
    assert max(map(len, short.values())) <= longest
    assert "0123" in short[CODED[123]]


def test_what_all_share_is_left_out_first():
    codes = [f"CFD-{kind}-{200 + i}-N_neutral_1200x1200" for i, kind in enumerate(["WF", "BM"])]
    assert list(short_names(codes, 22).values()) == ["…WF-200…", "…BM-201…"]
    told = [f"a long description of a {it} (slide {i})" for i, it in enumerate(["dog", "cat"])]
    assert list(short_names(told, 20).values()) == ["…dog (slide 0)", "…cat (slide 1)"]
    # A number is not cut in two, and nothing becomes empty.
    people = [f"worker-from-prolific-1{i}" for i in range(10, 20)]
    assert short_names(people, 12)[people[3]] == "…113"
    short = short_names(["stimuli/", "stimuli/one of many"], 12)
    assert short["stimuli/"] == "stimuli/"
    # Nor do a few other names keep the rest from it.
    mixed = ["NA", "Müsli", *(f"Stimulus_2024_{it}_v2.jpg" for it in ("dog", "cat", "ox"))]
    assert list(short_names(mixed, 16).values()) == ["NA", "Müsli", "…dog…", "…cat…", "…ox…"]


def test_words_stay_whole_and_extensions_leave_no_mark():
    faces = [
        f"CFD-{who}-N_{face}.jpg"
        for who, face in [("WM-035-022", "smiling_left"), ("BF-039-021", "neutral_right")]
    ]
    assert list(short_names(faces, 28).values()) == [
        "…WM-035-022-N_smiling_left",
        "…BF-039-021-N_neutral_right",
    ]
    assert list(short_names(faces, 20).values()) == ["…WM-035-022-N…left", "…BF-039-021-N…right"]
    described = ["a pair of scissors on a table", "a bowl of tomato soup with bread"]
    assert list(short_names(described, 20).values()) == ["a pair of…a table", "a bowl of…bread"]
    # Words that were cut alike are cut elsewhere.
    alike = [f"{it} and bread" for it in ("tomato soup", "tomatoes")]
    assert len(set(short_names(alike, 12).values())) == 2


def test_short_names_are_left_alone():
    assert short_names(["cat", "dog", "cat"], 8) == {"cat": "cat", "dog": "dog"}
    assert shorten("two\n lines", 20) == "two lines"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab-", min_size=1, max_size=40), min_size=1, max_size=12, unique=True))
def test_no_two_names_become_one(names):
    short = short_names(names, 12)
    # Names that differ in white space only are not told apart by what is read.
    assert len(set(short.values())) == len(names)
    assert max(map(len, short.values())) <= 12
