"""Files are stamped with the package's own version, which needs no installation."""

import importlib.metadata

import pytest

import pyrovice as pv
from pyrovice.storage.archive import unpack
from pyrovice.storage.version import __version__

pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.filterwarnings("ignore:All . dimensions were kept"),
]


@pytest.fixture
def not_installed(monkeypatch):
    version = importlib.metadata.version

    def only_others(name):
        if name == "pyrovice":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", only_others)


@pytest.mark.usefixtures("not_installed")
def test_a_source_folder_saves_and_sweeps(small, small_fit, tmp_path):
    small_fit.save(tmp_path / "saved.fit")
    assert unpack(tmp_path / "saved.fit")[0]["pyrovice"] == __version__
    assert len(pv.load(tmp_path / "saved.fit").history) == len(small_fit.history)
    train, valid = small.split(0.8, 0.2, seed=0)
    short = pv.Training(stop=pv.MaxEpochs(3))
    found = pv.sweep(
        train, valid, priors=[pv.SpikeSlab()], seeds=1, training=short, dimensions=3,
        store=tmp_path / "store", progress=False,
    )  # fmt: skip
    assert (found.table.error == "").all()
    pv.fit(
        small,
        training=short,
        dimensions=3,
        checkpoint=tmp_path / "state",
        progress=False,
        validation=valid,
    )
    assert small_fit.to_arviz() is not None
