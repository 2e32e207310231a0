"""The page about a fit: what it says, and that browsers show it."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from importlib import import_module

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from helpers.chromium import in_a_browser

import pyrovice as pv
from pyrovice.report import render
from pyrovice.results.posterior import Posterior
from pyrovice.results.weights import DrawnWeights, PointWeights

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "<!-- comment",
    "{{ 7 * 7 }}",
    "naïve café & co. 日本",
)
# What the standard asks to close itself.
VOID = {"meta", "link", "img", "input", "br"}


class Outline(HTMLParser):
    """Tags, addresses and text of a page, and whether every tag is closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.addresses, self.ids, self.text = [], [], [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        self.ids += [found["id"]] if "id" in found else []
        assert not any(name.startswith("on") for name in found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def hostile(small_fit):
    return dataclasses.replace(small_fit, names=(*HOSTILE, *map(str, range(14))))


@pytest.fixture(scope="module")
def page(small_fit, small):
    return render(small_fit, data=small, held_out=small[:400], title="Twenty things")


def test_the_page_is_whole_and_asks_for_nothing(page):
    outline = Outline(page)
    assert all(address.startswith(("data:", "#")) for address in outline.addresses)
    assert len(outline.ids) == len(set(outline.ids))
    linked = {address[1:] for address in outline.addresses if address.startswith("#")}
    assert {each for each in linked if not each.startswith("object-")} <= set(outline.ids)
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_it_says_what_the_fit_says(page, small_fit, small):
    text = re.sub(r"\s+", " ", " ".join(Outline(page).text))
    score = small_fit.evaluate(small[:400])
    assert "Twenty things" in text
    assert f"{100 * score.accuracy:.1f} % of the answers" in text
    assert f"KL divergence from people's answers {score.kl_divergence:.3f}" in text
    for finding in pv.diagnose(small_fit, small, held_out=small[:400], refits=0).findings:
        if finding.question != "Is the guide the posterior?":
            assert finding.found in text
    for dim in small_fit.embedding():
        assert f"Dimension {dim}" in text
    assert "muttenthaler2022vice" in text
    assert page.count("<figure>") == 5


def test_views_have_weights_intervals_and_neighbours(page, small_fit):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    data = json.loads(found[1])
    assert data["names"] == list(small_fit.names)
    low = small_fit.quantile(0.05)
    for each in data["views"][7]["dimensions"]:
        assert each["low"] == pytest.approx(low.loc["7"].iloc[each["place"]], abs=6e-4)
        assert each["low"] <= each["weight"] <= each["high"]
    mean = small_fit.similarity(draws=10).loc["7"].drop("7")
    nearest = [data["names"][other] for other, _, _ in data["views"][7]["neighbours"]]
    assert nearest == mean.sort_values(ascending=False, kind="stable").index[:10].tolist()


def test_names_stay_text(hostile):
    page = render(hostile)
    outline = Outline(page)
    assert outline.tags.count("script") == 3
    assert all(name in outline.text for name in HOSTILE)


def test_without_judgments_it_says_so(small_fit):
    page = render(small_fit)
    assert page.count("fit.report(path, data=train, held_out=test)") == 2
    assert "calibration" not in page.lower()


@pytest.mark.parametrize("kind", ["point", "sampled", "empty", "loaded"])
def test_every_kind_of_fit_has_a_page(small_fit, kind, tmp_path):
    small_fit.save(tmp_path / "a.fit")
    fit = {
        "point": lambda: dataclasses.replace(
            small_fit, posterior=Posterior(PointWeights(small_fit.posterior.loc()))
        ),
        "sampled": lambda: dataclasses.replace(
            small_fit,
            posterior=Posterior(DrawnWeights(small_fit.draws(60, 0)[None]), from_chains=True),
            converged=False,
        ),
        "empty": lambda: small_fit._select(np.array([], dtype=int)),
        "loaded": lambda: pv.load(tmp_path / "a.fit"),
    }[kind]()
    page = render(fit)
    Outline(page)
    assert ("no intervals" in page) == (kind == "point")
    assert ("The chains" in page) == (kind == "sampled")
    assert ("kept no dimension" in page) == (kind == "empty")
    if kind == "loaded":
        assert page == render(small_fit)


def test_files_are_not_replaced(small_fit, small, tmp_path):
    path = tmp_path / "page.html"
    small_fit.report(path)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(pv.OverwriteError, match="overwrite=True"):
        small_fit.report(path)
    small_fit.report(path, title="Other", overwrite=True)
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(FileNotFoundError, match="make it first"):
        small_fit.report(tmp_path / "no" / "page.html")
    with pytest.raises(pv.PyroviceError, match="not the judgments that were fitted"):
        small_fit.report(tmp_path / "b.html", data=small[:10])
    with pytest.raises(TypeError, match="held_out is a list"):
        small_fit.report(tmp_path / "b.html", held_out=[])
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


# ---------------------------------------------------------------- in a browser

SHOWN_OBJECT = "document.querySelector('#view h3')?.textContent"


def shown(browser, column=0):
    return browser.run(
        "[...document.querySelectorAll('#table tbody tr:not([hidden])')]"
        f".map(row => row.cells[{column}].textContent)"
    )


@in_a_browser
def test_a_page_with_hostile_names_works(browser, hostile, tmp_path):
    path = tmp_path / "a page.html"
    hostile.report(path)
    browser.open(path)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert shown(browser) == list(hostile.names)
    browser.click("#search")
    browser.type("ALERT(1)")
    assert shown(browser) == [HOSTILE[0]]
    assert browser.run("document.querySelector('#count').textContent") == "1 of 20 objects"
    browser.click("#table tbody tr:not([hidden]) a")
    browser.until(SHOWN_OBJECT, HOSTILE[0])
    assert browser.run("document.querySelectorAll('#view li').length") == 3 + 10
    assert browser.run("document.querySelectorAll('script').length") == 3
    # From neighbour to neighbour, with the keyboard alone.
    browser.run("document.querySelector('#view .side > div:last-child a').focus()")
    name = browser.run("document.activeElement.textContent")
    browser.press("Enter", "\r")
    browser.until(SHOWN_OBJECT, name)
    assert browser.requests() == [path.as_uri()]
    assert browser.errors() == []


@in_a_browser
def test_sorting_by_click_and_by_key(browser, small_fit, tmp_path):
    path = tmp_path / "page.html"
    small_fit.report(path)
    browser.open(path)
    browser.click("#table th:nth-child(3) button")
    falling = [float(text) for text in shown(browser, 2)]
    assert falling == sorted(falling, reverse=True) != sorted(falling)
    browser.click("#table th:nth-child(3) button")
    assert [float(text) for text in shown(browser, 2)] == sorted(falling)
    assert browser.run("document.querySelectorAll('[aria-sort]').length") == 1
    browser.run("document.querySelector('#table th button').focus()")
    browser.press("Enter", "\r")
    assert shown(browser) == [str(i) for i in range(20)]
    browser.press("Enter", "\r")
    assert shown(browser) == [str(i) for i in reversed(range(20))]
    assert browser.errors() == []


@in_a_browser
def test_a_narrow_screen_and_paper(browser, small_fit, small, tmp_path):
    path = tmp_path / "page.html"
    small_fit.report(path, held_out=small[:400])
    browser.resize(360, 740)
    browser.open(path)
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.pdf().startswith(b"%PDF")
    browser.resize(1200, 900)


def test_nothing_is_looked_at_twice(small, small_fit, monkeypatch):
    calls = []
    for where, name in (("criticism.diagnosis", "report"), ("report.page", "report")):
        module = import_module(f"pyrovice.{where}")
        original = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, _f=original, **k: (calls.append("checks"), _f(*a, **k))[1]
        )
    calibration = pv.Fit.calibration
    monkeypatch.setattr(
        pv.Fit,
        "calibration",
        lambda *a, **k: (calls.append("calibration"), calibration(*a, **k))[1],
    )
    render(small_fit, data=small)
    assert sorted(calls) == ["calibration", "checks"]
    calls.clear()
    render(small_fit, held_out=small)
    assert sorted(calls) == ["calibration", "checks"]
