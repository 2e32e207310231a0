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
# Posterior checks with ArviZ

How far can a fit be trusted? A fit becomes an ArviZ container with named coordinates, so that
summaries, plots, leave-one-out and model comparison work as they do for any other Bayesian
model. Then come checks that are made for odd-one-out judgments. The judgments are **simulated**:
80 everyday objects in seven made-up dimensions.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

with warnings.catch_warnings():
    # ArviZ announces its next version, and Pyro asks for ipywidgets. Neither matters here.
    warnings.simplefilter("ignore")
    import arviz as az

    import pyrovice as pv

data = pv.load_example().triplets
train, test = data.split(0.8, 0.2, seed=0)
fit = pv.fit(train, dimensions=12, progress=False)
fit

# %% [markdown]
"""
## A container with names

`X` holds the rectified weights of the kept dimensions, `odd` the position of the odd one among
the three objects of a triplet. One draw of all groups belongs together.
"""

# %%
idata = fit.to_arviz(train, draws=1000)
idata.posterior

# %% [markdown]
"""
Draws from a guide are independent whether or not the guide is right. R-hat and effective sample
sizes of one fit say nothing about it, so ask for the statistics only.
"""

# %%
top = fit.top_objects(6)[1].tolist()
az.summary(
    idata,
    var_names=["X"],
    coords={"object": top, "dimension": [1]},
    kind="stats",
)

# %%
az.plot_forest(
    idata,
    var_names=["X"],
    coords={"object": top, "dimension": [1]},
    combined=True,
    hdi_prob=0.9,
    figsize=(5, 2.5),
)
plt.gca().set_title("Dimension 0: its top objects, 90 % intervals", fontsize=10)
plt.show()

# %% [markdown]
"""
Several seeds become chains once their dimensions are in one common order. *Now* R-hat means
something: whether the seeds found the same solution.
"""

# %%
seeds = [fit] + [pv.fit(train, dimensions=12, seed=seed, progress=False) for seed in (1, 2)]
print(pv.reproducibility(seeds))
chains = pv.to_arviz(pv.align(seeds), draws=200, groups=["posterior"])
rhat = az.rhat(chains)["X"]
print(f"R-hat over three seeds: median {float(rhat.median()):.3f}, largest {float(rhat.max()):.2f}")

# %% [markdown]
"""
## Leave-one-out and comparison

Pareto k is small for nearly all judgments: each of them tells little by itself. `pv.compare` is
ArviZ's leave-one-out for several fits of the same judgments; `folds=5` would add the slower
reference, cross-validation by refitting.
"""

# %%
az.loo(idata)

# %%
with warnings.catch_warnings():
    # Two dimensions are both kept, and the fit says that there may be more. There are.
    warnings.simplefilter("ignore", pv.PyroviceWarning)
    few = pv.fit(train, dimensions=2, progress=False)
tight = pv.fit(train, prior=pv.SpikeSlab(spike=0.05, slab=0.3), dimensions=12, progress=False)
pv.compare({"default": fit, "two dimensions": few, "tight slab": tight}, train)

# %% [markdown]
"""
## Could the judgments have come from this model?

Answers are drawn to the same questions, and statistics of the real answers are looked up among
those of the drawn ones. On judgments that the fit has not seen, tail areas are like p-values.
"""

# %%
report = pv.checks.report(fit, test)
report

# %%
pv.plot.checks(report)

# %% [markdown]
"""
Now the same with people who differ: half of them see only the first three of the seven
dimensions. Predictions are a little worse on average, which nobody would notice. That
people weigh the dimensions differently is what the check is for.
"""

# %%
truth = pv.load_example().embedding
rng = np.random.default_rng(0)
person = rng.integers(0, 20, len(data))
narrow = pv.simulate(truth.iloc[:, :3], len(data), seed=5)
wide = pv.simulate(truth, len(data), seed=5)
sees_all = person < 10
mixed = pv.Triplets(
    wide.objects,
    np.where(sees_all, wide.odd, narrow.odd),
    names=wide.names,
    participants=person,
)
mixed_fit = pv.fit(mixed, dimensions=12, progress=False)
mixed_report = pv.checks.report(mixed_fit, mixed)
mixed_report

# %%
slopes = mixed_report.checks["own weights"].details
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
image = axes.imshow(slopes.sort_index(), cmap="PuOr", vmin=-6, vmax=6, aspect="auto")
axes.set(xlabel="dimension", ylabel="participant", yticks=range(0, 20, 5))
figure.colorbar(image, label="weighs it more (z)")
plt.show()

# %% [markdown]
"""
## How far can this fit be trusted?

`pv.diagnose` looks at training, seeds, importance weights, calibration and the checks above,
simulates answers from the fit and fits them again, and ends with what to do.
"""

# %%
pv.diagnose(fit, train, held_out=test, others=seeds[1:])
