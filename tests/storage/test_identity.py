import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyro.distributions as dist
import pytest
import torch
from pyro.infer.autoguide import AutoLowRankMultivariateNormal, AutoNormal

import pyrovice as pv
from pyrovice.inference.identity import settings
from pyrovice.storage.identity import differences, digest, recognise

HERE = str(Path(__file__).parent)
SCALE = 0.3


def helper():
    return 1


def uses_both(n_objects, dimensions):
    return [helper() * SCALE for _ in range(n_objects)]


class Own:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, n_objects, dimensions):
        return self.scale


def closure(scale):
    def prior(n_objects, dimensions):
        return scale

    return prior


def transformed(scale):
    return dist.TransformedDistribution(
        dist.Normal(0.0, scale), [dist.transforms.AffineTransform(0.0, 2.0)]
    )


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: pv.SpikeSlab(), pv.SpikeSlab(pi=0.4)),
        (lambda: dist.Laplace(0.0, 0.3), dist.Laplace(0.0, 0.31)),
        (lambda: transformed(0.3), transformed(0.31)),
        (lambda: closure(0.3), closure(0.31)),
        (lambda: closure(torch.tensor([0.3])), closure(torch.tensor([0.31]))),
        (lambda: closure(np.array([0.3])), closure(np.array([0.31]))),
        (lambda: closure({"a": {1, 2}}), closure({"a": {1, 3}})),
        (lambda: Own(0.3), Own(0.31)),
        (lambda: partial(AutoLowRankMultivariateNormal, rank=3),
         partial(AutoLowRankMultivariateNormal, rank=4)),
        (lambda: AutoNormal, AutoLowRankMultivariateNormal),
        (lambda: lambda model: AutoNormal(model), lambda model: AutoNormal(model, init_scale=0.2)),
        (lambda: Own(0.3).__call__, Own(0.31).__call__),
    ],
)  # fmt: skip
def test_equal_things_are_equal_and_others_are_not(make, other):
    assert recognise(make()) == recognise(make())
    assert recognise(make()) != recognise(other)


def test_what_code_uses_is_part_of_it(monkeypatch):
    before = recognise(uses_both)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[__name__], "SCALE", 0.31)
        assert recognise(uses_both) != before
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[__name__], "helper", lambda: 2)
        assert recognise(uses_both) != before
    assert recognise(uses_both) == before


def test_other_processes_see_the_same():
    program = (
        f"import sys; sys.path.insert(0, {HERE!r}); import test_identity as t;"
        "print(t.recognise(t.uses_both), t.recognise(t.Own(0.3)), t.recognise(t.transformed(0.3)),"
        "t.recognise(t.closure({'a': {'x', 'y'}})))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    here = (uses_both, Own(0.3), transformed(0.3), closure({"a": {"x", "y"}}))
    assert printed.split() == " ".join(recognise(value) for value in here).split()


def test_what_cannot_be_recognised_is_refused():
    with pytest.raises(pv.PyroviceError, match="cannot be told from others of its kind"):
        recognise(closure(iter([1])))


def test_settings_in_words(small):
    def of(data, **changes):
        usual = {"validation": None, "guide": pv.MeanField(), "dimensions": 6,
                 "training": pv.Training(), "choice": pv.choices.DotProduct()}  # fmt: skip
        return settings(data, **usual | changes)

    words = of(small)
    assert words["data"].startswith("3,000 judgments of 20 objects [")
    assert words["training.max_epochs"] == "5000"
    assert differences(words, of(small)) == []
    assert differences(words, of(small[:10], dimensions=5)) == ["data", "dimensions"]
    assert differences({"a": "1"}, {"b": "1"}) == ["b", "a"]
    assert digest(words) == digest(dict(reversed(words.items())))
    assert digest(words) != digest(words | {"dimensions": "7"})
