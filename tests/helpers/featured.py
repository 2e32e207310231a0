"""Embeddings that follow from features, so that what should be found is known."""

import numpy as np
import pandas as pd


def featured(m, columns=6, dimensions=3, residual=0.2, seed=0):
    """A table of features, the weights X that follow from them, and the share explained."""
    rng = np.random.default_rng(seed)
    names = [f"thing {i}" for i in range(m)]
    table = pd.DataFrame(rng.standard_normal((m, columns)), index=names).add_prefix("f")
    standard = (table - table.mean()) / table.std(ddof=0)
    slopes = rng.standard_normal((columns, dimensions)) * 0.6 / np.sqrt(columns)
    signal = standard.to_numpy() @ slopes
    X = signal + 0.3 + residual * rng.standard_normal(signal.shape)
    share = signal.var(0) / (signal.var(0) + residual**2)
    return table, pd.DataFrame(X, index=names), share
