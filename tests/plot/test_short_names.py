"""Names are shortened so that what tells them apart stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyrovice.plot.labels import labels
from pyrovice.plot.short_names import short_names, shorten

CODED = [f"stimuli/set_{i // 10}/face_{i:04d}_neutral_frontal.jpg" for i in range(300)]


@pytest.mark.parametrize("longest", [12, 16, 28])
def test_coded_names_stay_apart(longest):
    short = short_names(CODED, longest)
    assert len(set(short.values())) == len(CODED)
    assert max(map(len, short.values())) <= longest
    assert "0123" in short[CODED[123]]


def test_short_names_are_left_alone():
    assert short_names(["cat", "dog", "cat"], 8) == {"cat": "cat", "dog": "dog"}
    assert shorten("two\n lines", 20) == "two lines"
    assert labels(["10 $"]) == {"10 $": r"10 \$"}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab-", min_size=1, max_size=40), min_size=1, max_size=12, unique=True))
def test_no_two_names_become_one(names):
    short = short_names(names, 12)
    # Names that differ in white space only are not told apart by what is read.
    assert len(set(short.values())) == len(names)
    assert max(map(len, short.values())) <= 12
