"""Corrupted, truncated, foreign and malicious files: an error, no code run, no hang."""

import json
import pickle
import random
import zipfile
from io import BytesIO

import numpy as np
import pytest

import pyrovice as pv
from pyrovice import CheckpointError, MaxEpochs, SavedFitError, Training
from pyrovice.results.saved_fits import to_bytes
from pyrovice.storage.archive import pack, unpack
from pyrovice.sweeps.store import Store

IDENTITY = {"prior": "a", "seed": "0"}
SCORES = {"validation_cross_entropy": 0.5}


@pytest.fixture(scope="module")
def content(small_fit):
    return to_bytes(small_fit.prune(), identity=IDENTITY, scores=SCORES)


def flip(content, rng):
    position = rng.randrange(len(content))
    flipped = bytes([content[position] ^ (1 << rng.randrange(8))])
    return content[:position] + flipped + content[position + 1 :]


def cut(content, rng):
    return content[: rng.randrange(len(content))]


def cut_out(content, rng):
    first, last = sorted(rng.sample(range(len(content)), 2))
    return content[:first] + content[last:]


def blank(content, rng):
    first = rng.randrange(len(content))
    size = rng.randrange(1, 5000)
    return (content[:first] + bytes(size) + content[first + size :])[: len(content)]


def put_in(content, rng):
    position = rng.randrange(len(content))
    return content[:position] + rng.randbytes(rng.randrange(1, 50)) + content[position:]


def noise(content, rng):
    return content[:4] + rng.randbytes(rng.randrange(2000))


def scramble_the_end(content, rng):
    """Where a zip says what it holds."""
    tail = bytearray(content[-2000:])
    for _ in range(rng.randrange(1, 20)):
        tail[rng.randrange(len(tail))] = rng.randrange(256)
    return content[:-2000] + bytes(tail)


def change_the_record(content, rng):
    """A valid file with one value of its record replaced by something else."""
    record, arrays = unpack(content)
    values = [None, -1, 10**30, "x", [], {}, {"kind": "Popen"}, [[[]]], 0.5, True, float("nan")]
    record[rng.choice(sorted(record))] = rng.choice(values)
    return pack(record, arrays)


def change_an_array(content, rng):
    record, arrays = unpack(content)
    name = rng.choice(sorted(arrays))
    wrong = [np.zeros(0), np.zeros((3, 3, 3)), np.array("x"), np.array([1 + 2j]), arrays[name][:-1]]
    arrays[name] = rng.choice(wrong)
    return pack(record, arrays)


MUTATIONS = (flip, cut, cut_out, blank, put_in, noise, scramble_the_end, change_the_record,
             change_an_array)  # fmt: skip


def mutants(content, n):
    rng = random.Random(8)
    for i in range(n):
        yield MUTATIONS[i % len(MUTATIONS)](content, rng)


def same_numbers(a, b):
    arrays, others = (unpack(content)[1] for content in (a, b))
    return arrays.keys() == others.keys() and all(
        np.array_equal(array, others[name]) for name, array in arrays.items()
    )


def test_500_damaged_fits(content, tmp_path):
    path = tmp_path / "damaged"
    sentences = []
    for damaged in mutants(content, 500):
        path.write_bytes(damaged)
        try:
            pv.load(path)
        except SavedFitError as error:
            sentences.append(str(error))
        else:
            # A date in the zip, or a value of the record that may be anything: not the numbers.
            assert same_numbers(damaged, content)
    assert len(sentences) > 400
    assert all(str(path) in sentence for sentence in sentences)


def test_500_damaged_results_in_a_store(content, tmp_path):
    store = Store(tmp_path, {"data": "d"})
    path = store.path(IDENTITY)
    sentences = []
    for damaged in mutants(content, 500):
        path.write_bytes(damaged)
        try:
            scores = store.find(IDENTITY)
        except SavedFitError as error:
            sentences.append(str(error))
        else:
            assert scores == SCORES
        assert path.read_bytes() == damaged
    assert len(sentences) > 300
    assert all("Move it out of the store" in sentence for sentence in sentences)


def test_damaged_checkpoints(small, tmp_path):
    path = tmp_path / "c"
    settings = {"dimensions": 3, "training": Training(stop=MaxEpochs(3)), "progress": False}
    with pytest.warns(pv.PyroviceWarning, match="were kept"):
        whole = pv.fit(small, checkpoint=path, **settings)
    content = path.read_bytes()
    record, arrays = unpack(content)
    for damaged in (
        content[:-50],
        content[:100] + bytes(50) + content[150:],
        pack(record, {name: arrays[name] for name in arrays if name != "random/cpu"}),
        pack(record, {**arrays, "tensor/0": np.zeros((2, 2), np.float32)}),
        pack({**record, "run": None}, arrays),
        pack({**record, "identity": []}, arrays),
        pickle.dumps("hello"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="is not a checkpoint of pyrovice, or it is dama"):
            pv.fit(small, checkpoint=path, **settings)
        assert path.read_bytes() == damaged
    path.write_bytes(content)
    with pytest.warns(pv.PyroviceWarning, match="were kept"):
        again = pv.fit(small, checkpoint=path, **settings)
    assert np.array_equal(again.posterior.weights.mu, whole.posterior.weights.mu)


def test_a_small_file_that_is_huge_inside(content, tmp_path):
    bomb = BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("record.npy", bytes(10**8))
    assert len(bomb.getvalue()) < 10**6
    (tmp_path / "bomb").write_bytes(bomb.getvalue())
    with pytest.raises(SavedFitError, match="it is compressed"):
        pv.load(tmp_path / "bomb")


def test_a_record_that_asks_for_too_much(content, tmp_path):
    record, arrays = unpack(content)
    for change in (
        {"history": dict.fromkeys(record["history"], "U1000000000")},
        {"names": [0] * 10**6},
        {"guide": {"kind": "LowRank", "rank": 10**18}},
        {"prior": json.loads("[" * 900 + "]" * 900)},
    ):
        (tmp_path / "greedy").write_bytes(pack({**record, **change}, arrays))
        with pytest.raises(SavedFitError, match="greedy"):
            pv.load(tmp_path / "greedy")


def test_an_array_that_claims_to_be_huge(content, tmp_path):
    header = BytesIO()
    np.lib.format.write_array_header_2_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**9)}
    )
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("record.npy", header.getvalue())
    (tmp_path / "liar").write_bytes(file.getvalue())
    with pytest.raises(SavedFitError, match="liar is not a fit"):
        pv.load(tmp_path / "liar")
