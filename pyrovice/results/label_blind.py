"""What the answers of people say by themselves, without the groups that they were fitted in.

Draws of a person's traits are shrunk towards the mean of their group. To exchange people between
groups, what is compared must not know of groups: otherwise all members are alike beforehand.

What answers say of the traits u of one person is close to a Normal with precision L and shift s.
Given the group's mean m and the spread t, the slope of the logarithm of the posterior is then
s - L u - (u - m) / t². By Stein's identity its mean is zero, and its mean product with u is minus
one, also if every draw counts t² times, which keeps small spreads from having the last word. That
gives L and s from the draws, and with them what would be expected if the mean were zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def label_blind(drawn: Array, centre: Array, spread: Array) -> Array:
    """Everybody's traits as expected if nobody were in a group, (people, traits).

    Parameters
    ----------
    drawn, centre : array of shape (draws, people, traits)
        Traits, and the mean of the group that they were drawn around.
    spread : array of shape (draws, traits)
        How much people differ around it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centre = rng.normal(2, 1, (5000, 1, 1))
    >>> drawn = (0.6 + centre) / 2 + rng.normal(0, np.sqrt(0.5), centre.shape)
    >>> label_blind(drawn, centre, np.ones((5000, 1))).round(1).tolist()
    [[0.3]]
    """
    u = np.ascontiguousarray(drawn.transpose(1, 0, 2))
    if len(drawn) < 2 or np.ptp(drawn, axis=0).max(initial=0.0) == 0:
        return u.mean(1)
    precision, means, pull = _slopes(u, u - centre.transpose(1, 0, 2), spread**2)
    values, vectors = np.linalg.eigh((precision + precision.swapaxes(1, 2)) / 2)
    precision = (vectors * np.maximum(values, 0)[:, None]) @ vectors.swapaxes(1, 2)
    shift = (precision * means).sum(-1) + pull
    alone = precision + np.diag(1 / (spread**2).mean(0))
    return np.linalg.solve(alone, shift[..., None])[..., 0]


def _slopes(u: Array, away: Array, variance: Array) -> tuple[Array, Array, Array]:
    """Precisions (people, traits, traits), and the weighted means and pulls that go with them."""
    people, _, traits = u.shape
    precision, means = np.empty((2, people, traits, traits))
    pull = np.empty((people, traits))
    for j in range(traits):
        share = variance[:, j] / variance[:, j].sum()
        means[:, j] = np.einsum("n,pne->pe", share, u)
        centred = u - means[:, j, None]
        covariance = (centred * share[:, None]).swapaxes(1, 2) @ centred
        pulls = away[..., j] / variance[:, j].sum()
        pull[:, j] = pulls.sum(1)
        right = np.eye(traits)[j] - np.einsum("pn,pne->pe", pulls, centred)
        inverse = np.linalg.pinv(covariance, hermitian=True)
        precision[:, j] = np.einsum("pde,pe->pd", inverse, right)
    return precision, means, pull
