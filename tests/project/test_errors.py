"""Warnings point at the line of the user's that led to them."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import pyrovice as pv
from pyrovice.errors import tell

THREE = 1.5 * np.eye(3).repeat(2, axis=0)


def few():
    return pv.simulate(THREE, 40, seed=0)


def gaps():
    return pv.Triplets.from_array([[0, 1, 9]] * 60)


def frames():
    import pandas as pd

    third = ["c"] * 299 + ["d"]
    table = pd.DataFrame({"object_1": "a", "object_2": "b", "object_3": third, "odd": "a"})
    return pv.Triplets.from_dataframe(table)


CALLS = {
    "fit": lambda: pv.fit(few(), dimensions=2, training=pv.Training(stop=pv.MaxEpochs(2))),
    "spose": lambda: pv.spose(few(), rate=1.0, dimensions=2, training=pv.Training(max_epochs=2)),
    "sample": lambda: pv.sample(few(), dimensions=1, draws=4, warmup=2, chains=1),
    "from_array": gaps,
    "from_dataframe": frames,
    "predictive": lambda: pv.priors.predictive(pv.SpikeSlab(0.25, 8.0), (30, 20), draws=5),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_point_here(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", pv.PyroviceWarning)
        CALLS[name]()
    ours = [each for each in caught if issubclass(each.category, pv.PyroviceWarning)]
    assert ours
    assert {each.filename for each in ours} == {__file__}


def test_tell_itself():
    with pytest.warns(pv.PyroviceWarning, match="look") as caught:
        tell("look")
    assert caught[0].filename == __file__


def test_help_on_public_modules_in_a_fresh_interpreter():
    program = "import pyrovice as pv; [help(each) for each in (pv.readers, pv.choices, pv.priors)]"
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert "one small reader per on-disk format" in printed
    assert "the likelihood, as a value" in printed
