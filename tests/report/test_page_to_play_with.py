"""The map, the explorer and the names of the page: what they know, and that they work."""

import base64
import dataclasses
import json
import re

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from helpers.chromium import in_a_browser
from helpers.embeddings import sparse_embedding
from helpers.fits import made_up
from PIL import Image
from report.test_report import HOSTILE, Outline

import pyrovice as pv
from pyrovice.report import object_table, render
from pyrovice.report.explorer import LEVELS, chances, explorer
from pyrovice.report.object_map import places
from pyrovice.report.participants_table import participants


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found[1])


# ---------------------------------------------------------------- the map


def test_objects_alike_stand_together():
    X = sparse_embedding(200, 8, seed=0)
    found = places(X)
    assert found.min() == 0
    assert found.max() == 1
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    alike = np.argsort(-(unit @ unit.T), axis=1)[:, 1:6]
    apart = np.linalg.norm(found[:, None] - found, axis=2)
    near = np.take_along_axis(apart, alike, axis=1)
    # Neighbours are much nearer than any two objects, and nothing stands on anything else.
    assert np.median(near) < 0.3 * np.median(apart)
    np.fill_diagonal(apart, 1)
    assert apart.min() > 0.2 / np.sqrt(200)
    np.testing.assert_array_equal(found, places(X))


@pytest.mark.parametrize(
    "X", [np.zeros((5, 2)), np.ones((2, 1)), np.ones((6, 3)), np.eye(4)[:, :1]]
)
def test_the_map_of_next_to_nothing(X):
    found = places(X)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) == len(X)


# ---------------------------------------------------------------- the explorer


def test_the_explorer_has_the_posterior(small_fit, small):
    found = explorer(small_fit)
    n, d = found["draws"], len(found["scale"])
    bytes_ = np.frombuffer(base64.b64decode(found["weights"]), np.uint8)
    X = bytes_.reshape(20, n, d) * np.array(found["scale"])
    exact = small_fit.draws(n, seed=0)[:, :, small_fit.kept_positions()]
    half_a_level = exact.max(axis=(0, 1)) / LEVELS / 2
    assert (np.abs(X.transpose(1, 0, 2) - exact) <= half_a_level * 1.001 + 1e-6).all()
    some = small[:50]
    p = np.mean([chances(X[:, draw], some.objects, 0.0) for draw in range(n)], axis=0)
    # Draws differ from those that `predict` takes.
    np.testing.assert_allclose(p, small_fit.prune().predict(some, draws=500), atol=0.03)


def test_a_choice_that_the_page_does_not_know_has_no_explorer(small_fit):
    def stubborn(X, judgments):
        return (pv.choices.similarities(X, judgments) / 3).log_softmax(-1)

    model = pv.Model(small_fit.prior, 20, 6, choice=stubborn)
    other = dataclasses.replace(small_fit, model=model)
    assert explorer(other) is None
    assert "three" not in Outline(render(other)).ids


def test_many_weights_have_fewer_draws(small_fit):
    assert explorer(made_up(small_fit, 300, 400))["draws"] == 16


# ---------------------------------------------------------------- what it says


def test_participants_with_what_rules_look_at(people_data):
    found = participants(people_data)
    assert "10 people made 279 to 318 of the judgments fitted" in found["summary"][0]
    assert "cannot be applied" in found["summary"][1]
    assert len(found["rows"]) == 10
    review = pv.participants.review(people_data).table
    assert found["rows"][0][0] == review.agreement.idxmin()
    assert participants(None) is None
    assert participants(pv.Triplets([[0, 1, 2]], [0])) is None


def test_participants_whom_rules_would_exclude(people_data):
    places_ = np.where(people_data.participants == "p003", 1, np.arange(3000) % 3 + 1)
    data = pv.Triplets(
        people_data.objects, people_data.odd, names=people_data.names,
        participants=people_data.participants, trials=pd.DataFrame({"position": places_}),
    )  # fmt: skip
    found = participants(data)
    assert "1 of them would be excluded for more than 40 % of" in found["summary"][1]
    assert found["columns"][-1] == "Would be excluded for"
    excluded = {row[0]: row[-1] for row in found["rows"]}
    assert excluded["p003"] == "one place too often"
    assert excluded["p004"] == "–"


def test_an_anchored_task_is_called_so(small_fit, small):
    anchored = pv.Triplets(small.objects, small.odd, names=small.names, anchor=(small.odd + 1) % 3)
    text = " ".join(" ".join(Outline(render(small_fit, held_out=anchored)).text).split())
    assert "inferred from anchored judgments (which of two is more like a third)." in text
    checked = pv.checks.report(small_fit, anchored)
    for check in checked.checks.values():
        assert check.means in text
    for reason in checked.not_checked.values():
        assert reason in text


