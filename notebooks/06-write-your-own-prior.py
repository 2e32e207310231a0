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
# Write your own prior

A prior of your own says what you know about the objects or the dimensions before any judgment.
Here are five of them and a choice, each a short Pyro function, compared with the default. The
judgments are **simulated**: 80 everyday objects in seven made-up dimensions. Only 3,000 of the
20,000 are fitted, because a prior matters most where judgments are few.
"""

# %%
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import display

with warnings.catch_warnings():
    # ArviZ announces its next version, and Pyro asks for ipywidgets. Neither matters here.
    warnings.simplefilter("ignore")
    import pyro

    import pyrovice as pv
import pyro.distributions as dist
from pyro import poutine
from pyro.infer import Predictive, Trace_ELBO

from pyrovice.model.simulation import choice_probabilities
from pyrovice.plot.style import BLUE, GREEN, GREY, ORANGE, PAGE_WIDTH, STYLE, PaperFigure

example = pv.load_example()
truth = example.embedding
train, test = example.triplets.split(0.15, 0.85, seed=0)
names = np.array(train.names)
shared = {
    "dimensions": 12,
    "training": pv.Training(schedule=pv.Anneal(steps=600)),
    "progress": False,
}
fits = {}


def fit(name, **parts):
    """Fit with these parts, print what the fit warns of, and keep it by its name."""
    with warnings.catch_warnings(record=True) as warned:
        fits[name] = pv.fit(train, **parts, **shared)
    for warning in warned:
        print(f"{name}: {warning.message}")
    return fits[name]


print(f"{len(train):,} judgments to fit, {len(test):,} of other triplets held out")
fit("SpikeSlab")

# %% [markdown]
"""
A prior is a function of the numbers of objects and dimensions. It samples the site `"X"` in the
plates `"object"` and `"dimension"` and returns it. What else it samples comes back by name. The
rules are on one page of the documentation, *Write your own prior, choice or guide*.

## Regression on features

Use it when something is known of every object: ratings, norms, the activations of a network.
Features help most with objects that were judged seldom, and their weights `W` say which feature
goes with which dimension. Here there are twelve features. Seven are noisy mixtures of the true
dimensions, as the features of a network might be, and five have nothing to do with them.
"""

# %%
rng = np.random.default_rng(0)
mixtures = truth.to_numpy() @ rng.normal(size=(7, 7))
mixtures = mixtures / mixtures.std(axis=0) + 0.5 * rng.normal(size=mixtures.shape)
table = np.hstack([mixtures, rng.normal(size=(80, 5))])
table = (table - table.mean(axis=0)) / table.std(axis=0)
features = torch.tensor(table, dtype=torch.float32)
feature_names = [*(f"mixture {i}" for i in range(1, 8)), *(f"noise {i}" for i in range(1, 6))]


def regression(n_objects, dimensions):
    """X = F W + b, and a residual of one learned size."""
    objects = pyro.plate("object", n_objects, dim=-2)
    dims = pyro.plate("dimension", dimensions, dim=-1)
    s = pyro.sample("s", dist.HalfNormal(0.5))
    with dims:
        b = pyro.sample("b", dist.Normal(0.0, 0.5))
        with pyro.plate("feature", features.shape[1], dim=-2):
            W = pyro.sample("W", dist.Normal(0.0, 0.3))
    with objects, dims:
        return pyro.sample("X", dist.Normal(features @ W + b, s))


print(fit("regression", prior=regression))
print(fits["regression"].sites())
W = fits["regression"].site("W").assign_coords(feature=feature_names)
print(W.dims)
low, high = W.quantile([0.05, 0.95], dim=["chain", "draw"])
clear = ((low > 0) | (high < 0)).sum("dimension").to_pandas()
W.mean(["chain", "draw"]).to_pandas().assign(clear=clear).round(2)

# %% [markdown]
"""
`W` comes back with its plates as coordinates, and the features get their names by one call.
*clear* counts the dimensions in which the 90 % interval of a feature's weight excludes zero: five
to seven for a mixture, none to two for a column of noise.

## Kinds of objects

