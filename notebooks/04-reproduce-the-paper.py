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
# Reproduce the paper, in small

The paper compares VICE with SPoSE, its predecessor: how well they predict, how many dimensions
they find, how many of those come back with another seed, and what less data do to it. Here is the
same on a small scale, with an embedding of the size of its FOOD data set: 36 objects, every one of
their 7,140 triplets judged, some twice. The judgments are **simulated** from a made-up embedding
of five dimensions, so that the truth is known. Trainings are short and seeds are few.
`make bench NAME=paper` runs the whole programme on judgments simulated from the published
embeddings and on people's; what came out is in
`benchmarks/PAPER.md`.
"""

# %%
import itertools
import warnings

import numpy as np
import pandas as pd

with warnings.catch_warnings():
    # ArviZ announces its next version, and Pyro asks for ipywidgets. Neither matters here.
    warnings.simplefilter("ignore")
    import pyrovice as pv
    from pyrovice.model.simulation import choice_probabilities, plausible_embedding

truth = plausible_embedding(36, 5, seed=4)
every = np.array(list(itertools.combinations(range(36), 3)))
rng = np.random.default_rng(0)
asked = np.concatenate([every, every[rng.integers(0, len(every), 2_860)]])
p = choice_probabilities(truth, asked)
odd = (rng.random((len(asked), 1)) > p[:, :2].cumsum(axis=1)).sum(axis=1)
data = pv.Triplets(asked, odd)
train, valid, test = data.split(0.45, 0.05, 0.5, seed=0)
data, train, valid, test

# %% [markdown]
"""
## Two models, two starts, three seeds

The paper chose the priors on validation data: for FOOD a spike of 0.25, a slab of 1 and π = 0.8,
and λ = 2.9 for SPoSE. Neither was chosen again for the judgments here.
Both models get the same training, which is shorter than the default. The paper starts from noise.
The default here starts from what the judgments say about pairs, and seeds differ little then.
"""

# %%
vice_prior = pv.SpikeSlab(spike=0.25, slab=1.0, pi=0.8)


def fit_vice(data, seed, start="pair counts"):
    """A posterior under the spike and slab."""
    quick = pv.Training(schedule=pv.Anneal(steps=500), start=start)
    with warnings.catch_warnings():
        # Too few judgments are part of the experiment.
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        return pv.fit(data, prior=vice_prior, training=quick, seed=seed, progress=False)


def fit_spose(data, seed, start="pair counts"):
    """A point under the exponential prior."""
    quick = pv.Training(schedule=pv.Anneal(steps=500), start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        return pv.spose(data, rate=2.9, training=quick, seed=seed, progress=False)


models = {"VICE": fit_vice, "SPoSE": fit_spose}
fits = {
    (name, start): [make(train, seed, start) for seed in range(3)]
    for start in ("noise", "pair counts")
    for name, make in models.items()
}

rows = {}
for of, several in fits.items():
    scores = pd.DataFrame([vars(fit.prune().evaluate(test)) for fit in several])
    rows[of] = scores[["accuracy", "cross_entropy", "kl_divergence"]].mean()
    rows[of]["dimensions"] = np.mean([fit.n_dimensions for fit in several])
    rows[of]["reproducible"] = pv.reproducibility(several).score
best = choice_probabilities(truth, test.objects)
answered = best[np.arange(len(test)), test.odd]
rows["the truth", ""] = pd.Series(
    {
        "accuracy": (best.argmax(axis=1) == test.odd).mean(),
        "cross_entropy": -np.log(answered).mean(),
        "dimensions": truth.shape[1],
    }
)
pd.DataFrame(rows).T.round(3)

# %% [markdown]
"""
All predict about equally well, as in the paper. From noise the difference is in the dimensions:
VICE finds the five that are there, with every seed. SPoSE keeps more, how many depends on the seed,
and fewer of them come back; the paper found 5 and 16 on FOOD, of which 87 and 63 % came back. A
point keeps whatever it happened to begin with and can still use. Started from what is clear in the
judgments, it has the five dimensions as well.
Whether the small difference in accuracy is one, judgment by judgment:
"""

# %%
vice, spose = (pv.representative(fits[name, "noise"], valid) for name in models)
pv.compare_choices(vice, spose, test)

# %% [markdown]
"""
Is that fair to SPoSE? Its λ is the paper's, of other judgments. `rate="auto"` tries rates until the
one that predicts the validation judgments best is known to within a fifth. With that rate SPoSE has
the five dimensions from noise too, and the difference in cross-entropy is gone: part of what
distinguishes two models is how each of them was tuned.
"""

# %%
quick = pv.Training(schedule=pv.Anneal(steps=500), start="noise")
chosen = pv.spose(train, rate="auto", validation=valid, training=quick, progress=False)
print(f"rate {float(chosen.prior.rate):.2f}, {chosen.n_dimensions} dimensions")
pv.compare_choices(vice, chosen, test)

# %%
pv.plot.reproducibility(fits["SPoSE", "noise"])

# %% [markdown]
"""
## Less data

Both models with a tenth, a quarter and all of the training data, three parts or seeds each.
"""

# %%
runs = []
for share in (0.1, 0.25, 1.0):
    for part, name in itertools.product(range(3), models):
        some = train if share == 1 else train.partitions(share, seed=0)[part]
        fit = fits[name, "pair counts"][part] if share == 1 else models[name](some, part)
        score = fit.prune().evaluate(test)
        runs.append(
            {
                "model": name,
                "judgments": len(some) // 10 * 10,
                "cross_entropy": score.cross_entropy,
                "accuracy": score.accuracy,
                "dimensions": fit.n_dimensions,
            }
        )
runs = pd.DataFrame(runs)
pv.plot.data_efficiency(runs, ["cross_entropy", "accuracy", "dimensions"])

# %%
runs.groupby(["judgments", "model"]).mean().round(3)

# %% [markdown]
"""
With a quarter of the data VICE predicts better, with a tenth SPoSE does, and VICE finds fewer
dimensions than there are. A likely reason, which is not tested here, is that π = 0.8 expects most
weights to be nothing and was chosen for more data than that.

## Rounding and the bound

Weights may be rounded to a few values before errors increase, and a coarse embedding comes with
a guarantee for new triplets (the paper's Algorithm 2).
"""

# %%
bound = pv.bounds.generalization(vice.embedding(), train, test=test)
print(bound)
pv.plot.quantization(bound)

# %% [markdown]
"""
This is one made-up truth with few seeds. The program in `benchmarks/paper.py` takes the published
embeddings, the paper's seeds and all of its measures.
"""
