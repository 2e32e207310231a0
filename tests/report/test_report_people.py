"""What the page says about people."""

import dataclasses
import re

import matplotlib

matplotlib.use("Agg")

import numpy as np
from helpers.fits import made_up_people
from report.test_report import HOSTILE, Outline

from pyrovice.report import render
from pyrovice.report.people_table import people
from pyrovice.report.pictures import figures


def test_people_have_a_section_if_they_differ(people_fit, small_fit):
    page = render(people_fit)
    outline = Outline(page)
    assert "people" in outline.ids
    assert {"#people", "#dimension-1"} <= set(outline.addresses)
    assert len(outline.ids) == len(set(outline.ids))
    linked = {address[1:] for address in outline.addresses if address.startswith("#dimension-")}
    assert linked <= set(outline.ids)
    text = " ".join(" ".join(outline.text).split())
    assert "10 people made" in text
    assert repr(people_fit.model.people) in text
    assert 'alt="Weights and temperatures of everybody"' in page
    assert 'alt="Differences of log-weights between groups"' in page
    assert "People" not in Outline(render(small_fit)).text
    assert people(small_fit) is None


def test_rows_say_what_the_table_of_people_says(people_fit):
    table, found = people_fit.people(), people(people_fit)
    assert found["columns"] == ["temperature", "lapse"]
    assert sorted(row["person"] for row in found["rows"]) == table.index.tolist()
    for row in found["rows"]:
        known = table.loc[row["person"]]
        assert row["judgments"] == f"{known.judgments:,}"
        assert row["traits"][0].startswith(f"{known.temperature:.2f} (")
        dims = list(people_fit.embedding())
        more = [dim for dim in dims if known[f"weight {dim} 5 %"] > 1]
        less = [dim for dim in dims if known[f"weight {dim} 95 %"] < 1]
        assert [each["called"] for each in row["more"]] == more
        assert [each["called"] for each in row["less"]] == less
    counts = [len(row["more"]) + len(row["less"]) for row in found["rows"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 0
    groups = {row["person"]: row["group"] for row in found["rows"]}
    assert (groups["p000"], groups["p001"], groups["p009"]) == ("expert", "novice", "–")
    spread = np.median(people_fit.posterior.others["weight_spread"].pooled, axis=0)
    most = int(np.argmax(spread[: people_fit.n_dimensions]))
    reach = np.exp(1.645 * spread[most])
    assert f"They differ most in dimension {most + 1} (" in found["summary"][1]
    assert f"between {1 / reach:.2f} and {reach:.2f} times" in found["summary"][1]


def test_people_who_differ_in_temperature_only(small_fit):
    fit = made_up_people(small_fit, 200, 3, weights=False)
    page = render(fit)
    Outline(page)
    assert "Dimensions that weigh more" not in page
    assert "The table of all 200 people" in page
    assert "groups" not in figures(fit, None, None)


def test_people_who_differ_in_single_entries_only(small_fit):
    fit = made_up_people(small_fit, 12, 3, weights=False, temperature=False, own=True)
    assert "12 people made" in render(fit)


def test_names_of_people_and_groups_are_text(small_fit):
    fit = made_up_people(small_fit, len(HOSTILE), 3)
    model = fit.model
    model.known_people = HOSTILE
    page = render(dataclasses.replace(fit, model=model))
    Outline(page)
    assert not re.search(r"<script>alert|<img src=x", page)
    assert "{{ 7 * 7 }}" in page
