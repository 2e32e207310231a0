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
# Swap priors and guides

The prior and the guide are arguments of `pv.fit`. Here one of them changes at a time, and the
fits are compared. The judgments are **simulated**: 80 everyday objects in seven made-up
dimensions. So the truth is known, and nothing here says anything about people.
"""

# %%
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import display
from torch.distributions import constraints

with warnings.catch_warnings():
    # Pyro would draw its progress bars with ipywidgets, if that is installed. None is drawn here.
    warnings.filterwarnings("ignore", "IProgress not found")
    import pyro
import pyro.distributions as dist
from pyro.infer import autoguide

import pyrovice as pv
from pyrovice.model.simulation import choice_probabilities
from pyrovice.plot.style import BLUE, GREEN, GREY, ORANGE, PAGE_WIDTH, STYLE, PaperFigure

example = pv.load_example()
truth = example.embedding
train, test = example.triplets.split(0.9, 0.1, seed=0)
positive = truth.to_numpy()[truth > 0]
print(example.description)
print(f"{len(train):,} judgments to fit, {len(test):,} of other triplets held out")
print(f"true weights: {1 - positive.size / truth.size:.0%} are zero,", end=" ")
print(f"the others lie between {positive.min()} and {positive.max()}")

# %% [markdown]
"""
## What a prior implies before data

A weight says little by itself, a choice does not. `pv.priors.predictive` draws embeddings from a
prior, rectifies them and asks the questions of the data. The answers are not used. Only the row
`agreement` has a counterpart in them: how often an answer is that of the majority, where the
same question was asked more than once.
"""

# %%
priors = {
    "SpikeSlab": pv.SpikeSlab(),
    "LearnedSpikeSlab": pv.LearnedSpikeSlab(),
    "Horseshoe": pv.Horseshoe(),
    "ARD": pv.ARD(),
    "Exponential": dist.Exponential(5.0),
}
implied = {
    name: pv.priors.predictive(priors[name], train, dimensions=15)
    for name in ("SpikeSlab", "Horseshoe", "Exponential")
}
for name in ("SpikeSlab", "Exponential"):
    figure = pv.plot.prior_predictive(implied[name])
    figure.suptitle(name, x=0.01, ha="left", fontsize=9, fontweight="bold")
    display(figure)
print(f"agreement in the data: {implied['SpikeSlab'].observed_agreement:.3f}")
pd.DataFrame({name: result.table()["mean"] for name, result in implied.items()}).round(3)

# %% [markdown]
"""
The spike and slab expects about as much agreement as there is. The other two expect less, so the
judgments will have to pull against them.

## Five priors, one guide

Only `prior` changes. All fits start from 15 dimensions and take half as many steps as they would
by default, which is enough here. What a fit warns of is printed. In the tables:

- *kept*: dimensions that pass the rule of the fit. The truth has seven.
- *modelled*: dimensions in the model at the end. Training drops those that are next to nothing, or
  explain much less than they cost in the bound, if the guide lets it.
- *−ELBO/n*: the loss in nats per judgment, mean of the last 100 epochs. It is a bound for the
  modelled dimensions.
- *nats*, *accuracy*: cross-entropy and accuracy on the held-out judgments.
- *found*: share of the true dimensions that correlate above 0.8 with a kept one.
- *sd*: mean posterior standard deviation of the weights in the kept dimensions.
"""

# %%
shared = {
    "dimensions": 15,
    "training": pv.Training(schedule=pv.Anneal(steps=1000)),
    "progress": False,
}
fits, rows = {}, {}


def compare(prior_name, guide_name, **choice):
    """Fit, print what the fit warns of, and note its scores."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        fit = pv.fit(train, **choice, **shared)
    seconds = time.perf_counter() - began
    for warning in warned:
        print(f"{prior_name}, {guide_name}: {warning.message}")
    scores = fit.evaluate(test)
    embedding = fit.embedding()
    correlation = pd.DataFrame({dim: truth.corrwith(embedding[dim]) for dim in embedding})
    fits[prior_name, guide_name] = fit
    rows[prior_name, guide_name] = {
        "kept": fit.n_dimensions,
        "modelled": fit.model.dimensions,
        "−ELBO/n": fit.history.loss.tail(100).mean(),
        "nats": scores.cross_entropy,
        "accuracy": scores.accuracy,
        "found": (correlation.max(axis=1) > 0.8).mean(),
        "sd": fit.embedding("sd").to_numpy().mean(),
        "seconds": seconds,
    }


def table():
    """All fits so far."""
    index = pd.MultiIndex.from_tuples(rows, names=["prior", "guide"])
    decimals = {"−ELBO/n": 4, "nats": 4, "accuracy": 3, "found": 2, "sd": 3, "seconds": 1}
    return pd.DataFrame(list(rows.values()), index=index).round(decimals)


for name, prior in priors.items():
    compare(name, "MeanField", prior=prior)
