import numpy as np

import pyrovice as pv
from pyrovice.model import simulation


def test_the_example_is_simulated_and_says_so():
    example = pv.load_example()
    assert "SIMULATED" in repr(example)
    assert "simulated" in pv.load_example.__doc__
    assert example.triplets == pv.simulate(example.embedding, 20_000, seed=2022)


def test_its_dimensions_can_be_read_from_the_names():
    embedding = pv.load_example().embedding
    assert embedding.shape == (80, 7)
    assert embedding.index.is_unique
    assert (embedding >= 0).all(axis=None)
    assert (embedding > 0.5).sum().min() > 5
    assert ((embedding > 0).sum(axis=1) >= 1).all()
    assert {"dog", "cat"} <= set(embedding["animal"].nlargest(4).index)
    assert {"hammer", "screwdriver"} <= set(embedding["tool"].nlargest(4).index)


def test_simulated_answers_follow_the_probabilities():
    X = np.array([[2.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.5, 0.0]])
    t = pv.simulate(X, 40_000, seed=0)
    p = simulation.choice_probabilities(X, t.objects)
    for code in range(3):
        # Four standard errors of a share of 40,000.
        assert abs((t.odd == code).mean() - p[:, code].mean()) < 4 * np.sqrt(0.25 / 40_000)
    # Each of the four triplets is shown equally often.
    counts = np.unique(t.objects, axis=0, return_counts=True)[1]
    assert len(counts) == 4
    assert np.abs(counts - 10_000).max() < 4 * np.sqrt(40_000 * 0.25 * 0.75)


def test_a_table_that_cannot_be_written_to_is_simulated_from():
    weights = np.ones((10, 1))
    weights.flags.writeable = False
    assert pv.simulate(weights, 50, seed=0) == pv.simulate(np.ones((10, 1)), 50, seed=0)


def test_random_triplets_are_uniform_and_distinct():
    rows = simulation.random_triplets(6, 60_000, np.random.default_rng(0))
    assert (np.diff(rows, axis=1) > 0).all()
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    assert len(counts) == 20
    assert np.abs(counts - 3000).max() < 4.5 * np.sqrt(3000)


def test_the_table_has_the_same_judgments_in_any_order_on_the_screen():
    example = pv.load_example()
    table = example.table
    again = pv.Triplets.from_dataframe(
        table, objects=["left", "middle", "right"], names=example.triplets.names
    )
    np.testing.assert_array_equal(again.objects, example.triplets.objects)
    np.testing.assert_array_equal(again.odd, example.triplets.odd)
    for place in ("left", "middle", "right"):
        # Three standard errors of a share of 20,000, had the odd one no place of its own.
        assert abs((table[place] == table.odd).mean() - 1 / 3) < 3 * np.sqrt(2 / 9 / len(table))
    assert table.participant.nunique() == 30
    assert 2400 < table.reaction_time.median() < 2600


def test_the_table_of_people_who_differ_says_who_answered():
    example = pv.load_example(people=5)
    assert (example.table.participant == example.triplets.participants).all()