Use it when objects come in categories and those of one kind are alike in most respects. A kind
has a mean in every dimension, and its objects lie around it. Objects that were judged seldom
borrow from their kind. Here the kind of an object is its strongest true dimension.
"""

# %%
kind_names = list(truth)
kinds = torch.tensor(truth.to_numpy().argmax(axis=1))


def categories(n_objects, dimensions):
    """Objects of one kind lie around a common mean."""
    objects = pyro.plate("object", n_objects, dim=-2)
    dims = pyro.plate("dimension", dimensions, dim=-1)
    s = pyro.sample("s", dist.HalfNormal(0.5))
    with pyro.plate("kind", len(kind_names), dim=-2), dims:
        mean = pyro.sample("mean", dist.Normal(0.0, 1.0))
    with objects, dims:
        return pyro.sample("X", dist.Normal(mean[..., kinds, :], s))


print(fit("categories", prior=categories))
means = fits["categories"].site("mean").assign_coords(kind=kind_names)
means.mean(["chain", "draw"]).to_pandas().round(2)

# %% [markdown]
"""
Each kind has its own dimension. Mind the index `mean[..., kinds, :]`: Pyro may run the function
for several particles at once, whose dims come first, so dims are counted from the right.

## Correlated dimensions

Use it when dimensions may go together over objects: what is alive is seldom a tool. A matrix of
correlations has the LKJ distribution. A row of X has one joint distribution, so it is sampled in
the plate `"object"` alone, with `dim=-1`, and the dimensions are its event.
"""


# %%
def correlated(n_objects, dimensions):
    """Rows of X with a common matrix of correlations."""
    L = pyro.sample("L", dist.LKJCholesky(dimensions, 2.0))
    with pyro.plate("object", n_objects, dim=-1):
        row = dist.MultivariateNormal(torch.zeros(dimensions), scale_tril=0.8 * L)
        return pyro.sample("X", row)


def in_order_of_training(fitted):
    """Draws of all sites from the guide, and the top object of each dimension in them."""
    pyro.set_rng_seed(0)
    drawn = Predictive(fitted.model, guide=fitted.guide, num_samples=300)()
    X = drawn["X"].relu().mean(0).squeeze()
    return drawn, X, names[X.argmax(0)]


print(fit("correlated", prior=correlated))
drawn, X, top = in_order_of_training(fits["correlated"])
L = drawn["L"].squeeze()
correlation = pd.DataFrame((L @ L.mT).mean(0).numpy(), index=top, columns=top)
true = truth.corr().to_numpy()[np.triu_indices(7, k=1)]
print(f"correlations of the true dimensions: {true.min():.2f} to {true.max():.2f}")
strong = np.flatnonzero(X.max(0).values > 1)
correlation.iloc[strong, strong].round(2)

# %% [markdown]
"""
The table has the strong dimensions, each called after its top object. Correlations are those of
X before it is rectified, where weights that end as zeros may be anywhere below. Most are
negative or small, and so are those of the true weights.

## Cumulative shrinkage

Use it for a soft limit on the number of dimensions. Each dimension is shrunk more than the one
before, so that the first ones carry what there is and the last ones are next to nothing.
"""


# %%
def cumulative(n_objects, dimensions):
    """The scale of a dimension is a share of the one before."""
    with pyro.plate("dimension", dimensions, dim=-1):
        share = pyro.sample("share", dist.Beta(4.0, 1.0))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(0.0, share.cumprod(-1)))


print(fit("cumulative", prior=cumulative))
pruned = fits["cumulative"].prune()
print(f"posterior: {pruned.posterior.shape[1]} dimensions, model: {pruned.model.dimensions}")
drawn, X, top = in_order_of_training(fits["cumulative"])
scale = drawn["share"].cumprod(-1).mean(0).squeeze()
pd.DataFrame({"scale": scale, "largest weight": X.max(0).values, "top object": top}).round(2)

# %% [markdown]
"""
Dimensions of the last two priors depend on each other or on their order. None can be taken out
without changing what the others mean. Training drops idle dimensions under the other priors, but
none under these two. `prune()` gives a posterior with the kept dimensions, and leaves all of them
in model and guide. The dimensions of a fit come in descending importance. Those of its model and
guide, as in the table above, stay in the order of training, in which the scales decrease.

## Non-centred weights

