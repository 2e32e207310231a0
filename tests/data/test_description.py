import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import pyrovice as pv
from pyrovice import Triplets


def test_by_hand():
    t = Triplets(
        [[0, 1, 2], [0, 1, 2], [0, 1, 3]],
        [2, 1, 1],
        names=["ant", "bee", "cat", "dog", "elk"],
        participants=["x", "y", "x"],
    )
    d = t.describe()
    assert (d.judgments, d.objects, d.triplets, d.repeated, d.anchored) == (3, 5, 2, 1, 0)
    assert d.sightings.to_dict() == {"ant": 3, "bee": 3, "cat": 2, "dog": 1, "elk": 0}
    assert d.participants.to_dict() == {"x": 2, "y": 1}
    assert d.positions.tolist() == [0, 2, 1]
    # Shown together: 01 three times, 02 and 12 twice, 03 and 13 once; five of ten pairs never.
    assert d.pairs.to_dict() == {0: 5, 1: 2, 2: 2, 3: 1}
    assert d.coverage == 0.5
    assert d.connected
    assert "1 objects were never judged" in repr(d)
    assert "4 objects are in fewer than 10 judgments: 'dog' 1, 'cat' 2" in repr(d)


def test_groups_that_nothing_connects():
    t = Triplets([[0, 1, 2], [3, 4, 5], [4, 5, 7]], [0, 0, 0])
    assert t.describe().groups == 2
    assert not t.describe().connected
    assert "2 groups that no chain of judgments connects" in repr(t.describe())
    assert Triplets([[0, 1, 2], [2, 3, 4]], [0, 0]).describe().connected


def test_places_on_the_screen_count_where_they_are_known():
    t = Triplets.from_array([[2, 1, 0], [2, 1, 0], [0, 1, 2]], odd=[0, 0, 1])
    d = t.describe()
    assert d.on_screen
    assert d.positions.tolist() == [2, 1, 0]
    assert "place on the screen: 66.7%, 33.3%, 0.0%" in repr(d)


def test_what_the_file_said_is_repeated(tmp_path):
    (tmp_path / "t.txt").write_text("0 1 2\n0 1 1\n")
    with pytest.warns(pv.PyroviceWarning):
        t = Triplets.read(tmp_path / "t.txt", bad_rows="leave out")
    assert "left out: 1 repeats an object; a triplet has three different ones (line 2)" in repr(
        t.describe()
    )


def test_misspelt_names_are_doubted():
    rng = np.random.default_rng(0)
    rows = np.array([np.sort(rng.permutation(6)[:3]) for _ in range(200)])
    t = Triplets(
        rows, np.zeros(200, int), names=["horse", "cat", "dog", "cow", "pig", "hen", "hrse"]
    )
    t = Triplets.concat([t, Triplets([[1, 2, 6]], [0], names=t.names)])
    assert "'hrse' (once, like 'horse')" in t.describe().doubts[0]


@pytest.mark.parametrize("n", [30, 3000])
def test_the_picture_shows_the_numbers(n):
    t = pv.simulate(np.ones((12, 1)), n, seed=0)
    t = Triplets(
        t.objects, t.odd, names=t.names, trials=pd.DataFrame({"position": t.odd.astype(int) + 1})
    )
    figure = pv.plot.coverage(t)
    FigureCanvasAgg(figure).draw()
    objects, pairs, positions = figure.axes
    assert sum(bar.get_height() for bar in objects.patches) == 12
    assert sum(bar.get_height() for bar in pairs.patches) == pytest.approx(1)
    assert len(pairs.get_xticks()) <= 12
    shares = [bar.get_height() for bar in positions.patches[:3]]
    np.testing.assert_allclose(shares, np.bincount(t.odd) / n)
