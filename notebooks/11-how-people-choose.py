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
# How people choose

The prior says what an embedding looks like, the choice says how people answer given what they see.
Both are values to swap. All answers here are **simulated**, each time from one embedding and
another way of choosing, so that it is known what should be found.
"""

# %%
import warnings

with warnings.catch_warnings():
    # ArviZ announces its next version, and Pyro asks for ipywidgets. Neither matters here.
    warnings.simplefilter("ignore")
    import pandas as pd
    import pyro
    import pyro.distributions as dist

    import pyrovice as pv

# Weights twice as large as those of the example, so that answers are surer where nobody lapses. The
# default prior would pull them down and leave less to lapses, so that this one has twice its slab.
truth = 2 * pv.load_example().embedding.iloc[:36]
settings = {"prior": pv.SpikeSlab(slab=2.0), "dimensions": 14, "progress": False}


def judged(choice):
    """Answers to fit, and others to score."""
    return (pv.simulate(truth, 12_000, seed=seed, choice=choice) for seed in (0, 1))


# %% [markdown]
"""
## Some answer without looking

15 in 100 of these answers are given at random. The paper's choice cannot say so, and the checks
notice: answers that should be rare are not.
"""

# %%
train, test = judged(pv.choices.DotProduct(lapse=0.15))
plain = pv.fit(train, **settings)
report = pv.checks.report(plain, test)
report

# %% [markdown]
"""
**A number fixes it, a distribution learns it**: `lapse=0.15` would be a rate that is known, a Beta
distribution is what is expected of one that is not.
"""

# %%
lapsing = pv.fit(train, choice=pv.choices.DotProduct(lapse=dist.Beta(1, 20)), **settings)
lapsing.hyperparameters().round(3)

# %%
pv.compare_choices(lapsing, plain, test).table.round(4)

# %% [markdown]
"""
## A favoured place on the screen

Here the left object is picked too often and the right one too rarely. The simulated table says
where each object stood, and so must yours: `Triplets.from_dataframe(table, objects=["left",
"middle", "right"], position="answer")`.
"""

# %%
train, test = judged(pv.choices.DotProduct(position=(0.3, 0.0, -0.3)))
favoured = pv.fit(train, choice=pv.choices.DotProduct(position=dist.Normal(0, 0.3)), **settings)
favoured.hyperparameters().round(3)

# %% [markdown]
"""
## What does alike mean?

In Tversky's contrast, what only one of two objects has counts against them. The dot product knows
nothing of that. Three ways to choose are fitted to answers by contrast, and scored on judgments
that none of them has seen.
"""

# %%
train, test = judged(pv.choices.Contrast(distinctive=0.5))
choices = {
    "dot product": pv.choices.DotProduct(),
    "contrast": pv.choices.Contrast(),
    "Euclidean": pv.choices.Euclidean(),
}
fits = {name: pv.fit(train, choice=choice, **settings) for name, choice in choices.items()}
pd.DataFrame(
    {
        name: {
            "held-out nats": fit.evaluate(test).cross_entropy,
            "accuracy": fit.evaluate(test).accuracy,
            "dimensions": fit.n_dimensions,
        }
        for name, fit in fits.items()
    }
).T.round(4)

# %% [markdown]
"""
The difference is paired, judgment by judgment, which makes it much surer than the two numbers are.
"""

# %%
pv.compare_choices(fits["contrast"], fits["dot product"], test).table.round(4)

# %%
fits["contrast"].hyperparameters().round(3)

# %% [markdown]
"""
The truth is 0.5: close, and just below the interval. Predictions differ by a few thousandths of a
nat only, so it takes many judgments to tell such choices apart. Keep the simpler one unless the
difference is clear.

## One of your own

A choice is a function from the rectified weights and the judgments to the log-probabilities of the
three answers. It may sample sites, which are learned with everything else. In this one similarity
saturates: more of the same matters less and less.
"""


# %%
def saturating(X, judgments):
    """The third root of the dot product, times a number that is learned."""
    times = pyro.sample("sharpness", dist.LogNormal(0.0, 0.5))
    alike = pv.choices.similarities(X, judgments).clamp(min=1e-6) ** (1 / 3)
    return (times * alike).log_softmax(-1)


own = pv.fit(train, choice=saturating, **settings)
own.hyperparameters().round(3)

# %% [markdown]
"""
These answers do not call for it.
"""

# %%
pv.compare_choices(own, fits["contrast"], test).table.round(4)
