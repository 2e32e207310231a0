import json
import pickle
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
from pyro.infer import Trace_ELBO

import pyrovice as pv
from pyrovice import MaxEpochs, OverwriteError, SavedFitError, Training
from pyrovice.storage import registry
from pyrovice.storage.registry import REGISTERED, describe, restore

SHORT = Training(stop=MaxEpochs(5), schedule=None)
# Fits this short still have all their dimensions, which is said elsewhere.
pytestmark = [pytest.mark.anywhere, pytest.mark.filterwarnings("ignore:All . dimensions were kept")]


@pytest.fixture
def saved(small_fit, tmp_path):
    path = tmp_path / "small.fit"
    small_fit.save(path)
    return path


def test_a_loaded_fit_is_the_saved_one(small, small_fit, saved):
    loaded = pv.load(saved)
    assert np.array_equal(loaded.predict(small), small_fit.predict(small))
    pd.testing.assert_frame_equal(loaded.history, small_fit.history)
    pd.testing.assert_frame_equal(loaded.embedding("sd"), small_fit.embedding("sd"))
    for name in ("prior", "guide_family", "training", "seed", "names", "converged",
                 "n_judgments", "data_digest", "n_dimensions"):  # fmt: skip
        assert getattr(loaded, name) == getattr(small_fit, name), name
    assert repr(loaded) == repr(small_fit)


def test_a_loaded_guide_is_a_pyro_guide(small, small_fit, saved):
    loaded = pv.load(str(saved))
    loss = Trace_ELBO(num_particles=20).loss(loaded.model, loaded.guide, small)
    assert loss == pytest.approx(small_fit.history.loss.iloc[-20:].mean() * 3000, rel=0.02)
    with pytest.raises(pv.DataError, match="a loaded fit holds none"):
        loaded.model()


def test_saved_again_it_is_the_same(saved, tmp_path, small):
    again = tmp_path / "again.fit"
    pv.load(saved).save(again)
    assert np.array_equal(pv.load(again).predict(small), pv.load(saved).predict(small))


@pytest.mark.parametrize(
    "prior", [pv.SpikeSlab(0.1, 2, 0.3, "laplace"), dist.Laplace(0.0, 0.3), dist.Exponential(2.0),
              dist.StudentT(4.0, 0.0, 0.5)], ids=repr)  # fmt: skip
def test_the_prior_is_remembered(small, tmp_path, prior):
    fit = pv.fit(small, prior=prior, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert repr(loaded.prior) == repr(prior)
    assert np.array_equal(loaded.predict(small), fit.predict(small))


def test_a_prior_given_as_code_is_named_but_not_run(small, tmp_path):
    def homemade(n_objects, dimensions):
        return pv.SpikeSlab()(n_objects, dimensions)

    fit = pv.fit(small, prior=homemade, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert repr(loaded.prior) == "homemade"
    assert np.array_equal(loaded.predict(small), fit.predict(small))
    with pytest.raises(pv.PriorError, match="homemade was given to this fit as code"):
        loaded.prior(3, 2)
    with pytest.raises(pv.PriorError, match=r"load\(path, prior=homemade\)"):
        _ = loaded.guide


def test_a_fit_without_dimensions_survives(small, small_fit, tmp_path):
    empty = small_fit.prune(min_objects=99)
    empty.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert loaded.pruned
    assert loaded.n_dimensions == 0
    np.testing.assert_allclose(loaded.predict(small[:4]), 1 / 3, rtol=1e-6)


def test_a_distribution_without_plain_arguments_is_kept_by_name(small, tmp_path):
    prior = dist.TransformedDistribution(dist.Normal(0.0, 1.0), [dist.transforms.ExpTransform()])
    fit = pv.fit(small, prior=prior, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert "TransformedDistribution" in repr(loaded.prior)
    assert np.array_equal(loaded.predict(small), fit.predict(small))


def test_a_missing_folder_is_named(small_fit, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist; make it first"):
        small_fit.save(tmp_path / "nowhere" / "f")


def test_nothing_is_replaced_without_being_asked(small_fit, saved, small):
    before = saved.read_bytes()
    with pytest.raises(OverwriteError, match="overwrite=True"):
        small_fit.save(saved)
    with pytest.raises(FileExistsError):
        small_fit.save(saved)
    assert saved.read_bytes() == before
    small_fit.prune().save(saved, overwrite=True)
    assert pv.load(saved).predict(small).shape == (3000, 3)
    assert [p.name for p in saved.parent.iterdir()] == ["small.fit"]


def test_a_failed_save_leaves_nothing_behind(small_fit, tmp_path, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space left"):
        small_fit.save(tmp_path / "f")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_fit(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match=r"expected a file that fit.save"):
        pv.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    (tmp_path / "short").write_bytes(saved.read_bytes()[:1000])
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "other.npz", "short", "empty"):
        with pytest.raises(SavedFitError, match=name):
            pv.load(tmp_path / name)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("loading ran code",))


def test_loading_runs_no_code(tmp_path):
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    np.savez(tmp_path / "objects.npz", record=np.array([Bomb()], dtype=object), allow_pickle=True)
    for name in ("pickle", "objects.npz"):
        with pytest.raises(SavedFitError):
            pv.load(tmp_path / name)


def rewrite(saved, target, change):
    with np.load(saved) as archive:
        arrays = dict(archive)
    record = json.loads(arrays["record"].tobytes())
    change(record, arrays)
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), np.uint8)
    with target.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r, a: r.update(format=99), "format 99"),
        (lambda r, a: r["names"].pop(), "does not fit its record"),
        (lambda r, a: r["prior"].update(kind="Popen"), "'Popen', which this version"),
        (lambda r, a: r.update(prior={"kind": "distribution", "name": "os", "arguments": {}}),
         "'os' is not a distribution"),
        (lambda r, a: a.pop("posterior/mu"), "does not fit its record"),
        (lambda r, a: a.pop("guide/loc.X"), "does not fit its prior"),
        (lambda r, a: r.pop("seed"), "seed"),
        (lambda r, a: a.update({"posterior/mu": np.array(["x"])}), "does not fit its record"),
    ],
)  # fmt: skip
def test_a_tampered_record(saved, tmp_path, change, sentence):
    rewrite(saved, tmp_path / "changed", change)
    with pytest.raises(SavedFitError, match=sentence):
        pv.load(tmp_path / "changed")


