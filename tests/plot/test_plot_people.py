"""Figures of people, from a handful to hundreds."""

import dataclasses
from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from helpers.fits import made_up_people
from matplotlib.figure import Figure
from plot.test_plot_fits import drawn, texts_of
from scipy import stats

import pyrovice as pv
from pyrovice.plot.people_map import COLOURS, SMALL_CELL
from pyrovice.plot.person_profile import _seen_differently

SIZES = [(12, 3, 0), (12, 7, 3), (40, 12, 2), (284, 5, 2), (284, 30, 0)]
FIGURES = {
    "people": pv.plot.people,
    "person": lambda fit, ax=None: pv.plot.person(fit, "participant 1", ax=ax),
    "groups": pv.plot.groups,
}


def check_texts(figure):
    renderer = drawn(figure)
    texts = texts_of(figure, renderer)
    assert texts
    for text, box in texts:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    for (one, a), (other, b) in combinations(texts, 2):
        assert not a.overlaps(b), (one, other)
    return texts


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_off_the_page(small_fit, name, size):
    people, dimensions, groups = size
    if name == "groups" and not groups:
        pytest.skip("no groups")
    fit = made_up_people(small_fit, people, dimensions, groups=groups, lapse=True)
    check_texts(FIGURES[name](fit))


@pytest.mark.parametrize("name", FIGURES)
def test_long_names_of_people_groups_and_objects_have_room(small_fit, name):
    fit = made_up_people(small_fit, 12, 3, groups=2, lapse=True)
    told = {"group 0": "healthy controls", "group 1": "patients with a diagnosis"}
    who = {person: told[group] for person, group in dict(fit.model.people.groups).items()}
    model = pv.Model(
        fit.prior, 40, 3, people=pv.People(groups=who, lapse=True),
        known_people=fit.model.known_people,
    )  # fmt: skip
    words = ("Donaudampfschifffahrt", "Bürgerversammlung", "people next door", "a thing")
    names = tuple(f"{words[i % 4]}, {i}, {words[i // 4 % 4]}" for i in range(40))
    texts = check_texts(FIGURES[name](dataclasses.replace(fit, names=names, model=model)))
    if name != "person":
        said = " ".join(text.get_text() for text, _ in texts).replace("\n", " ")
        assert all(group in said for group in told.values())


def test_codes_of_objects_and_people_have_room(small_fit):
    fit = made_up_people(small_fit, 12, 7, lapse=True)
    people = tuple(f"participant_2023_p{i:02d}_session_1" for i in range(12))
    stems = ("cat", "kitchen_knife", "hammer", "rose")
    names = tuple(f"CFD-{stems[i % 4]}-a_rather_long_stem_{i:03d}-N.jpg" for i in range(40))
    model = pv.Model(fit.prior, 40, 7, people=fit.model.people, known_people=people)
    coded = dataclasses.replace(fit, names=names, model=model)
    check_texts(pv.plot.person(coded, people[0]))
    check_texts(pv.plot.people(coded))


