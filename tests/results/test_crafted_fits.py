"""Files that were made to mislead: sizes that are not there, values that no fit has."""

import struct
import zipfile
from io import BytesIO

import numpy as np
import pyro.distributions as dist
import pytest

import pyrovice as pv
from pyrovice import SavedFitError
from pyrovice.results.saved_fits import from_source, to_bytes
from pyrovice.storage.archive import pack, unpack


@pytest.fixture(scope="module")
def content(small_fit):
    return to_bytes(small_fit.prune())


def crafted(content, change=None, **arrays):
    record, held = unpack(content)
    return pack(
        record | (change or {}), held | {k.replace("__", "/"): v for k, v in arrays.items()}
    )


def test_a_guide_is_not_built_before_its_size_is_known(content, monkeypatch):
    monkeypatch.setattr(pv.LowRank, "__call__", lambda *given: pytest.fail("it was built"))
    greedy = crafted(content, {"guide": {"kind": "LowRank", "rank": 500_000}})
    with pytest.raises(SavedFitError, match=r"it claims LowRank\(rank=500000\)"):
        from_source(greedy)


def test_a_model_is_not_built_before_its_size_is_known(content, monkeypatch):
    monkeypatch.setattr(pv.Model, "structure", property(lambda model: pytest.fail("it was built")))
    greedy = crafted(
        content,
        {"model_dimensions": 10**8},
        **{"guide__loc.X": np.zeros((0, 10**8), np.float32)},
    )
    with pytest.raises(SavedFitError, match="claims model dimensions of 100,000,000 for 20 obj"):
        from_source(greedy)
    with pytest.raises(SavedFitError, match="claims first dimensions of 1,000,000,000 for 20"):
        from_source(crafted(content, {"first_dimensions": 10**9}))


def test_parts_that_share_their_bytes(content):
    """A directory that lists one large part many times."""
    file = BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("large.npy", bytes(200_000))
    whole = file.getvalue()
    end = whole.rindex(b"PK\x05\x06")
    size, start = struct.unpack("<II", whole[end + 12 : end + 20])
    entries = whole[start : start + size]
    last = entries[entries.rindex(b"PK\x01\x02") :]
    copies = b"".join(last.replace(b"large.npy", b"lar%02d.npy" % i) for i in range(50))
    count = struct.unpack("<H", whole[end + 10 : end + 12])[0] + 50
    tail = whole[end : end + 8] + struct.pack("<HHIIH", count, count, size + len(copies), start, 0)
    with pytest.raises(SavedFitError, match=r"larger than the file|Overlapped"):
        from_source(whole[:start] + entries + copies + tail)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("sigma", -0.1, "sigma below zero"),
        ("sigma", np.inf, "sigma that are not finite"),
        ("sigma", np.nan, "sigma that are not finite"),
        ("mu", np.nan, "mu that are not finite"),
        ("mu", -np.inf, "mu that are not finite"),
    ],
)
def test_values_that_no_fit_has(content, name, value, said):
    values = unpack(content)[1][f"posterior/{name}"].copy()
    values[3, 1] = value
    with pytest.raises(SavedFitError, match=f"its posterior holds {said}"):
        from_source(crafted(content, **{f"posterior__{name}": values}))


def test_parameters_of_a_guide_are_numbers(content):
    values = unpack(content)[1]["guide/loc.X"].copy()
    values[0, 0] = np.nan
    with pytest.raises(SavedFitError, match=r"its guide holds loc\.X that are not numbers"):
        from_source(crafted(content, **{"guide__loc.X": values}))


def test_names_are_text_and_each_stands_for_one_object(content):
    names = unpack(content)[0]["names"]
    with pytest.raises(SavedFitError, match="its names are not unique: '1' stands for several"):
        from_source(crafted(content, {"names": ["1", *names[1:]]}))
    with pytest.raises(SavedFitError, match="its names are not a list of text"):
        from_source(crafted(content, {"names": [1, *names[1:]]}))


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Normal", {"loc": 0.0, "scale": -1.0}, "a Normal that cannot be"),
        ("Normal", {"loc": 0.0}, "Normal does not take loc"),
        (
            "Stable",
            {"stability": -1.0, "skew": 9.0, "scale": 1.0, "loc": 0.0},
            "Stable that cannot",
        ),
        ("Uniform", {"low": 1.0, "high": 0.0}, "a Uniform that cannot be"),
        ("LKJ", {"concentration": 1.0}, "an? LKJ that cannot be"),
        ("Delta", {"v": 1.0, "log_density": 0.0}, "Delta"),
        ("Dirichlet", {"concentration": 1.0}, "a Dirichlet that cannot be"),
        ("Distribution", {}, "is not a distribution|cannot be"),
        ("constraints", {}, "'constraints' is not a distribution"),
    ],
)
def test_priors_that_cannot_be(content, name, arguments, said):
    prior = {"kind": "distribution", "name": name, "arguments": arguments}
    with pytest.raises(SavedFitError, match=said):
        from_source(crafted(content, {"prior": prior}))


@pytest.mark.parametrize(
    "prior", [dist.Uniform(-1.0, 1.0), dist.StudentT(4.0, 0.0, 0.5), dist.Stable(1.5, 0.0)]
)
def test_priors_that_can_be_are_restored(prior):
    from pyrovice.storage.registry import describe, restore

    assert repr(restore(describe(prior, "prior"), "prior")) == repr(prior)
