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
# Quickstart: from a table to a figure

You showed people three things at a time, asked which is the odd one out, and have a table with a
row per answer. This notebook goes from such a table to a figure, a page for colleagues and a file
with the fit. Change the first cell to your own table and run it.

The table here is **simulated**: 80 everyday objects, 30 made-up participants who saw them in any
order, made-up reaction times.
"""

# %%
import numpy as np
import pandas as pd

import pyrovice as pv

table = pv.load_example().table
table.to_csv("answers.csv", index=False)
table.head()

# %% [markdown]
"""
## Read it

Say which columns hold what; the odd one is in the column `odd`.
"""

# %%
data = pd.read_csv("answers.csv").pipe(
    pv.Triplets.from_dataframe,
    objects=["left", "middle", "right"],
    participant="participant",
)
data

# %% [markdown]
"""
`describe` counts, and notes what looks wrong: objects that were hardly shown, names that differ by
a space, groups that nothing connects. It finds nothing here.
"""

# %%
data.describe()

# %% [markdown]
"""
## Fit it

A tenth of the triplets is held out, so that the fit can be judged by answers that it has not
seen. All judgments of one triplet stay together.
"""

# %%
train, test = data.split(0.9, 0.1, seed=0)
fit = pv.fit(train, progress=False)
fit

# %%
fit.evaluate(test)

# %% [markdown]
"""
Guessing is right in a third of the cases. The ceiling is the accuracy that nobody can exceed,
because people do not always agree. It is estimated from triplets that were asked more than once.
Most of them were asked just twice here, and so it is only known to lie between two numbers.

## What was found

Nobody said how many dimensions there are, or what they are about. Each is described by the
objects with the largest weights.
"""

# %%
fit.top_objects(5)

# %% [markdown]
"""
Name them as you would in a paper, and all that follows uses the names. Those of this example are
known; `fit.suggest_labels()` has suggestions from the top objects.
"""

# %%
fit = fit.label(fit.suggest_labels(pv.load_example().embedding))
fit

# %% [markdown]
"""
The same as a figure for a paper. Bars are weights, lines are 90 % intervals.
"""

# %%
figure = pv.plot.dimensions(fit)
figure.savefig("dimensions.pdf")
figure

# %% [markdown]
"""
Every weight has a standard deviation. What an object is about, with its uncertainty:
"""

# %%
pd.DataFrame(
    {"weight": fit.embedding().loc["skateboard"], "sd": fit.embedding("sd").loc["skateboard"]}
).round(2).T

# %% [markdown]
"""
## Can it be trusted?

Training should have settled: the number of dimensions no longer changes, nor does the loss.
"""

# %%
pv.plot.convergence(fit)

# %% [markdown]
"""
Predicted probabilities should mean what they say.
"""

# %%
pv.plot.calibration(fit.calibration(test))

# %% [markdown]
"""
Another seed should find the same dimensions.
"""

# %%
pv.reproducibility([fit, pv.fit(train, seed=1, progress=False)])

# %% [markdown]
"""
`pv.diagnose(fit, train, held_out=test)` asks all of this at once and more;
notebook 03 shows it.

## Keep it

The embedding goes to a table for other programs. The fit goes to one file, and `pv.load` brings
it back with all it can do. The report is a page for colleagues: it opens in any browser, without a
network. Files are never replaced silently.
"""

# %%
fit.write_embedding("embedding.csv")
fit.save("everyday.fit")
fit.report("everyday.html", train, held_out=test)
again = pv.load("everyday.fit")
np.array_equal(again.predict(test), fit.predict(test))

# %% [markdown]
"""
The same in a shell, without any Python:

```
pyrovice convert answers.csv --objects left,middle,right --odd odd --participant participant \
    -o train.csv --held-out test.csv
pyrovice fit train.csv -o everyday.fit --embedding embedding.csv
pyrovice evaluate everyday.fit test.csv
pyrovice report everyday.fit --data train.csv --held-out test.csv -o everyday.html
```
"""