def test_the_file_is_a_plain_zip_of_arrays(saved):
    with zipfile.ZipFile(saved) as archive:
        assert "record.npy" in archive.namelist()


@pytest.mark.parametrize(
    "value", [Training(), Training.paper(), pv.SpikeSlab(), pv.MeanField(), MaxEpochs(3)], ids=repr
)
def test_values_survive_as_json(value):
    assert restore(json.loads(json.dumps(describe(value)))) == value


def test_other_files_are_refused_without_numpys_advice(tmp_path):
    table = tmp_path / "judgments.csv"
    table.write_text("a,b,c\n", encoding="utf-8")
    with pytest.raises(pv.PyroviceError, match=r"it is damaged \(it is not an archive of arrays\)"):
        pv.load(table)


def test_a_guide_given_by_its_class_is_loaded_again(small, tmp_path):
    fit = pv.fit(small, guide=pv.MeanField, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert loaded.guide_family == pv.MeanField()
    assert loaded.guide()["X"].shape == fit.posterior.shape


@dataclass(frozen=True)
class Patient(pv.Stability):
    """A user's stopping rule."""

    patience: int = 3


@dataclass(frozen=True)
class Slow(pv.Anneal):
    """A user's schedule."""


@pytest.mark.parametrize("setting", [{"stop": Patient(window=2)}, {"schedule": Slow(steps=5)}])
def test_what_cannot_be_loaded_is_refused_at_save(small, tmp_path, setting):
    training = pv.Training(**{"stop": pv.MaxEpochs(5)} | setting, max_epochs=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PyroviceWarning)
        fit = pv.fit(small, dimensions=2, training=training, progress=False)
    own = type(next(iter(setting.values())))
    with pytest.raises(pv.PyroviceError, match=rf"saved\({own.__name__}\), and save again"):
        fit.save(tmp_path / "f")
    assert not list(tmp_path.iterdir())
    registry.saved(own)
    try:
        fit.save(tmp_path / "f")
        assert pv.load(tmp_path / "f").training == training
        del REGISTERED[own.__name__]
        with pytest.raises(pv.SavedFitError, match=f"it holds a '{own.__name__}'"):
            pv.load(tmp_path / "f")
    finally:
        REGISTERED.pop(own.__name__, None)


def test_code_is_passed_again_only_where_it_was_code(small, tmp_path):
    def homemade(n_objects, dimensions):
        return pv.SpikeSlab()(n_objects, dimensions)

    def another(n_objects, dimensions):
        return pv.SpikeSlab(pi=0.9)(n_objects, dimensions)

    pv.fit(small, prior=homemade, dimensions=4, training=SHORT, progress=False).save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f", prior=homemade)
    assert loaded.guide()["X"].shape == loaded.posterior.shape
    with pytest.raises(pv.SavedFitError, match="its prior was homemade, and prior=another is"):
        pv.load(tmp_path / "f", prior=another)
    pv.fit(small, dimensions=4, training=SHORT, progress=False).save(tmp_path / "g")
    with pytest.raises(pv.SavedFitError, match="holds its prior itself, SpikeSlab"):
        pv.load(tmp_path / "g", prior=homemade)


def test_without_its_prior_a_fit_says_what_is_missing(small, tmp_path):
    def homemade(n_objects, dimensions):
        return pv.ARD()(n_objects, dimensions)

    fit = pv.fit(small, prior=homemade, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    loaded = pv.load(tmp_path / "f")
    assert loaded.hyperparameters().equals(fit.hyperparameters())
    with pytest.warns(pv.PyroviceWarning, match=r"'scale' cannot be joined.*prior=homemade"):
        idata = loaded.to_arviz(small, draws=20)
    assert "prior" not in idata.groups()
    assert "posterior" in idata.groups()
    with pytest.raises(pv.PriorError, match=r"load\(path, prior=homemade\)"):
        pv.refine(loaded, small)


def test_another_class_of_the_same_name_is_refused():
    @dataclass(frozen=True)
    class SpikeSlab:
        scale: float = 1.0

    with pytest.raises(pv.PyroviceError, match="Another class called SpikeSlab"):
        registry.saved(SpikeSlab)
    with pytest.raises(pv.PyroviceError, match="is not a dataclass"):
        registry.saved(type("Plain", (), {}))
