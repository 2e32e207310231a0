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
# Who is different, in what, how sure

One embedding for all says what people have in common. If the judgments also say who made them, the
fit can say how people differ around it: which dimensions each of them weighs more or less, and how
consistently they answer. This notebook goes from a CSV with participants to that answer. All
judgments are **simulated**, so that the answer can be compared with the truth.
"""

# %%
import numpy as np
import pandas as pd

import pyrovice as pv

example = pv.load_example(people=12)
example.triplets.write("judgments.csv")
print(example)
pd.read_csv("judgments.csv").head(3)

# %% [markdown]
"""
## From a file

`Triplets.read` finds the participants by the name of their column. For other names there is
`Triplets.from_dataframe(table, participant="who")`. Before anything is fitted, the review shows
what there is to know of everybody: `agreement` is the share of their answers that the counts of all
others predict, and `lapse` the share that look like guesses beside the others. Nobody here guesses
most of the time; reaction times and catch trials would be in the table if the file had them.
"""

# %%
data = pv.Triplets.read("judgments.csv")
pv.participants.review(data)

# %%
train, test = data.split(0.9, 0.1, seed=0, stratify=True)

# %% [markdown]
"""
## Are they of one mind?

First the usual fit, as if one person had answered everything. The check asks, for each person and
dimension, whether a weight of their own would explain their answers better.
"""

# %%
one_mind = pv.fit(train, dimensions=12, progress=False)
check = pv.checks.check(one_mind, test, pv.checks.OwnWeights, draws=200)
print(check)
print(check.means)

# %% [markdown]
"""
## People who differ

`people=pv.People()` gives everybody a weight for each dimension and a temperature (the lower, the
more consistent). How much people differ is learned with them, so that somebody with few answers
stays near the others. The typical person has weights and temperature one.
"""

# %%
fit = pv.fit(train, people=pv.People(), dimensions=12, progress=False)
print(fit)
scores = {"one mind": one_mind.evaluate(test), "people": fit.evaluate(test)}
pd.DataFrame(
    {name: {"accuracy": s.accuracy, "nats": s.cross_entropy} for name, s in scores.items()}
).T.round(3)

# %% [markdown]
"""
## Who, and in what

Rows are people, and those who are alike stand together. A whole cell is a weight whose 90 %
interval excludes one; a small cell may well be typical. The bars above say in which dimensions
people differ most.
"""

# %%
pv.plot.people(fit)

# %%
people = fit.people()
people[["judgments", "temperature", "weight 1", "weight 1 5 %", "weight 1 95 %"]].round(2)

# %% [markdown]
"""
One of them by themselves: on the left the weights, where nine of ten people are within the pale
bars; on the right the objects that this person sees least like the typical one.
`fit.person(label).embedding()` and `.similarity()` have the numbers.
"""

# %%
weights = people[[f"weight {dim}" for dim in fit.embedding()]]
most_different = np.log(weights).pow(2).sum(axis=1).idxmax()
pv.plot.person(fit, most_different)

# %% [markdown]
"""
## How sure

Two answers. Do the differences come back in other answers of the same people? Everybody's judgments
are dealt into halves, weights are estimated from each, and the halves are correlated.
"""

# %%
pv.people_reliability(fit, train).round(2)

# %% [markdown]
"""
And, because the truth is known here: how often is it within the intervals? Fitted and true
dimensions are matched by their correlation over objects first. The weights are compared up to a
factor for each dimension, because the typical one of twelve people is not known exactly. With
twelve people, one within or without is a step of 8 %.
"""

# %%
embedding = fit.embedding()
names = {dim: example.embedding.corrwith(embedding[dim]).idxmax() for dim in embedding}
rows = {}
for dim, name in names.items():
    true = np.log(example.people[f"weight {name}"])
    found = np.log(people[f"weight {dim}"])
    shift = true.mean() - found.mean()
    low, high = (np.log(people[f"weight {dim} {end}"]) + shift for end in ("5 %", "95 %"))
    rows[f"{dim}: {name}"] = {
        "correlation with the truth": found.corr(true),
        "truth within 90 % interval": ((low < true) & (true < high)).mean(),
    }
pd.DataFrame(rows).T.round(2)

# %% [markdown]
"""
## Does it go with something else?