table().drop(columns="sd")

# %% [markdown]
"""
How each of them meets the rectifier, which is applied to X before objects are compared:

- `SpikeSlab` is symmetric: half of its mass becomes exact zeros, and the spike makes most of the
  rest small.
- `LearnedSpikeSlab` is the same after rectification, with π and both scales learned: π counts the
  small weights beyond the half that is zero anyway.
- `Horseshoe` is symmetric too: a zero has probability one half whatever τ is, so only positive
  weights say something about τ.
- `ARD` is symmetric with a scale per dimension: a dimension can shrink as a whole, but half of its
  weights are expected to be zero at any scale.
- `Exponential` is positive: the rectifier is idle, no weight is exactly zero, and a dimension is
  kept when its largest weight exceeds 0.1.

All find the seven dimensions. A difference in the bound is no verdict by itself: it may be tighter
for one prior than for another.

Next, what the fits learned about their priors, and the largest weight of each dimension under the
exponential one.
"""

# %%
learned = ["LearnedSpikeSlab", "Horseshoe", "ARD"]
display(pd.concat({name: fits[name, "MeanField"].hyperparameters() for name in learned}).round(2))
exponential = fits["Exponential", "MeanField"]
display(exponential.importance().to_frame("largest weight").T.round(2))

# %% [markdown]
"""
The τ of the horseshoe was expected around 0.3 and is far above it. Weights that do not matter need
no small scale here, because the rectifier makes them zero at any scale, and the positive weights
of the truth are not small. So the prior gives up most of its peak and moves towards a Normal of
width `slab`. The scales of `ARD` lie in the upper part of their prior, for the same weights.

The exponential prior keeps the same seven. By their largest weights alone that would be hard to
tell: those of an idle dimension go back to the prior, whose median, ln 2 / 5 ≈ 0.14, is above the
threshold of 0.1. But weights like these make the answers no more probable, the bound is higher
without them, and training with `MeanField` drops dimensions that explain much less than they cost.

## Four guides, one prior

Only `guide` changes. `AutoNormal` is Pyro's own class, as it stands. One more fit is a point under
the exponential prior. Below the table are the dimensions of the point under the spike and slab.
"""

# %%
guides = {"LowRank": pv.LowRank(5), "MAP": pv.MAP(), "AutoNormal": autoguide.AutoNormal}
for name, guide in guides.items():
    compare("SpikeSlab", name, guide=guide)
compare("Exponential", "MAP", prior=dist.Exponential(5.0), guide=pv.MAP())
display(table().query("prior == 'SpikeSlab' or guide == 'MAP'"))
weights = fits["SpikeSlab", "MAP"].embedding()
pd.DataFrame(
    {
        "largest weight": weights.max(),
        "objects above 0.5": (weights > 0.5).sum(),
        "nearest true dimension": [truth.corrwith(weights[dim]).idxmax() for dim in weights],
        "correlation": [truth.corrwith(weights[dim]).max() for dim in weights],
    }
).round(2)

# %% [markdown]
"""
- `LowRank(5)` lets weights vary together along five directions. Here that changes next to nothing.
- `AutoNormal` is the same family as `MeanField` when the prior is on the real line, and it finds
  the same. But nothing can be dropped from it while training. So its bound includes eight idle
  dimensions, which a Normal cannot match to a spike and slab for free. The two bounds are of
  different models.
- `MAP` is a point. It has no uncertainty, so no weight is credibly above zero or not, and
  dimensions are kept by their largest weight. Its loss lacks the entropy of the guide: it is not a
  bound and compares with no other number in that column.

Under the spike and slab no threshold helps the point. Dimensions that the data do not need took a
few objects each and gave them some of the largest weights, which costs held-out nats. A posterior
would have said how uncertain these are. Under the exponential prior every large weight has its
price, and a point works. That pair is SPoSE, `pv.spose(train, rate=5)`.

## Your own prior, your own guide

A prior is a function that samples the site `"X"` in two plates and returns it. Symmetric priors
expect half of the weights to be zero, and more of the true ones are. The prior below learns the
share.

A guide is a function of the model that returns a Pyro guide. The one below has a mean per weight,
as `MeanField` has, but one standard deviation per dimension.
"""


# %%
def learned_zeros(n_objects, dimensions):
    """Normal weights, shifted so that a learned share of them is negative."""
    zeros = pyro.sample("zeros", dist.Beta(2.0, 2.0))
    shift = dist.Normal(0.0, 1.0).icdf(zeros)
    with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
        return pyro.sample("X", dist.Normal(-shift, 1.0))


def one_sd_per_dimension(model):
    """Independent Normals, for priors on the real line that have no site but X."""
    m, d = model.n_objects, model.dimensions

    def guide(*args):
        loc = pyro.param("loc", lambda: 0.5 * torch.rand(m, d))
        sd = pyro.param("sd", lambda: 0.1 * torch.ones(d), constraint=constraints.positive)
        with pyro.plate("object", m, dim=-2), pyro.plate("dimension", d, dim=-1):
            return pyro.sample("X", dist.Normal(loc, sd))

    return guide


