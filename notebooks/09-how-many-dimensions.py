# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
"""
# How many dimensions, really?

The number of dimensions that a fit keeps moves a little with its learning rate and seed. This
notebook gets a count with an interval, finds out which dimensions are real, makes one embedding of
several fits, and asks whether intervals hold. The judgments are **simulated** from seven
dimensions.
"""

# %%
import pyrovice as pv

data = pv.load_example().triplets
few, test = data.split(0.25, 0.25, seed=0)
fit = pv.fit(few, dimensions=12, progress=False)
print(fit)

# %% [markdown]
"""
## A count with an interval

Refits to random 80 % of the judgments, at a half, one and two times the automatic learning rate: a
dimension is real if it comes back.
"""

# %%
found = fit.dimensionality(few, progress=False)
found

# %%
pv.plot.dimensionality(found)

# %% [markdown]
"""
With three fifths of these judgments a fit keeps seven dimensions too, but not all of them come
back. The interval is about what the judgments can show. Where the count still grows with them, as
here, it allows for dimensions that all judgments show and no part of them does.
"""

# %%
fewer, _ = data.split(0.15, 0.85, seed=0)
less = pv.fit(fewer, dimensions=12, progress=False)
print(less)
unsure = less.dimensionality(fewer, progress=False)
unsure

# %%
pv.plot.dimensionality(unsure)

# %% [markdown]
"""
## What several fits agree on

A consensus is a fit like any other. It keeps the dimensions that at least half of its fits have,
and its predictions are the mean of theirs.
"""

# %%
fits = [fit, *(pv.fit(few, dimensions=12, seed=seed, progress=False) for seed in range(1, 5))]
together = pv.consensus(fits)
print(together.reproducibility().to_string())
print("single fits", sorted(round(each.evaluate(test).cross_entropy, 4) for each in fits))
print("consensus  ", round(together.evaluate(test, draws=500).cross_entropy, 4))

# %% [markdown]
"""
## Do intervals hold?

Draws of the fit are taken for the truth, the same questions are answered by them, and the model is
fitted again. How many intervals hold the truth?
"""

# %%
held = pv.calibrate(fit, few, simulations=6, progress=False)
held

# %%
pv.plot.ranks(held)