Weights are a table by person, so a questionnaire is one line of pandas. This one is made up: it
asks how fond people are of animals.
"""

# %%
rng = np.random.default_rng(0)
fondness = np.log(example.people["weight animal"]) + rng.normal(0, 0.3, 12)
found = weights.corrwith(fondness, method="spearman").round(2)
found.rename(lambda name: f"{name}: {names[int(name[7:])]}")

# %% [markdown]
"""
Twelve people are few, and seven correlations are several: read such a table with both in mind.

## Groups

Suppose that the fonder half of these people keep a pet. With `groups=` each group has mean
log-weights of its own, and `fit.groups()` compares them: the difference with its 90 % interval, the
probability that it is positive, and the p-value of a permutation test over people.
"""

# %%
median = fondness.median()
pets = {person: "pet" if fondness[person] > median else "no pet" for person in fondness.index}
grouped = pv.fit(train, people=pv.People(groups=pets), dimensions=12, progress=False)
pv.plot.groups(grouped)

# %% [markdown]
"""
Animals stand out, as they were made to. Other dimensions differ as well, and rightly so: among
twelve people, what goes with fondness by chance differs between the groups too. The last column has
the true differences.
"""

# %%
truth = np.log(example.people)
apart = truth[fondness <= median].mean() - truth[fondness > median].mean()
table = grouped.groups().droplevel("groups")
embedding = grouped.embedding()
names = {dim: example.embedding.corrwith(embedding[dim]).idxmax() for dim in embedding}
table["truth"] = [apart[f"weight {names[dim]}"] for dim in table.index]
table.rename(names).round(3)

# %% [markdown]
"""
## What reviewers ask

Would other people have given the same embedding? Halves of the people are fitted apart, and what
comes out is compared: the similarities of all pairs of objects, and every dimension with its best
match. `by="judgments"` deals judgments instead. Training is shorter than the default here, to make
many fits in little time.
"""

# %%
short = {"dimensions": 10, "training": pv.Training(schedule=pv.Anneal(steps=300))}
print(pv.split_half(train, by="people", splits=2, **short))
print(pv.split_half(train, by="judgments", splits=2, **short))

# %% [markdown]
"""
Do people with and without a pet have different embeddings altogether? Each group is fitted by
itself, and so are groups of the same sizes with people exchanged at random. Similarities differ
more than by chance (with 19 exchanges p is at least .05), the dimensions themselves do not: these
people were made to see the same ones and to weigh them differently.
"""

# %%
pv.compare_groups(train, pets, permutations=19, **short)

# %% [markdown]
"""
Does it matter whom we leave out? Suppose that one more participant clicked at random. A rule of
one's own excludes those whose answers look like guesses; the effect of leaving them out is shown
beside that of leaving out as many others at random. One of thirteen who clicks at random changes
no more than anybody else: there is little in the answers to lose.
"""

# %%
shown = train.subset(700, seed=1)
clicks = pv.Triplets(
    shown.objects, rng.integers(0, 3, len(shown)), names=shown.names, participants=["p13"] * 700
)
everybody = pv.Triplets.concat([train, clicks])


def guessing(data):
    """Those most of whose answers look like guesses."""
    return pv.participants.review(data).table["lapse"] > 0.5


review = pv.participants.review(everybody, guessing)
review.exclusions.round(2)

# %%
pv.exclusion_effect(everybody, review, others=9, **short)

# %% [markdown]
"""
## Somebody new

Predictions use the person where the fit knows them, and average over new people where it does not:
judgments without a participant, or of somebody who was not fitted.
"""

# %%
strangers = pv.Triplets(test.objects, test.odd, names=test.names)
pd.Series(
    {
        "people who are known": fit.evaluate(test).cross_entropy,
        "the same as strangers": fit.evaluate(strangers).cross_entropy,
        "one mind": one_mind.evaluate(test).cross_entropy,
    },
    name="nats",
).round(3)

# %%
fit.save("people.fit")
fit.report("people.html", held_out=test)