Use it when a scale and the weights under it depend on each other so strongly that a guide of
independent parts, or NUTS, has trouble with them. What is sampled are standard Normals, and X is
computed from them. `pyro.deterministic("X", ...)` says so.
"""


# %%
def non_centred(n_objects, dimensions):
    """A learned scale per dimension, times standard Normals."""
    with pyro.plate("dimension", dimensions, dim=-1):
        scale = pyro.sample("scale", dist.HalfNormal(1.0))
        with pyro.plate("object", n_objects, dim=-2):
            z = pyro.sample("z", dist.Normal(0.0, 1.0))
    return pyro.deterministic("X", scale * z)


print(fit("non_centred", prior=non_centred))
fits["non_centred"].hyperparameters().round(2)

# %% [markdown]
"""
## A choice of your own

`choice=` says how people answer, given what they see. The default is the paper's softmax of
similarities. Use the one below when people may answer without looking: a share of the answers
are guesses, and the share is learned.
"""


# %%
def lapses(X, judgments):
    """Some answers are guesses."""
    lapse = pyro.sample("lapse", dist.Beta(1.0, 20.0))
    log_p = pv.choices.similarities(X, judgments).log_softmax(-1)
    return torch.logaddexp(log_p + torch.log1p(-lapse), torch.log(lapse / 3))


print(fit("lapses", choice=lapses))

# %% [markdown]
"""
In these judgments nobody guesses. To see whether guesses are found, 18,000 judgments get some:
one in ten is replaced by a random answer.
"""

# %%
many, _ = example.triplets.split(0.9, 0.1, seed=0)
guessed = rng.random(len(many)) < 0.1
answers = np.where(guessed, rng.integers(0, 3, len(many)), many.odd)
careless = pv.Triplets(many.objects, answers, names=many.names)
by_guide = pv.fit(careless, choice=lapses, **shared)
refined = pv.refine(by_guide.prune(), careless, progress=False)
print(f"guesses: {guessed.mean():.3f} of the answers")
pd.concat(
    {"guide": by_guide.hyperparameters(), "refined": refined.hyperparameters()}, names=["by"]
).round(3)

# %% [markdown]
"""
The guide is wrong about it, and sure. More guesses with larger weights explain nearly the same
answers as fewer guesses with smaller weights, and independent Normals cannot follow such a
trade. `pv.refine` draws from the posterior itself. Its interval is wide and holds the truth here.
That is not certain: where weights are larger than the prior expects, the share comes out too low.
Refine before you report a number like this one, and try another prior.

## All of them

All fits answer for the same held-out judgments. *difference* is the mean of their nats minus the
default's, and *± 2 se* two standard errors of it, judgment by judgment; less is better. *found*
is the share of the true dimensions that correlate above 0.8 with a kept one. The other columns
are those of `pv.compare`: leave-one-out on the 3,000 judgments that were fitted. *behind* is how
far a fit is behind the best, in nats per judgment. *high k* counts judgments whose term is not to
be trusted.
"""


# %%
def nats(p):
    """Minus the log-probability of each held-out answer."""
    return -np.log(p[np.arange(len(test)), test.odd])


def found(fitted):
    """Share of the true dimensions that are among the kept ones."""
    embedding = fitted.embedding()
    correlation = pd.DataFrame({dim: truth.corrwith(embedding[dim]) for dim in embedding})
    return (correlation.max(axis=1) > 0.8).mean()


of_truth = choice_probabilities(truth.to_numpy(), test.objects)
scores = np.array([nats(p) for p in [*(each.predict(test) for each in fits.values()), of_truth]])
difference = scores - scores[0]
left_out = pv.compare(fits, train)
comparison = pd.DataFrame(
    {
        "kept": pd.Series({name: each.n_dimensions for name, each in fits.items()}),
        "modelled": pd.Series({name: each.model.dimensions for name, each in fits.items()}),
        "found": pd.Series({name: found(each) for name, each in fits.items()}),
        "behind": left_out["elpd_diff"] / len(train),
        "± 2 dse": 2 * left_out["dse"] / len(train),
        "high k": left_out["high_k"],
    }
).reindex([*fits, "the truth"])
comparison.insert(0, "nats", scores.mean(axis=1))
comparison.insert(1, "difference", difference.mean(axis=1))
comparison.insert(2, "± 2 se", 2 * difference.std(axis=1) / np.sqrt(len(test)))
counts = ["kept", "modelled", "high k"]
comparison.astype(dict.fromkeys(counts, "Int64")).round(4)

# %%
looks = {
    "default": (GREY, "D", ["SpikeSlab"]),
    "about objects": (BLUE, "o", ["regression", "categories"]),
    "about dimensions": (ORANGE, "s", ["correlated", "cumulative", "non_centred"]),
    "another choice": (GREEN, "^", ["lapses"]),
    "the truth": ("black", "v", ["the truth"]),
}
with plt.rc_context(STYLE):
    figure = PaperFigure(figsize=(PAGE_WIDTH, 2.8))
    left, right = figure.subplots(1, 2, sharey=True)
    for label, (colour, marker, rows) in looks.items():
        at = comparison.index.get_indexer(rows)
        points = comparison.loc[rows].astype(float)
        style = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 5}
        left.errorbar(points["difference"], at, xerr=points["± 2 se"], label=label, **style)
        right.errorbar(points["behind"], at, xerr=points["± 2 dse"], **style)
    left.set_yticks(range(len(comparison)), [name.replace("_", "-") for name in comparison.index])
    left.set_ylim(len(comparison) - 0.5, -0.5)
    left.set_xlabel("held-out nats per judgment, minus the default's")
    right.set_xlabel("leave-one-out: nats per judgment behind the best")
    for axes in (left, right):
        axes.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    right.tick_params(axis="y", length=0)
    handles = [handle[0] for handle in left.get_legend_handles_labels()[0]]
    figure.legend(handles, list(looks), loc="outside upper right", ncols=len(looks))
display(figure)

# %% [markdown]
"""
Less is better, and a bar is two standard errors to either side. The two priors that know something
about the objects gain most: more than a quarter of the way from the default to the truth. The
three about dimensions lose. They find six of the seven dimensions, and none of them has the spike
of the default, which expects many weights near zero. To allow for guesses where there are none
makes no difference that can be told from zero.

