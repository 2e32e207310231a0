"""The priors that the paper chose from."""

from __future__ import annotations

from itertools import product

from pyrovice.model.priors.spike_slab import SpikeSlab

PIS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SPIKES = (0.125, 0.25, 0.5, 1.0, 2.0)
SLABS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def paper_grid() -> list[SpikeSlab]:
    """The paper's 180 combinations of spike, slab and π, for :func:`pyrovice.sweep`.

    Examples
    --------
    >>> import pyrovice as pv
    >>> grid = pv.priors.paper_grid()
    >>> len(grid), grid[0]
    (180, SpikeSlab(spike=0.125, slab=0.25, pi=0.1, family='normal'))
    """
    return [
        SpikeSlab(spike, slab, pi)
        for spike, slab, pi in product(SPIKES, SLABS, PIS)
        if spike < slab
    ]
