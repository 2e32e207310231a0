"""Dimensions count from 1 in everything that a person reads."""

import re

import pandas as pd
import pytest

import pyrovice as pv
from pyrovice.report import render


def test_one_numbering_everywhere(small, small_fit, tmp_path):
    numbers = list(range(1, small_fit.n_dimensions + 1))
    assert numbers == small_fit.embedding().columns.tolist()
    assert numbers == small_fit.top_objects().columns.tolist()
    assert numbers == small_fit.importance().index[: len(numbers)].tolist()
    assert numbers == small_fit.site("X", draws=3).dimension.values[: len(numbers)].tolist()
    assert numbers == small_fit.to_arviz(draws=3).posterior["X"].dimension.values.tolist()
    titles = [axes.get_title(loc="left") for axes in pv.plot.dimensions(small_fit).axes]
    assert numbers == [int(title.split()[1]) for title in titles]
    assert numbers == [int(n) for n in re.findall(r'<h3 id="dimension-(\d+)"', render(small_fit))]
    small_fit.write_embedding(tmp_path / "embedding.csv")
    exported = pd.read_csv(tmp_path / "embedding.csv", index_col="object").columns
    assert exported.tolist() == [f"dim_{number}" for number in numbers]
    assert pv.reproducibility([small_fit, small_fit]).table.dimension.tolist() == numbers * 2


def test_weights_of_people_have_the_numbers_of_the_dimensions(people_fit):
    weights = people_fit.people().filter(regex=r"^weight \d+$")
    assert weights.columns.tolist() == [f"weight {dim}" for dim in people_fit.embedding()]
    drawn = people_fit.posterior.others["person_weight"].pooled[:, :, 0]
    assert weights["weight 1"].iloc[3] == pytest.approx(float(pd.Series(drawn[:, 3]).median()))
    assert people_fit.groups(permutations=9).index.get_level_values(0).min() == 1


def test_arrays_are_addressed_by_position(small_fit):
    drawn = small_fit.draws(50, seed=1)
    from_table = small_fit.site("X", draws=50, seed=1).sel(dimension=2).values[0]
    assert (drawn[:, :, 1] == from_table).all()


def test_the_heat_map_is_numbered_from_one(small_fit):
    axes = pv.plot.embedding(small_fit).axes[0]
    shown = [tick.get_text() for tick in axes.get_xticklabels()]
    assert shown == [str(number) for number in small_fit.embedding()]
    assert list(axes.get_xticks()) == list(range(small_fit.n_dimensions))