def test_pictures_of_objects_are_in_the_page(small_fit, tmp_path):
    Image.new("RGB", (300, 100), "red").save(tmp_path / "7.png")
    found = data_of(render(small_fit, images=tmp_path))
    assert list(found["pictures"]) == ["7"]
    content = base64.b64decode(found["pictures"]["7"].split(",")[1])
    path = tmp_path / "small.jpg"
    path.write_bytes(content)
    with Image.open(path) as picture:
        assert picture.size == (96, 32)
    with pytest.raises(pv.DataError, match="no picture of any object"):
        render(dataclasses.replace(small_fit, names=tuple("abcdefghijklmnopqrst")), images=tmp_path)


# ---------------------------------------------------------------- in a browser

SHOWN = "document.querySelector('#view h3')?.textContent"
TOLD = "document.querySelector('#map-told').textContent"
ANSWERS = "[...document.querySelectorAll('#answers .value')].map(each => each.textContent)"


@pytest.fixture(scope="module")
def page_of_names(small_fit, tmp_path_factory):
    """A page with hostile names of objects, and names of two dimensions."""
    path = tmp_path_factory.mktemp("pages") / "page.html"
    fit = dataclasses.replace(small_fit, names=(*HOSTILE, *map(str, range(14))))
    fit.label({1: "round", 2: "</script><b>"}).report(path)
    return path


@in_a_browser
def test_the_map_by_click_and_key(browser, page_of_names):
    browser.open(page_of_names)
    assert browser.run("document.querySelectorAll('#map circle').length") == 20
    browser.click("#map circle[data-id='3']")
    browser.until(SHOWN, HOSTILE[3])
    assert browser.run(TOLD).startswith(HOSTILE[3])
    browser.run("document.querySelector('#map').focus()")
    visited = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        browser.press(key)
        visited.append(browser.run("document.querySelector('#map circle.current').dataset.id"))
    assert len({"3", *visited}) > 2
    browser.press("Enter", "\r")
    browser.until(SHOWN, browser.run("document.querySelector('.current title').textContent"))
    browser.run("document.querySelector('#map').focus()")
    for key, scale in (("+", 1.5), ("+", 2.25), ("-", 1.5), ("0", 1)):
        browser.press(key, key)
        assert float(browser.run("document.querySelector('#map').dataset.scale")) == scale
    browser.click("#map-in")
    assert float(browser.run("document.querySelector('#map').dataset.scale")) == 1.5
    assert browser.errors() == []


@in_a_browser
def test_finding_on_the_map(browser, page_of_names):
    browser.open(page_of_names)
    browser.click("#map-search")
    browser.type("ALERT(1)")
    assert browser.run(TOLD) == "1 found"
    assert browser.run("document.querySelectorAll('#map circle.found').length") == 1
    browser.press("Enter", "\r")
    browser.until(SHOWN, HOSTILE[0])
    opacity = "document.querySelector('#map circle').style.opacity"
    assert browser.run(opacity) == "1"
    browser.run("document.querySelector('#map-colour').value = '1'")
    browser.run("document.querySelector('#map-colour').dispatchEvent(new Event('change'))")
    data = data_of(page_of_names.read_text(encoding="utf-8"))
    expected = max(0.08, data["shares"][1][0] / 100)
    assert float(browser.run(opacity)) == pytest.approx(expected)
    assert browser.errors() == []


@in_a_browser
def test_three_objects(browser, small_fit, tmp_path):
    path = tmp_path / "page.html"
    small_fit.report(path)
    browser.open(path)
    for number, name in enumerate(("3", "8", "15"), start=1):
        field = f"#explorer label:nth-child({number}) input"
        browser.run(f"document.querySelector('{field}').value = ''")
        browser.click(field)
        browser.type(name)
    asked = pv.Triplets([[3, 8, 15]], [0], names=small_fit.names)
    p = small_fit.prune().predict(asked, draws=500)[0]
    numbers = [re.findall(r"[\d.]+", text) for text in browser.run(ANSWERS)]
    shown, low, high = np.array(numbers, float).T
    np.testing.assert_allclose(shown, p, atol=0.04)
    assert ((low <= shown) & (shown <= high)).all()
    browser.type("no such object")
    said = browser.run("document.querySelector('#answers').textContent")
    assert "three different objects" in said
    browser.click("#any-three")
    assert len(browser.run(ANSWERS)) == 3
    assert browser.errors() == []


@in_a_browser
def test_naming_dimensions(browser, page_of_names, tmp_path, small_fit):
    browser.open(page_of_names)
    option = "document.querySelector('#map-colour').options[{}].textContent"
    assert browser.run(option.format(1)) == "1: round"
    assert browser.run(option.format(2)) == "2: </script><b>"
    browser.run("document.querySelector('input.name[data-place=\"2\"]').focus()")
    browser.type("red & <green>")
    assert browser.run(option.format(3)) == "3: red & <green>"
    # What the two buttons save.
    browser.run(
        "window.saved = []; URL.createObjectURL = (blob) => { blob.text().then("
        "(text) => saved.push(text)); return '#'; }; URL.revokeObjectURL = () => {};"
    )
    browser.run("document.querySelector('#save-names').focus({preventScroll: true})")
    browser.press("Enter", "\r")
    browser.until("saved.length", 1)
    names = tmp_path / "names.json"
    names.write_text(browser.run("saved[0]"), encoding="utf-8")
    fit = small_fit.label(names)
    assert list(fit.embedding()) == ["round", "</script><b>", "red & <green>"]
    browser.run("document.querySelector('#save-page').focus({preventScroll: true})")
    browser.press("Enter", "\r")
    browser.until("saved.length", 2)
    again = tmp_path / "again.html"
    again.write_text(browser.run("saved[1]"), encoding="utf-8")
    browser.open(again)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert browser.run(option.format(3)) == "3: red & <green>"
    assert browser.run("document.querySelectorAll('#map circle').length") == 20
    assert browser.errors() == []


