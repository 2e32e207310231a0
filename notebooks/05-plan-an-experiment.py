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
# Plan an experiment

How many judgments are enough? There are two answers. The paper's bound holds for any embedding
and is very careful. A simulation shows what a number of judgments gives, if the truth is like the
one simulated from. All judgments here are **simulated**.
"""

# %%
import math
import warnings

import pandas as pd

with warnings.catch_warnings():
    # ArviZ announces its next version, and Pyro asks for ipywidgets. Neither matters here.
    warnings.simplefilter("ignore")
    import pyrovice as pv
    from pyrovice.model.simulation import plausible_embedding

objects, dimensions, people = 40, 5, 60
print(f"{objects} objects have {math.comb(objects, 3):,} triplets.")
pv.bounds.design(objects, dimensions, participants=people)

# %% [markdown]
"""
## What the bound depends on

It grows with the product of objects and dimensions, and with one over the square of the error
allowed. It does not ask how many triplets there are.
"""

# %%
pd.DataFrame(
    {
        f"within {epsilon:g}": {
            f"{m} objects, {d} dimensions": pv.bounds.sample_size(m, d, epsilon=epsilon)
            for m, d in [(20, 3), (40, 5), (100, 10), (1854, 45)]
        }
        for epsilon in (0.1, 0.05)
    }
).map("{:,}".format)

# %% [markdown]
"""
## What fewer give

`judgments=[...]` makes up an embedding like the published ones, simulates so many judgments from
it, fits them with three seeds, and looks at what came back. *best* is the accuracy of the truth
itself, and no fit can do better. *recovered* is the share of the true dimensions that were found.
"""

# %%
quick = pv.Training(schedule=pv.Anneal(steps=300))
plan = pv.bounds.design(
    objects,
    dimensions,
    participants=people,
    judgments=[500, 1_000, 4_000],
    seeds=3,
    training=quick,
)
plan

# %%
figure = pv.plot.data_efficiency(plan.runs, ["accuracy", "dimensions", "recovered"])
figure.axes[0].axhline(plan.simulated.best.mean(), color="grey", linewidth=0.8, linestyle="--")
figure

# %% [markdown]
"""
The line is the accuracy of the truth. With too few judgments, dimensions are missing, and what is
not found cannot predict. Once all are found, more judgments sharpen the weights, which brings less
and less.

## From a pilot

A made-up truth may be easier or harder than yours. With a pilot, simulate from the pilot's own
embedding instead. What a pilot has not found cannot come back, so this is the lower end. It can be
far too low: of 40 objects of the built-in example, in seven dimensions of few objects each, a
pilot of 6,000 judgments kept two, and a design from it asks for too little. The truth below is
made up like the one above, and easier.
"""

# %%
truth = plausible_embedding(objects, 4, seed=7)  # which nobody knows
pilot = pv.simulate(truth, 1_500, seed=1)
with warnings.catch_warnings():
    # A pilot is small, and says so.
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    pilot_fit = pv.fit(pilot, training=quick, progress=False)
pilot_fit

# %%
pv.bounds.design(
    objects,
    pilot_fit.n_dimensions,
    participants=people,
    judgments=[500, 2_000],
    embedding=pilot_fit.embedding(),
    training=quick,
)

# %% [markdown]
"""
## After the experiment

The bound can also look back: how often will this embedding err on new triplets, given how often it
errs on the old ones? Weights are rounded first, because few different values make a simple
embedding, and simple ones cannot have fitted by chance.
"""

# %%
data = pv.simulate(truth, 8_000, seed=2)
train, test = data.split(0.9, 0.1, seed=0)
fit = pv.fit(train, training=quick, progress=False)
bound = pv.bounds.generalization(fit.embedding(), train, test=test)
print(bound)
pv.plot.quantization(bound)

# %% [markdown]
"""
The dashed line is the error of guessing. The error on triplets that were held out is far below the
bound, as it should be: the bound holds for the worst case. It is of use when nothing can be held
out.
"""