@pytest.mark.parametrize("name", FIGURES)
def test_axes_that_were_given_are_drawn_on(small_fit, name):
    figure = Figure(figsize=(16, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_axis_off()
    fit = made_up_people(small_fit, 12, 3, groups=2)
    assert FIGURES[name](fit, ax=right) is figure
    renderer = drawn(figure)
    for text, box in texts_of(figure, renderer):
        assert box.x0 > left.bbox.x1 - 5, text


def cells_of(figure):
    (panel,) = [axes for axes in figure.axes if axes.get_xlabel() == "dimension"]
    (cells,) = panel.collections
    names = [text.get_text() for text in panel.get_yticklabels()]
    sides = np.array([np.ptp(path.vertices[:, 0]) for path in cells.get_paths()])
    return names, cells, sides


def test_cells_are_weights_and_small_where_they_may_be_typical(people_fit):
    figure = pv.plot.people(people_fit)
    names, cells, sides = cells_of(figure)
    table = people_fit.people().loc[names]
    columns = [f"weight {dim}" for dim in people_fit.embedding()]
    np.testing.assert_allclose(
        cells.get_array().reshape(len(names), -1), table[columns].to_numpy(), rtol=1e-6
    )
    low = table[[f"{column} 5 %" for column in columns]].to_numpy()
    high = table[[f"{column} 95 %" for column in columns]].to_numpy()
    certain = ((low > 1) | (high < 1)).ravel()
    assert 0 < certain.sum() < certain.size
    np.testing.assert_allclose(sides, np.where(certain, 1, SMALL_CELL))
    # One, the typical person's weight, is white.
    assert cells.norm(1.0) == pytest.approx(0.5)
    assert cells.get_cmap().name == COLOURS
    trait = next(axes for axes in figure.axes if axes.get_xlabel() == "temperature")
    np.testing.assert_allclose(trait.lines[0].get_xdata(), table.temperature, rtol=1e-6)


def test_groups_stand_together_and_those_alike_within_them(people_fit):
    names, _, _ = cells_of(pv.plot.people(people_fit))
    group = people_fit.people().group.fillna("").loc[names].tolist()
    assert group == ["expert"] * 5 + ["novice"] * 4 + [""]
    written = [t.get_text() for t in pv.plot.people(people_fit).axes[-1].texts]
    assert written == ["expert", "novice", "no group"]


def test_those_alike_are_neighbours(small_fit):
    fit = made_up_people(small_fit, 12, 3)
    draws = fit.posterior.others["person_weight"].values
    kind = np.arange(12) % 2
    draws[:] = np.where(kind == 1, 2.0, 0.5)[:, None] * np.exp(0.01 * np.log(draws))
    names, _, _ = cells_of(pv.plot.people(fit))
    order = [kind[int(name.split()[1])] for name in names]
    assert np.abs(np.diff(order)).sum() == 1


def test_people_who_differ_in_some_traits_only(small_fit):
    alike = made_up_people(small_fit, 12, 3, weights=False, lapse=True)
    figure = pv.plot.people(alike)
    assert [axes.get_xlabel() for axes in figure.axes] == ["temperature", "lapse"]
    check_texts(figure)
    with pytest.raises(pv.PyroviceError, match="have no weights on dimensions"):
        pv.plot.person(alike, "participant 1")
    own = made_up_people(small_fit, 12, 3, weights=False, temperature=False, own=True)
    with pytest.raises(pv.PyroviceError, match="neither weights on dimensions"):
        pv.plot.people(own)
    fixed = made_up_people(small_fit, 12, 3, weights=0.5, temperature=False)
    del fixed.posterior.others["weight_spread"]
    check_texts(pv.plot.people(fixed))
    check_texts(pv.plot.person(fixed, "participant 1"))


def test_a_person_beside_the_typical_one(people_fit):
    figure = pv.plot.person(people_fit, "p004", k=5)
    left, right = figure.axes
    traits = people_fit.person("p004").traits()
    weights = traits[traits.index.str.startswith("weight")]
    np.testing.assert_allclose(left.collections[-1].get_offsets()[:, 0], weights["median"])
    assert "temperature" in left.get_title(loc="left")
    own = people_fit.person("p004").similarity(draws=10)
    typical = people_fit.similarity(draws=10)
    apart = {}
    for name in people_fit.names:
        others = [other for other in people_fit.names if other != name]
        apart[name] = 1 - stats.pearsonr(own.loc[name, others], typical.loc[name, others])[0]
    expected = pd.Series(apart).nlargest(5)
    assert [text.get_text() for text in right.get_yticklabels()] == expected.index.tolist()
    widths = [bar.get_width() for bar in right.patches]
    np.testing.assert_allclose(widths, expected, rtol=1e-5)


def test_closer_is_what_the_person_sees_as_more_alike(people_fit):
    person = people_fit.person("p004")
    seen = _seen_differently(people_fit, person)
    own, typical = person.similarity(draws=10), people_fit.similarity(draws=10)
    for name, row in seen.head(5).iterrows():
        own_rank, rank = own.loc[name].rank(), typical.loc[name].rank()
        assert own_rank[row.closer] >= rank[row.closer]
        assert own_rank[row.away] <= rank[row.away]


def test_groups_say_what_the_table_says(people_fit):
    table = people_fit.groups()
    panel, numbers = pv.plot.groups(people_fit).axes
    assert panel.get_title(loc="left") == "expert − novice"
    np.testing.assert_allclose(panel.collections[-1].get_offsets()[:, 0], table.difference)
    ends = np.array([segment[:, 0] for segment in panel.collections[0].get_segments()])
    np.testing.assert_allclose(ends, table[["5 %", "95 %"]])
    written = [text.get_text() for text in numbers.texts]
    assert written == [
        "P(> 0)",
        *(f"{p:.2f}" for p in table["P(> 0)"]),
        "p",
        *(f"{p:.3f}" for p in table.p_value),
    ]


def test_fits_that_have_no_people_or_groups(small_fit):
    for draw in FIGURES.values():
        with pytest.raises(pv.PyroviceError, match="of one mind"):
            draw(small_fit)
    with pytest.raises(pv.PyroviceError, match="knows of no groups"):
        pv.plot.groups(made_up_people(small_fit, 12, 3))
    with pytest.raises(pv.DataError, match="nobody of that name"):
        pv.plot.person(made_up_people(small_fit, 12, 3), "ann")
