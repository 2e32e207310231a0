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
# Features of the objects, and objects that nobody has judged

Activations of a network, word vectors, ratings: most labs know something of their objects before
anybody has judged them. `prior=pv.Features(table)` puts it into the model: the weights of an
object lie around a regression on its features, fitted together with everything else. What is
gained is largest where judgments are few. And an object that nobody has judged still has
features.

The judgments are **simulated**: 80 everyday objects in seven made-up dimensions, 2,000 judgments,
as many as twenty people give in ten minutes each. The features are made up too, in two blocks: 30
"activations", noisy mixtures of the true dimensions as those of a network might be, and 20
columns of plain noise, to see what becomes of features that say nothing.
"""

# %%
import warnings

import numpy as np
import pandas as pd

import pyrovice as pv

with warnings.catch_warnings():
    # Pyro would draw its progress bars with ipywidgets, if that is installed. None is drawn here.
    warnings.filterwarnings("ignore", "IProgress not found")
    example = pv.load_example()
truth = example.embedding
rng = np.random.default_rng(0)
mixtures = truth.to_numpy() @ rng.normal(size=(7, 30))
mixtures = mixtures / mixtures.std(axis=0) + 0.4 * rng.normal(size=mixtures.shape)
features = {
    "activations": pd.DataFrame(mixtures, index=truth.index).add_prefix("unit "),
    "noise": pd.DataFrame(rng.normal(size=(80, 20)), index=truth.index).add_prefix("noise "),
}
few, test = example.triplets.split(0.1, 0.9, seed=0)
print(f"{len(few):,} judgments to fit, {len(test):,} of other triplets held out")

# %% [markdown]
"""
A table is a DataFrame indexed by the names of the objects, in any order; a dict of tables makes
blocks that are scaled apart. `pv.read_features` reads `.npy`, `.csv`, `.parquet` and folders with
one file per object. The columns are standardised and turned to principal components.
"""

# %%
plain = pv.fit(few, dimensions=12, progress=False)
fit = pv.fit(few, prior=pv.Features(features), dimensions=12, progress=False)
scores = {"no features": plain, "features": fit}
pd.DataFrame(
    {
        name: {
            "held-out nats": each.evaluate(test, draws=200).cross_entropy,
            "accuracy": each.evaluate(test, draws=200).accuracy,
            "dimensions": each.n_dimensions,
        }
        for name, each in scores.items()
    }
).T.round(3)

# %% [markdown]
"""
How many judgments is that worth? Without features, more of them reach what the table below says.
(`pv.refine(fit.prune(), few)`, which samples around a fit, gains something on top.)
"""

# %%
rows = {}
for n in (2000, 3000, 4000):
    some = example.triplets.split(n / 20_000, 1 - n / 20_000, seed=0)[0]
    rows[n] = pv.fit(some, dimensions=12, progress=False).evaluate(test).accuracy
pd.Series(rows, name="accuracy without features").rename_axis("judgments").round(3)

# %% [markdown]
"""
## What the features explain

`fit.explained()` says how much of each dimension the features predict, block by block, for an
object that is left out of the regression. The noise explains nothing: its reach was learned to be
next to zero.
"""

# %%
fit.explained().round(2)

# %%
pv.plot.features(fit)

# %% [markdown]
"""
The features that go with a dimension most closely, and what a standard deviation of each adds to
a weight:
"""

# %%
fit.top_features(3)

# %%
fit.feature_weights().round(2).head(4)

# %% [markdown]
"""
## Objects that nobody has judged

Eight objects are taken out of the judgments altogether, and predicted from their features. Their
intervals are wide, as they should be: features leave something open.
"""

# %%
hidden = ["dog", "car", "apple", "hammer", "guitar", "shirt", "rose", "ball"]
names = np.array(example.triplets.names)
unseen = np.isin(names[example.triplets.objects], hidden).any(axis=1)
known = example.triplets[~unseen].compact()
known = known.subset(2000, seed=0)
seen = {name: table.drop(index=hidden) for name, table in features.items()}
new = {name: table.loc[hidden] for name, table in features.items()}
fit = pv.fit(known, prior=pv.Features(seen), dimensions=12, progress=False)
top = fit.top_objects(4).T.agg(", ".join, axis=1)
fit.embed(new).round(2).T.assign(dimension=top).set_index("dimension")

# %%
wide = fit.embed(new, "sd").mean().mean() / fit.embedding("sd").mean().mean()
print(f"The sd of a new object's weight is {wide:.1f} times that of a judged one's.")

# %% [markdown]
"""
`fit.with_objects(table)` is a fit over old and new objects together, which predicts judgments:
"""

# %%
extended = fit.with_objects(new)
asked = example.triplets[unseen]
place = {name: i for i, name in enumerate(extended.names)}
objects = np.vectorize(place.get)(names[asked.objects])
about_new = pv.Triplets.from_array(objects, odd=asked.odd, names=extended.names)
score = extended.evaluate(about_new, draws=200)
print(f"{score.n:,} judgments with an object that nobody had judged")
print(f"accuracy {score.accuracy:.3f}, {score.cross_entropy:.3f} nats; chance .333, 1.099 nats")

# %% [markdown]
"""
Objects that are named in the judgments' `names` and have features need not be judged at all, or
only a few times: `pv.fit` does with them what it can, and their intervals shrink as judgments
arrive.

Does it help with real judgments? On those of THINGS, with CLIP and word vectors, it does by more
than any other choice of prior: `benchmarks/RESULTS.md` has the numbers.
"""
