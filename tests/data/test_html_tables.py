"""What notebooks show of values."""

from html.parser import HTMLParser

import pytest

import pyrovice as pv
from pyrovice.data.html_tables import Bar, html_table


class Cells(HTMLParser):
    """The text of a table's cells, and whether every tag is closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize(("share", "width"), [(0.5, 40), (1.7, 80), (-1.0, 0)])
def test_bars_stay_within_their_place(share, width):
    assert f"width:{width}px" in html_table("", [], [[Bar(share, "x")]])


def test_everything_is_text():
    hostile = "<script>alert(1)</script>"
    shown = html_table(hostile, [hostile], [[hostile, Bar(0.1, hostile)]], [hostile])
    assert Cells(shown).tags.count("script") == 0
    assert Cells(shown).text.count(hostile) == 4
    data = pv.Triplets([[0, 1, 2]], [0], names=[hostile, "b", "c"])
    assert "script" not in Cells(data._repr_html_()).tags


def test_judgments_show_their_first_rows(small):
    shown = Cells(small._repr_html_())
    assert repr(small) in shown.text
    assert shown.tags.count("tr") == 1 + 5
    assert "... and 2,995 more" in shown.text
    assert Cells(small[:2]._repr_html_()).tags.count("tr") == 1 + 2


def test_scores_checks_and_diagnoses_say_what_their_text_says(small, small_fit):
    score = small_fit.evaluate(small)
    shown = Cells(score._repr_html_()).text
    assert f" {score.accuracy:.1%}" in shown
    assert f"{score.cross_entropy:.3f} nats" in shown
    checked = pv.checks.report(small_fit, small, draws=400)
    shown = Cells(checked._repr_html_()).text
    assert set(checked.checks) <= set(shown)
    assert shown.count("bad") == len(checked.flagged)
    assert "3,000 judgments that were fitted, which makes every check lenient" in shown
    found = pv.diagnose(small_fit, small, refits=0)
    shown = Cells(found._repr_html_()).text
    for finding in found.findings:
        assert {finding.question, finding.verdict, finding.found} <= set(shown)
    assert any(text.startswith("What to do: ") for text in shown)
