"""How alike two objects are: how often their pair would be kept.

The probability that {i, j} is kept, averaged over every third object k.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

# Entries of the (rows, m, m) block held at once: 400 MB in float32 with its temporaries.
BLOCK_ENTRIES = 2**24


def pair_probability(X: NDArray[np.floating]) -> NDArray[np.float32]:
    """Mean over third objects of the probability that each pair is kept.

    Parameters
    ----------
    X : array of shape (m, d)
        Non-negative embedding.

    Returns
    -------
    array of shape (m, m)
        Symmetric; the diagonal, which is no pair, is NaN.

    Examples
    --------
    >>> pair_probability(np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0]])).round(3)
    array([[  nan, 0.965, 0.018],
           [0.965,   nan, 0.018],
           [0.018, 0.018,   nan]], dtype=float32)
    """
    rows = torch.as_tensor(np.ascontiguousarray(X, dtype=np.float32))
    m = len(rows)
    S = rows @ rows.T
    result = torch.empty(m, m)
    itself = torch.arange(m)
    for block in itself.split(max(1, BLOCK_ENTRIES // m**2)):
        # odds[b, j, k]: how much better the pairs {i, k} and {j, k} do than {i, j}
        ij = S[block][:, :, None]
        odds = (S[block][:, None, :] - ij).exp_().add_((S[None] - ij).exp_())
        kept = odds.add_(1).reciprocal_()
        kept[torch.arange(len(block)), :, block] = 0
        kept[:, itself, itself] = 0
        result[block] = kept.sum(-1) / (m - 2)
    result.fill_diagonal_(torch.nan)
    return result.numpy()
