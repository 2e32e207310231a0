"""Made-up embeddings that tests simulate judgments from."""

import numpy as np


def sparse_embedding(m, d, seed):
    """Non-negative weights, about a third of them not zero, none of the objects blank."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(4.0, 0.4, (m, d)) * (rng.random((m, d)) < 0.3)
    X[np.arange(m), rng.integers(0, d, m)] = rng.gamma(4.0, 0.4, m)
    return X
