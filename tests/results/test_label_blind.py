"""People are exchanged between groups by what does not know of groups."""

import numpy as np

from pyrovice.results.label_blind import label_blind

PEOPLE, TRAITS, DRAWS = 30, 2, 800


def drawn_in_groups(shift, precision, group, rng):
    """Gibbs sampling of traits, means of two groups and spreads, as a fit draws them."""
    spread, mean = np.full(TRAITS, 0.3), np.zeros((2, TRAITS))
    draws = []
    for _ in range(DRAWS):
        at = precision + np.diag(spread**-2)
        expected = np.linalg.solve(at, (shift + mean[group] / spread**2)[..., None])[..., 0]
        root = np.linalg.cholesky(np.linalg.inv(at))
        u = expected + np.einsum("pde,pe->pd", root, rng.normal(size=shift.shape))
        for g in (0, 1):
            mine = u[group == g]
            mean[g] = mine.sum(0) / (len(mine) + 1) + spread * rng.normal(size=TRAITS) / np.sqrt(
                len(mine) + 1
            )
        squares = ((u - mean[group]) ** 2).sum(0) + (mean**2).sum(0) + 0.02
        spread = np.sqrt(squares / rng.chisquare(PEOPLE + 3, TRAITS))
        draws.append((u, mean[group], spread))
    return (np.stack(each) for each in zip(*draws, strict=True))


def test_what_answers_say_is_found_in_draws_that_know_of_groups():
    rng = np.random.default_rng(0)
    group = np.arange(PEOPLE) % 2
    root = rng.normal(size=(PEOPLE, TRAITS, TRAITS)) * 2
    precision = root @ root.mT + np.eye(TRAITS)
    # All of one group answer alike, and otherwise than the other.
    seen = np.where(group[:, None] == 0, 0.5, -0.5) + 0.2 * rng.normal(size=(PEOPLE, TRAITS))
    shift = np.einsum("pde,pe->pd", precision, seen)
    u, centre, spread = drawn_in_groups(shift, precision, group, rng)
    alone = precision + np.diag(1 / (spread**2).mean(0))
    expected = np.linalg.solve(alone, shift[..., None])[..., 0]
    found = label_blind(u, centre, spread)
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.9
    # What was drawn has the groups further apart, for the same spread of their members.
    apart, true, drawn = (
        np.abs(x[group == 0].mean(0) - x[group == 1].mean(0)) for x in (found, expected, u.mean(0))
    )
    np.testing.assert_allclose(apart, true, rtol=0.15)
    assert np.all(drawn > 1.3 * true)


def test_groups_that_say_nothing_leave_nothing():
    rng = np.random.default_rng(1)
    group = np.arange(PEOPLE) % 2
    precision = np.tile(np.eye(TRAITS), (PEOPLE, 1, 1))
    shift = rng.normal(size=(PEOPLE, TRAITS))
    u, centre, spread = drawn_in_groups(shift, precision, group, rng)
    alone = precision + np.diag(1 / (spread**2).mean(0))
    expected = np.linalg.solve(alone, shift[..., None])[..., 0]
    found = label_blind(u, centre, spread)
    difference = found[group == 0].mean(0) - found[group == 1].mean(0)
    true = expected[group == 0].mean(0) - expected[group == 1].mean(0)
    np.testing.assert_allclose(difference, true, atol=0.2 * expected.std())


def test_one_draw_is_as_it_is():
    u = np.arange(6.0).reshape(1, 3, 2)
    assert label_blind(u, np.zeros_like(u), np.ones((1, 2))).tolist() == u[0].tolist()