compare("learned_zeros", "MeanField", prior=learned_zeros)
compare("SpikeSlab", "one_sd_per_dimension", guide=one_sd_per_dimension)
display(fits["learned_zeros", "MeanField"].hyperparameters().round(2))
table().tail(2)

# %% [markdown]
"""
Both work like the built-in ones. The site `"zeros"` is among the hyperparameters. Its interval
lies below the true share: a Normal that is cut at zero expects small positive weights, and the
truth has none. A guide of your own starts where it says, and like `AutoNormal` it keeps all its
dimensions while training.

## What is refused

Some pairs make no sense. They are refused before training begins.
"""

# %%
refused = [
    {"prior": pv.Horseshoe(), "guide": pv.MAP()},
    {"prior": dist.Laplace(0.0, 0.3), "guide": autoguide.AutoLaplaceApproximation},
]
for pair in refused:
    try:
        pv.fit(train, **pair, **shared)
    except pv.GuideError as error:
        print(error, end="\n\n")

# %% [markdown]
"""
## All fits

All fits answer for the same held-out judgments, so the difference between two of them is more
certain than either score. *difference* is that of the nats from the first row, and *± 2 se* is two
standard errors of it, judgment by judgment. The last row is the embedding that the judgments were
simulated from.
"""


# %%
def nats(p):
    """Minus the log-probability of each held-out answer."""
    return -np.log(p[np.arange(len(test)), test.odd])


def change(name):
    """What sets a fit apart from the default."""
    prior_is_default, guide_is_default = name[0] == "SpikeSlab", name[1] == "MeanField"
    if prior_is_default:
        return "default" if guide_is_default else "another guide"
    return "another prior" if guide_is_default else "both"


changes = ["default", "another prior", "another guide", "both"]
order = sorted(fits, key=lambda name: changes.index(change(name)))
of_truth = choice_probabilities(truth.to_numpy(), test.objects)
scores = np.array([nats(p) for p in [*(fits[name].predict(test) for name in order), of_truth]])
difference = scores - scores[0]

index = pd.MultiIndex.from_tuples([*order, ("the truth", "")], names=["prior", "guide"])
comparison = table().reindex(index)
accuracy = (of_truth.argmax(axis=1) == test.odd).mean()
comparison.loc[("the truth", ""), ["kept", "accuracy"]] = truth.shape[1], round(accuracy, 3)
comparison = comparison.astype({"kept": "Int64", "modelled": "Int64"})
comparison["nats"] = scores.mean(axis=1).round(4)
comparison["difference"] = difference.mean(axis=1).round(4)
comparison["± 2 se"] = (2 * difference.std(axis=1) / np.sqrt(len(test))).round(4)
display(comparison)

# %%
looks = {
    "default": (GREY, "D"),
    "another prior": (BLUE, "o"),
    "another guide": (ORANGE, "s"),
    "both": (GREEN, "^"),
    "the truth": ("black", "v"),
}
kinds = pd.Series([*map(change, order), "the truth"])
with plt.rc_context(STYLE):
    figure = PaperFigure(figsize=(PAGE_WIDTH, 3.4))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    for kind, (colour, marker) in looks.items():
        at = np.flatnonzero(kinds == kind)
        points = comparison.iloc[at]
        style = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 5}
        left.errorbar(points["difference"], at, xerr=points["± 2 se"], label=kind, **style)
        right.plot(points["kept"], at, **style)
    labels = [", ".join(filter(None, name)) for name in comparison.index]
    left.set_yticks(range(len(labels)), labels)
    left.set_ylim(len(labels) - 0.5, -0.5)
    left.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    left.set_xlabel("held-out nats per judgment, minus the default's")
    right.axvline(truth.shape[1], color=GREY, linewidth=0.8, zorder=0)
    right.set_xlim(0, shared["dimensions"] + 1)
    right.set_xticks([0, truth.shape[1], shared["dimensions"]], ["0", "7 (truth)", "15 (start)"])
    right.set_xlabel("dimensions kept")
    right.tick_params(axis="y", length=0)
    handles = [handle[0] for handle in left.get_legend_handles_labels()[0]]
    figure.legend(handles, list(looks), loc="outside upper right", ncols=len(looks))
display(figure)

# %% [markdown]
"""
Less is better, and a bar is two standard errors to either side. On these simulated judgments most
choices of prior and guide agree to within a few thousandths of a nat, and on the seven dimensions.
What stands out is a point under a prior that puts no price on single large weights. Where weights
cannot be zero, look at the largest ones before you count dimensions. This is one data set and one
seed: change `train` to your own judgments and run it again.
"""
