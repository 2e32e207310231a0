"""A study like the published one of faces: anchored, long coded names, catch trials, times.

All of it is simulated. The table has the columns of tripletTools.
"""

import numpy as np
import pandas as pd

import pyrovice as pv
from pyrovice.model.simulation import plausible_embedding

PEOPLE = 39
FACES = 36
# These answer at random and fast, and fail catch trials.
CARELESS = ("w-007", "w-021", "w-033")


def face_names():
    """Codes that differ in their middle."""
    kinds = [f"{who}{sex}" for who in ("W", "B", "L", "A") for sex in ("F", "M")]
    return [
        f"CFD-{kinds[i % 8]}-{200 + 7 * i:03d}-{10 + i:03d}-N_neutral_1200x1200"
        for i in range(FACES)
    ]


def faces_table(each=60, catch=6, seed=0):
    """Judgments of 39 people with `catch` catch trials each, in the order in which they came."""
    rng = np.random.default_rng(seed)
    names = np.array(face_names(), dtype=object)
    truth = plausible_embedding(FACES, 5, seed=seed) * 1.3
    data = pv.simulate(truth, PEOPLE * each, seed=seed, anchored=1.0)
    rows = np.arange(len(data))
    anchor, odd = data.anchor, data.odd.copy()
    who = np.array([f"w-{i:03d}" for i in np.repeat(np.arange(PEOPLE), each)], dtype=object)
    careless = np.isin(who, CARELESS)
    guess = (anchor + rng.integers(1, 3, len(data))) % 3
    odd = np.where(careless, guess, odd)
    shown = [data.objects[rows, place] for place in (anchor, 3 - anchor - odd, odd)]
    table = pd.DataFrame(dict(zip(("head", "winner", "loser"), shown, strict=True)))
    left = rng.random(len(data)) < 0.5
    table["Center"] = names[table["head"]]
    table["Left"] = names[np.where(left, table["winner"], table["loser"])]
    table["Right"] = names[np.where(left, table["loser"], table["winner"])]
    table["Answer"] = names[table["winner"]]
    table["rt"] = (rng.gamma(5.0, 300.0, len(data)) / np.where(careless, 5, 1)).round()
    table["worker_id"] = who
    table["sampleAlg"] = np.where(rng.random(len(data)) < 0.1, "test", "random")
    parts = []
    for person, mine in table.groupby("worker_id", sort=False):
        asked = mine.head(catch).assign(sampleAlg="check")
        passed = np.full(catch, person not in CARELESS)
        passed[0] = True
        # The target itself is one of the options; choosing it passes.
        asked["Left"] = asked["Center"]
        asked["winner"] = np.where(passed, asked["head"], asked["loser"])
        asked["Right"] = names[asked["loser"]]
        asked["Answer"] = np.where(passed, asked["Left"], asked["Right"])
        parts += [asked, mine]
    return pd.concat(parts, ignore_index=True)
