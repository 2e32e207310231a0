import random
import time

import numpy as np
import pandas as pd
import pyro
import pyro.distributions as dist
import pytest
import torch
from helpers.embeddings import sparse_embedding
from pyro.infer.autoguide import AutoIAFNormal, AutoNormal, AutoStructured
from torch.distributions import constraints

import pyrovice as pv
from pyrovice import Checkpoint, CheckpointError, MaxEpochs, Training
from pyrovice.inference import settings
from pyrovice.inference.checkpoints import Keeper
from pyrovice.storage.archive import unpack

SHORT = Training(stop=MaxEpochs(12), schedule=None)
# Fits this short still have all their dimensions, which is said elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore:All . dimensions were kept")


class PowerCutError(Exception):
    pass


def quick(data, **arguments):
    return pv.fit(data, progress=False, **{"dimensions": 6, "training": SHORT} | arguments)


def cut_short(monkeypatch, data, path, *, epochs, **arguments):
    """A fit that saves every fifth epoch and dies after `epochs`."""
    seen = []

    def due(keeper):
        seen.append(None)
        if len(seen) == epochs:
            raise PowerCutError
        return len(seen) % 5 == 0

    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "due", property(due))
        with pytest.raises(PowerCutError):
            quick(data, checkpoint=path, **arguments)
    assert len(unpack(path)[1]["history/loss"]) == 5 * ((epochs - 1) // 5)


def assert_same(a, b):
    for name, array in a.posterior.arrays().items():
        assert np.array_equal(array, b.posterior.arrays()[name]), name
    timeless = [column for column in a.history if column != "seconds"]
    pd.testing.assert_frame_equal(a.history[timeless], b.history[timeless], check_exact=True)
    pd.testing.assert_frame_equal(a.hyperparameters(), b.hyperparameters(), check_exact=True)
    assert a.converged == b.converged
    assert b.history.seconds.is_monotonic_increasing


def my_guide(model):
    def guide(*args, **kwargs):
        m, d = model.n_objects, model.dimensions
        loc = pyro.param("loc", lambda: torch.rand(m, d))
        scale = pyro.param("scale", lambda: 0.1 * torch.ones(d), constraint=constraints.positive)
        with pyro.plate("object", m, dim=-2), pyro.plate("dimension", d, dim=-1):
            pyro.sample("X", dist.Normal(loc, scale))

    return guide


@pytest.mark.filterwarnings("ignore:These 2,701 judgments")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"training": Training(stop=MaxEpochs(12), batch_size=700, particles=2)},
        {"training": Training(stop=MaxEpochs(12), start="noise", schedule=None, batch_size=128)},
        {"prior": pv.LearnedSpikeSlab(), "guide": pv.LowRank(2)},
        {"prior": dist.Exponential(3.0), "guide": pv.MAP()},
        {"prior": pv.ARD()},
        {"guide": AutoNormal},
        pytest.param({"guide": AutoIAFNormal}, marks=pytest.mark.slow),
        {"guide": lambda model: AutoStructured(model, conditionals="normal")},
        {"guide": my_guide},
    ],
    ids=["default", "batches", "paper", "learned", "map", "ard", "autonormal", "flow", "lambda",
         "function"],
)  # fmt: skip
def test_a_resumed_fit_is_the_uninterrupted_one(small, tmp_path, monkeypatch, arguments):
    path = tmp_path / "checkpoint"
    train, valid = small.split(0.9, 0.1, seed=0)
    arguments = {"validation": valid} | arguments
    whole = quick(train, **arguments)
    cut_short(monkeypatch, train, path, epochs=8, **arguments)
    cut_short_again = quick(train, checkpoint=path, **arguments)
    assert_same(whole, cut_short_again)
    assert_same(whole, quick(train, checkpoint=path, **arguments))


