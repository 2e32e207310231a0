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
# Ask what tells most

An experiment in rounds: fit what there is, choose the next triplets by what their answers are
expected to tell, ask them, and fit again. The participant is **simulated** and answers by the
embedding of the built-in example.
"""

# %%
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pyrovice as pv

example = pv.load_example()
truth = example.embedding
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)


def participant(trials: pd.DataFrame) -> pd.DataFrame:
    """Answer every trial, as an experiment would write it: the place of the odd one, 1 to 3."""
    shown = truth.to_numpy()[truth.index.get_indexer(trials[["left", "middle", "right"]].stack())]
    left, middle, right = shown.reshape(-1, 3, truth.shape[1]).transpose(1, 0, 2)
    alike = np.stack([(middle * right).sum(1), (left * right).sum(1), (left * middle).sum(1)], 1)
    p = np.exp(alike - alike.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return trials.assign(response=[rng.choice((1, 2, 3), p=row) for row in p])


# %% [markdown]
"""
## The first round is random

A fit has to know something before it can choose.
"""

# %%
data = pv.simulate(truth, 4000, seed=1)
fit = pv.fit(data, progress=False)
fit

# %% [markdown]
"""
## What to ask next

`gain` is what the answer is expected to tell, in nats. Random triplets tell less.
"""

# %%
ask = pv.next_triplets(fit, 1000)
print(ask.groupby("role").gain.describe()[["count", "mean", "max"]])
ask.head()

# %% [markdown]
"""
## A list for the experiment, and the answers

jsPsych, PsychoPy and lab.js read this file. Catch trials show one object twice.
"""

# %%
trials = pv.trial_list(ask, catch=5)
trials.to_csv(folder / "ask.csv", index=False)
participant(pd.read_csv(folder / "ask.csv")).to_csv(folder / "answers.csv", index=False)
new = pv.read_answers(folder / "answers.csv", names=fit.names)
print(new.trials.role.value_counts())
new

# %% [markdown]
"""
## Rounds of it, beside random asking

Both are scored on the same random triplets, which nobody was asked.
"""

# %%
test = pv.simulate(truth, 10_000, seed=2)
first, step = len(data), 2000
others = pv.simulate(truth, 4 * step, seed=3)
judgments = {"chosen": data, "random": data}
fits = {"chosen": fit, "random": fit}
rows = []
for done in range(4):
    if done:
        fits = {arm: pv.fit(judgments[arm], init=fits[arm], progress=False) for arm in fits}
    rows += [
        {"judgments": first + done * step, "asked": arm, "nats": found.evaluate(test).cross_entropy}
        for arm, found in fits.items()
    ]
    trials = pv.trial_list(pv.next_triplets(fits["chosen"], step, seed=done))
    answers = pv.read_answers(participant(trials), names=fit.names)
    judgments["chosen"] = judgments["chosen"] + answers
    judgments["random"] = judgments["random"] + others[done * step : (done + 1) * step]
table = pd.DataFrame(rows)
table.pivot(index="judgments", columns="asked", values="nats").round(4)

# %% [markdown]
"""
## Chosen judgments are not a fair test

They were chosen because they are hard to predict, and they say so. What is used instead is the
random share.
"""

# %%
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    scores = fits["chosen"].evaluate(answers)
print(said[0].message)
print(scores)

# %% [markdown]
"""
## Is it worth going on?

The learning curve of parts of the judgments is carried on.
"""

# %%
ahead = pv.forecast(fits["random"], judgments["random"], resamples=4)
print(ahead)
pv.plot.forecast(ahead)