@in_a_browser
def test_figures_stand_beside_text_where_the_window_is_wide(browser, page_of_names):
    left = "document.querySelector('#{} {}').getBoundingClientRect().left"
    for width, beside in ((1500, True), (700, False)):
        browser.resize(width, 900)
        browser.open(page_of_names)
        text, figure = (browser.run(left.format("fitted", each)) for each in ("table", "figure"))
        assert (figure > text + 300) == beside
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1200, 900)


@in_a_browser
def test_no_word_of_a_table_is_broken(browser, small_fit, small, tmp_path):
    path = tmp_path / "page.html"
    small_fit.report(path, small)
    # More than one box is more than one line.
    broken = """(() => {
        const range = document.createRange();
        const cells = [...document.querySelectorAll(".verdict, .facts td, .listing td")];
        return cells.flatMap((cell) => {
            const text = cell.firstChild;
            if (!text || text.nodeType !== Node.TEXT_NODE) return [];
            return [...text.data.matchAll(/[\\w.]+/g)].filter((word) => {
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                return range.getClientRects().length > 1;
            }).map((word) => word[0]);
        });
    })()"""
    for width in (1500, 420):
        browser.resize(width, 900)
        browser.open(path)
        assert browser.run("document.querySelectorAll('.listing .verdict').length") > 3
        assert browser.run(broken) == []
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1200, 900)


@in_a_browser
def test_long_names_are_seen_whole_and_differ(browser, small_fit, tmp_path):
    names = tuple(f"WF-{i:03d}_neutral_front_{'low' if i % 2 else 'high'}res" for i in range(20))
    path = tmp_path / "page.html"
    dataclasses.replace(small_fit, names=names).report(path)
    words = [each["top"] for each in data_of(path.read_text(encoding="utf-8"))["dimensions"]]
    assert max(len(word) for three in words for word in three) <= object_table.LONGEST_IN_LIST
    inside = """(() => {
        const map = document.querySelector("#map").getBoundingClientRect();
        return [...document.querySelectorAll("#texts text")].map((text) => {
            const box = text.getBoundingClientRect();
            return [box.left - map.left, map.right - box.right, map.bottom - box.bottom];
        });
    })()"""
    cut = "[...document.querySelectorAll('{}')].filter(a => a.scrollWidth > a.clientWidth).length"
    for width in (1400, 420):
        browser.resize(width, 900)
        browser.open(path)
        shown = browser.run(inside)
        assert len(shown) > 3
        assert np.min(shown) > -1
        assert browser.run(cut.format(".cards a")) == 0
        browser.run(
            "document.querySelector('main').insertAdjacentHTML("
            "'beforeend', `<dl><dd>${'word'.repeat(500)}</dd></dl>`)"
        )
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1200, 900)
    browser.click("#map circle")
    browser.until("document.querySelectorAll('#view ol').length", 2)
    listed = browser.run(
        "[...document.querySelectorAll('#view ol:last-of-type a')].map(a => a.textContent)"
    )
    assert len(set(listed)) == len(listed)
    assert browser.errors() == []


@in_a_browser
def test_playing_with_as_many_objects_as_things_has(browser, small_fit, tmp_path, monkeypatch):
    monkeypatch.setattr(object_table, "DRAWS", 2)
    monkeypatch.setattr(object_table, "THIRDS", 20)
    monkeypatch.setattr("pyrovice.report.object_map.STEPS", 3)
    path = tmp_path / "page.html"
    made_up(small_fit, 1854, 42).report(path)
    assert path.stat().st_size < 10e6
    before = browser.processor_time()
    browser.open(path)
    # What the page's own thread worked for, whatever else the machine does.
    assert browser.processor_time() - before < 5
    assert browser.run("document.querySelectorAll('#map circle').length") == 1854
    assert len(browser.run(ANSWERS)) == 3
    browser.click("#search")
    browser.type("name 185")
    found = "document.querySelectorAll('#table tbody tr:not([hidden])').length"
    assert browser.run(found) == 5
    browser.click("#map-search")
    browser.type("name 1853")
    browser.press("Enter", "\r")
    browser.until(SHOWN, "rather long name 1853")
    assert float(browser.run("document.querySelector('#map').dataset.scale")) > 1
    assert browser.requests() == [path.as_uri()]
    assert browser.errors() == []