def test_parts_that_take_turns_and_dropped_dimensions(small, tmp_path, monkeypatch):
    monkeypatch.setattr("pyrovice.inference.settings.LARGE_BATCH", 500)
    monkeypatch.setattr("pyrovice.inference.svi.DROP_FROM_STEP", 40)
    arguments = {"training": Training(stop=MaxEpochs(60)), "dimensions": 9}
    whole = quick(small, **arguments)
    cut_short(monkeypatch, small, tmp_path / "c", epochs=52, **arguments)
    assert unpack(tmp_path / "c")[0]["run"]["dimensions"] < 9
    assert_same(whole, quick(small, checkpoint=tmp_path / "c", **arguments))


def test_a_finished_fit_is_not_trained_again(small, tmp_path, monkeypatch):
    path = tmp_path / "c"
    whole = quick(small, checkpoint=path)
    content = path.read_bytes()
    monkeypatch.setattr(torch.optim.Adam, "step", lambda *args: pytest.fail("it was trained"))
    again = quick(small, checkpoint=Checkpoint(str(path)))
    assert_same(whole, again)
    assert again.history.equals(whole.history)
    assert path.read_bytes() == content


def test_a_warm_start_resumes_too(small, small_fit, tmp_path, monkeypatch):
    whole = quick(small, init=small_fit)
    cut_short(monkeypatch, small, tmp_path / "c", epochs=8, init=small_fit)
    with pytest.raises(CheckpointError, match=r"init was Fit.* and is now none"):
        quick(small, checkpoint=tmp_path / "c")
    assert_same(whole, quick(small, checkpoint=tmp_path / "c", init=small_fit))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"dimensions": 5}, "dimensions was 6 and is now 5"),
        ({"prior": pv.SpikeSlab(pi=0.3)}, r"prior was SpikeSlab\(.*pi=0.5.* is now .*pi=0.3"),
        ({"prior": dist.Laplace(0.0, 0.3)}, "prior was .* and is now Laplace"),
        ({"guide": pv.MAP()}, r"guide was MeanField\(\) and is now MAP\(\)"),
        ({"training": Training(stop=MaxEpochs(13), schedule=None)},
         r"training.stop was MaxEpochs\(n=12\) and is now MaxEpochs\(n=13\)"),
    ],
)  # fmt: skip
def test_another_fit_is_refused_and_the_difference_named(small, tmp_path, change, sentence):
    path = tmp_path / "c"
    quick(small, checkpoint=path)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=sentence):
        quick(small, checkpoint=path, **change)
    assert path.read_bytes() == content


def test_other_data_are_refused(small, tmp_path):
    quick(small, checkpoint=tmp_path / "c")
    with pytest.raises(CheckpointError, match=r"data was 3,000 judgments.*now 2,999 judgments"):
        quick(small[:2999], checkpoint=tmp_path / "c")
    with pytest.raises(CheckpointError, match="validation was none and is now 100 judgments"):
        quick(small, checkpoint=tmp_path / "c", validation=small[:100])


