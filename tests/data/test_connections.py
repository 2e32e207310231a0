"""Groups of objects that no judgment connects."""

import numpy as np
import pytest

import pyrovice as pv
from pyrovice.data import connections
from pyrovice.data.connections import groups, shown_pairs


def apart(n, seed):
    """Judgments of two groups of eight objects, and a ninth object of each that is never seen."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(8, 3, replace=False) + 9 * rng.integers(2) for _ in range(n)])
    return pv.Triplets.from_array(rows, n_objects=18)


def groups_by_hand(objects):
    found = []
    for row in objects.tolist():
        touching = [group for group in found if group & set(row)]
        found = [group for group in found if group not in touching]
        found.append(set(row).union(*touching))
    return len(found)


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("n", [1, 4, 9, 300])
def test_groups_and_pairs_are_those_found_by_hand(monkeypatch, n, table):
    monkeypatch.setattr(connections, "MOST_IN_A_TABLE", 100 if table else 2)
    for seed in range(5):
        data = apart(n, seed)
        assert groups(data.objects, 18) == groups_by_hand(data.objects) == data.describe().groups
        pairs, times = shown_pairs(data.objects, 18)
        expected = np.zeros((18, 18), int)
        for i, j, k in data.objects.tolist():
            for a, b in ((i, j), (i, k), (j, k)):
                expected[a, b] += 1
        np.testing.assert_array_equal(pairs, np.flatnonzero(expected))
        np.testing.assert_array_equal(times, expected.ravel()[pairs])


@pytest.mark.filterwarnings(
    "ignore:These .* carry no dimensions",
    "ignore:No dimension has more",
    "ignore:No judgment has 2 objects",
)
def test_a_fit_says_that_groups_cannot_be_compared():
    data = apart(200, 0)
    short = pv.Training(stop=pv.MaxEpochs(2))
    with pytest.warns(pv.PyroviceWarning, match="fall into 2 groups that no chain of judgments"):
        pv.fit(data, training=short, dimensions=2, progress=False)