Leave-one-out puts the same two first, then the default and the lapses, and the same three last,
though in another order. Its terms are least reliable for the regression, where 179 of 3,000 have
a high k. `pv.compare(fits, train, folds=5)` refits instead, and takes longer. This is one data set
and one seed, and the features and kinds were made from the truth.

## Hand it to Pyro

`fit.model` is a Pyro model and `fit.guide` its guide. Below are the shapes of all sites, what the
model answers to the questions of the training data before and after it has seen the answers, and
a test that is worth a line for every prior of your own: the bound is the same with particles one
by one and all at once.
"""

# %%
model, guide = fits["categories"].model, fits["categories"].guide
pyro.set_rng_seed(0)
print(poutine.trace(model).get_trace().format_shapes())
asked = poutine.uncondition(model)
for when, source in {"before": {}, "after": {"guide": guide}}.items():
    odd = Predictive(asked, num_samples=200, **source)()["odd"].reshape(200, -1).numpy()
    print(f"answers as given, {when}: {(odd == train.odd).mean():.3f}")
for vectorized in (False, True):
    elbo = Trace_ELBO(num_particles=50, vectorize_particles=vectorized, max_plate_nesting=2)
    print(f"-ELBO per judgment: {elbo.loss(model, guide) / len(train):.2f}")

# %% [markdown]
"""
Before it has seen an answer the model gives more of them than the third that chance would,
because it knows the kinds.

## Which guide is nearer the posterior?

A guide is swapped as a prior is. Under one and the same prior, the guide with the higher evidence
bound is nearer the posterior. `fit.elbo(data)` has the bound with its standard error. It counts
the dimensions that training started from, so that a guide that drops some on the way and one that
does not can be compared. The second guide starts from the first fit: on its own it may end with
other dimensions, as the first one may with another seed.
"""

# %%
fit("LowRank(3)", guide=pv.LowRank(3), init=fits["SpikeSlab"])
bounds = {name: fits[name].elbo(train, particles=200) for name in ("SpikeSlab", "LowRank(3)")}
pd.DataFrame(
    {name: [bound.value, bound.se, bound.dimensions] for name, bound in bounds.items()},
    index=["bound in nats", "standard error", "dimensions"],
).T.round(1)

# %% [markdown]
"""
## Save and load

A file holds numbers and no code. The prior is passed again, and another one is refused.
"""

# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "categories.fit"
    fits["categories"].save(path)
    again = pv.load(path, prior=categories)
    try:
        pv.load(path, prior=regression)
    except pv.SavedFitError as error:
        print(str(error).replace(folder, "…"))
print(again)
print(np.array_equal(again.predict(test), fits["categories"].predict(test)))