def test_files_that_are_no_checkpoint_are_left_alone(small, small_fit, tmp_path):
    (tmp_path / "text").write_text("my thesis")
    small_fit.save(tmp_path / "fit")
    (tmp_path / "empty").touch()
    for name in ("text", "fit", "empty"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(CheckpointError, match=f"{name} is not a checkpoint of pyrovice"):
            quick(small, checkpoint=tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(TypeError, match="expected a path"):
        quick(small, checkpoint=3)
    with pytest.raises(pv.PyroviceError, match="seconds=-1"):
        Checkpoint("c", seconds=-1)


def test_a_file_that_appears_meanwhile_is_left_alone(small, tmp_path, monkeypatch):
    path = tmp_path / "c"
    saves = []

    def meddle(keeper):
        saves.append(None)
        if len(saves) == 3:
            path.write_text("somebody else's")
        return True

    monkeypatch.setattr(Keeper, "due", property(meddle))
    with pytest.raises(CheckpointError, match="is not a checkpoint of pyrovice"):
        quick(small, checkpoint=path)
    assert path.read_text() == "somebody else's"


def test_where_nothing_can_be_written_it_is_said_before_training(small, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.optim.Adam, "step", lambda *args: pytest.fail("it was trained"))
    (tmp_path / "file").touch()
    with pytest.raises(pv.WriteError, match="could not be written"):
        quick(small, checkpoint=tmp_path / "file" / "c")
    with pytest.raises(pv.WriteError, match="No such file or directory"):
        quick(small, checkpoint=tmp_path / "nowhere" / "c")


# ---------------------------------------------------------------------- killed

LONG = Training(stop=MaxEpochs(700))


def long_fit(data, path=None):
    # Parts of the data that take turns, and dimensions that are dropped at step 500 and later.
    settings.LARGE_BATCH = 1500
    torch.set_num_threads(1)
    checkpoint = None if path is None else Checkpoint(path, seconds=0.02)
    return pv.fit(data, dimensions=8, training=LONG, validation=data[:99], checkpoint=checkpoint)


def fit_and_save(data, checkpoint, result, begun):
    begun.set()
    long_fit(data, checkpoint).save(result)


def test_killed_at_ten_random_moments(processes, tmp_path):
    data = pv.simulate(sparse_embedding(20, 3, seed=1), 3000, seed=1)
    checkpoint = tmp_path / "checkpoint"

    def start(checkpoint, result):
        begun = processes.Event()
        child = processes.Process(target=fit_and_save, args=(data, checkpoint, result, begun))
        child.start()
        begun.wait()
        return child

    def epochs_saved():
        # Whatever the moment, the checkpoint is whole or not there yet.
        saved = unpack(checkpoint)[1] if checkpoint.exists() else {}
        return len(saved.get("history/loss", ()))

    start(None, tmp_path / "whole").join()
    whole = pv.load(tmp_path / "whole")
    moments, epochs = random.Random(0), [0]
    for kill in range(10):
        child = start(checkpoint, tmp_path / "resumed")
        # Every other time, not before it has got somewhere.
        while kill % 2 and epochs_saved() == epochs[-1]:
            time.sleep(0.01)
        child.join(moments.uniform(0, 0.1) * whole.history.seconds.iloc[-1])
        child.kill()
        child.join()
        assert child.exitcode == -9, "it was over before it could be killed"
        epochs.append(epochs_saved())
    assert epochs == sorted(epochs)
    assert len(set(epochs)) > 5
    last = start(checkpoint, tmp_path / "resumed")
    last.join()
    assert last.exitcode == 0
    assert_same(whole, pv.load(tmp_path / "resumed"))


def test_two_fits_that_begin_at_the_same_moment(small, tmp_path, monkeypatch):
    """Both see no file; both end, with the same fit and one checkpoint."""
    path = tmp_path / "shared"
    begin = Keeper.begin

    def begin_beside_another(keeper, run):
        monkeypatch.setattr(Keeper, "begin", begin)
        exists = type(path).exists
        # What is seen just before the other one writes.
        monkeypatch.setattr(type(path), "exists", lambda p: p != path and exists(p))
        Keeper.save(keeper, run)
        keeper._written = None
        Keeper.save(keeper, run)
        monkeypatch.setattr(type(path), "exists", exists)

    alone = quick(small)
    monkeypatch.setattr(Keeper, "begin", begin_beside_another)
    assert_same(quick(small, checkpoint=path), alone)
    assert [file.name for file in tmp_path.iterdir()] == ["shared"]
    assert_same(quick(small, checkpoint=path), alone)


def test_another_fit_that_began_at_the_same_moment_is_left_alone(small, tmp_path, monkeypatch):
    path = tmp_path / "taken"
    quick(small, checkpoint=path, seed=5)
    before = path.read_bytes()
    exists = type(path).exists
    monkeypatch.setattr(type(path), "exists", lambda p: p != path and exists(p))
    with pytest.raises(CheckpointError, match="this is a checkpoint of another fit: seed was 5"):
        quick(small, checkpoint=path)
    assert path.read_bytes() == before
