import json
import os
import random
import re
import resource
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import pandas as pd
import pyro.distributions as dist
import pytest
from helpers.embeddings import sparse_embedding

import pyrovice as pv
from pyrovice import Anneal, MaxEpochs, PyroviceError, SavedFitError, SpikeSlab, Training
from pyrovice.storage.archive import pack
from pyrovice.sweeps.result import BY_JUDGMENT, SCORE, Result, Sweep
from pyrovice.sweeps.workers import workers_wanted

QUICK = Training(schedule=Anneal(steps=40), stop=MaxEpochs(40))
PRIORS = [SpikeSlab(), SpikeSlab(pi=0.8)]


def parts():
    data = pv.simulate(sparse_embedding(20, 3, seed=1), 3000, seed=1)
    return data.split(0.8, 0.2, seed=0)


def sweep(**arguments):
    train, valid = parts()
    settings = {"priors": PRIORS, "seeds": 3, "training": QUICK, "dimensions": 6}
    return pv.sweep(train, valid, progress=False, **settings | arguments)


def timeless(found):
    return found.table.drop(columns="seconds")


def assert_same(a, b):
    pd.testing.assert_frame_equal(timeless(a), timeless(b), check_exact=True)
    for prior in a.priors:
        for one, other in zip(a.fits(prior), b.fits(prior), strict=True):
            for name, array in one.posterior.arrays().items():
                assert np.array_equal(array, other.posterior.arrays()[name])


def assert_nearly_same(a, b):
    # Which fits are stacked together decides the last digits.
    pd.testing.assert_frame_equal(timeless(a), timeless(b), rtol=1e-4)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def swept():
    return sweep()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    return folder, sweep(store=folder)


# ---------------------------------------------------------------------- what it says


def test_the_table_has_a_row_per_fit(swept):
    table = swept.table
    assert list(table.columns[:6]) == ["prior", "spike", "slab", "pi", "family", "seed"]
    assert table.seed.tolist() == [0, 1, 2] * 2
    assert table.pi.tolist() == [0.5] * 3 + [0.8] * 3
    assert (table.error == "").all()
    assert not table.converged.any()  # after 40 epochs


def test_a_row_is_what_a_fit_by_hand_gives(swept):
    train, valid = parts()
    by_hand = pv.fit(train, prior=PRIORS[1], seed=2, training=QUICK, dimensions=6, progress=False)
    row = swept.table.iloc[5]
    assert row.dimensions == by_hand.n_dimensions
    scores = by_hand.prune().evaluate(valid)
    # Equal to the bit with equal threads, which the caller of a fit may have chosen otherwise.
    assert row[SCORE] == pytest.approx(scores.cross_entropy, abs=1e-3)
    assert row.loss == pytest.approx(by_hand.history.loss.iloc[-1], abs=1e-3)
    np.testing.assert_allclose(
        swept.fits(PRIORS[1])[2].predict(valid), by_hand.predict(valid), atol=0.01
    )


def made_up(scores, dimensions=None, by_judgment=None):
    """A sweep with these scores by prior and seed, `None` for a failure."""
    priors = [SpikeSlab(pi=(i + 1) / 10) for i in range(len(scores))]
    results = []
    for i, row in enumerate(scores):
        for seed, score in enumerate(row):
            found = {SCORE: score, "dimensions": dimensions[i] if dimensions else 5}
            failed = score is None
            source = b""
            if by_judgment is not None:
                source = pack({}, {f"beside/{BY_JUDGMENT}": by_judgment[i][seed]})
            results.append(
                Result(priors[i], seed, source, {} if failed else found, "Oh: no" if failed else "")
            )
    return Sweep(tuple(priors), tuple(range(len(scores[0]))), tuple(results))


def test_the_best_prior_has_the_lowest_mean():
    found = made_up([[0.9, 0.8, 0.7], [0.75, 0.76, 0.77], [0.5, 1.0, 1.0]])
    assert found.best == found.priors[1]
    summary = found.summary
    np.testing.assert_allclose(summary[SCORE].to_numpy(), [0.8, 0.76, 2.5 / 3])
    assert summary.seeds_sd.iloc[1] == pytest.approx(0.01)
    np.testing.assert_allclose(summary.behind, [0.04, 0, 2.5 / 3 - 0.76])
    assert "0.7600 nats" in repr(found)


def test_notebooks_show_the_best_priors_first(monkeypatch):
    shown = made_up([[0.9, 0.8], [0.75, 0.76], [None, None]])._repr_html_()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown)
    assert cells[1::4] == ["0.7550", "0.8500", "failed"]
    assert cells[3::4] == ["2 of 2", "2 of 2", "0 of 2"]
    monkeypatch.setattr("pyrovice.sweeps.result.MOST_SHOWN", 2)
    assert "... and 1 more: see .summary" in made_up([[0.5]] * 3)._repr_html_()


def test_the_simplest_prior_is_within_one_paired_error_of_the_best():
    """Over validation judgments: two seeds that happen to agree say nothing about it."""
    rng = np.random.default_rng(0)
    best = rng.normal(-0.7, 0.3, (2, 400))
    # Always a little worse; as good on average but not always; worse, and not always.
    gaps = [np.zeros(400), np.full(400, 0.01), rng.normal(0, 0.3, 400), rng.normal(0, 0.3, 400)]
    gaps[2] += 0.01 - gaps[2].mean()
    gaps[3] += 0.03 - gaps[3].mean()
    terms = [best - gap for gap in gaps]
    scores = [[-row.mean() for row in each] for each in terms]
    found = made_up(scores, [9, 4, 7, 4], terms)
    summary = found.summary
    assert found.best == SpikeSlab(pi=0.1)
    expected = [0, 0, *(gap.std(ddof=1) / 20 for gap in gaps[2:])]
    np.testing.assert_allclose(summary.paired_error, expected, atol=1e-12)
    np.testing.assert_allclose(summary.behind, [0, 0.01, 0.01, 0.03], atol=1e-12)
    own = best.mean(axis=0).std(ddof=1) / 20
    assert summary.standard_error.iloc[0] == pytest.approx(own)
    assert found.simplest == SpikeSlab(pi=0.3)
    assert made_up([[0.7], [0.71]], [9, 7]).simplest == SpikeSlab(pi=0.1)


def test_errors_are_of_the_fits_themselves(swept):
    _, valid = parts()
    p = np.stack([fit.prune().predict(valid) for fit in swept.fits(PRIORS[1])])
    terms = np.log(p[:, np.arange(len(valid)), valid.odd]).mean(axis=0)
    got = swept.summary.standard_error.iloc[1]
    assert got == pytest.approx(terms.std(ddof=1) / len(valid) ** 0.5, rel=1e-4)
    assert swept.summary.paired_error.max() > 0


def test_failures_do_not_count(capsys):
    found = made_up([[0.9, None], [0.95, 0.95], [None, None]])
    assert found.best == found.priors[0]
    assert found.summary.failed.tolist() == [1, 0, 2]
    assert found.summary.fits.tolist() == [1, 2, 0]
    assert "2 seeds, 3 failed; best" in repr(found)
    assert found.table.error.tolist() == ["", "Oh: no", "", "", "Oh: no", "Oh: no"]
    assert found.table.dimensions.isna().tolist() == [False, True, False, False, True, True]
    with pytest.raises(PyroviceError, match="failed, the first with: Oh: no"):
        found.median(found.priors[2])
    nothing = made_up([[None]])
    assert repr(nothing) == "Sweep(1 prior x 1 seed, 1 failed)"
    with pytest.raises(PyroviceError, match="All 1 fits failed, the first with: Oh: no"):
        _ = nothing.best


def test_the_representative_is_the_lower_median(swept, monkeypatch):
    monkeypatch.setattr("pyrovice.sweeps.result.from_source", lambda source: source)

    def stands_for(*scores):
        found = made_up([scores])
        named = [replace(result, source=f"seed {i}") for i, result in enumerate(found.results)]
        return Sweep(found.priors, found.seeds, tuple(named)).median()

    assert stands_for(0.7, 0.5, 0.9) == "seed 0"
    assert stands_for(0.7, 0.5, 0.9, 0.8) == "seed 0"
    assert stands_for(0.5) == "seed 0"
    assert stands_for(0.7, 0.5) == "seed 1"
    assert stands_for(None, 0.5, 0.6, 0.7) == "seed 2"


def test_the_representative_is_a_fit(swept):
    of_best = swept.table[swept.table.prior == repr(swept.best)].sort_values(SCORE)
    assert swept.median().seed == of_best.seed.iloc[1]
    assert swept.median(PRIORS[1]).prior == PRIORS[1]
    with pytest.raises(PyroviceError, match=r"no prior SpikeSlab\(.*pi=0.7.*; it has SpikeSlab"):
        swept.median(SpikeSlab(pi=0.7))


def test_the_papers_grid():
    grid = pv.priors.paper_grid()
    assert len(grid) == len(set(grid)) == 180
    assert {p.pi for p in grid} == {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
    assert len({(p.spike, p.slab) for p in grid}) == 20
    assert all(p.spike < p.slab for p in grid)
    for best in (SpikeSlab(0.125, 0.5, 0.6), SpikeSlab(0.25, 0.5, 0.6), SpikeSlab(0.25, 1.0, 0.8)):
        assert best in grid


# ---------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"priors": SpikeSlab()}, TypeError, "expected a list of priors"),
        ({"priors": []}, PyroviceError, "priors is empty"),
        ({"priors": [SpikeSlab]}, PyroviceError, "is not a prior"),
        ({"seeds": 0}, PyroviceError, "seeds=0; expected a whole number"),
        ({"seeds": []}, PyroviceError, "seeds is empty"),
        ({"seeds": [-1]}, PyroviceError, "seed=-1"),
        ({"n_jobs": 0}, PyroviceError, "n_jobs=0"),
        ({"threads": 0}, PyroviceError, "threads=0"),
        ({"checkpoint": "c"}, TypeError, "sweep got checkpoint=.*guide, dimensions, training"),
        ({"dimensions": 0}, PyroviceError, "dimensions=0"),
        ({"training": 3}, TypeError, "expected Training"),
    ],
)
def test_bad_arguments(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        sweep(**arguments)


def test_judgments_of_other_objects(small):
    other = pv.Triplets([[0, 1, 2]], [0])
    with pytest.raises(PyroviceError, match="of different objects"):
        pv.sweep(small, other, priors=PRIORS, seeds=1)


def failing_prior(n_objects, dimensions):
    raise RuntimeError("this prior is broken")


def test_a_failed_fit_is_a_row(tmp_path):
    found = sweep(priors=[failing_prior, SpikeSlab()], seeds=[4], store=tmp_path)
    assert found.table.error.tolist() == ["RuntimeError: this prior is broken", ""]
    assert found.table.prior.tolist()[0] == "failing_prior"
    assert found.best == SpikeSlab()
    # It is tried again next time.
    assert len(list(tmp_path.rglob("*.fit"))) == 1


def test_priors_of_all_kinds(tmp_path):
    def wide(n_objects, dimensions):
        return SpikeSlab(slab=2.0)(n_objects, dimensions)

    priors = [wide, dist.Laplace(0.0, 0.3), pv.ARD()]
    found = sweep(priors=priors, seeds=1, store=tmp_path)
    assert (found.table.error == "").all()
    assert found.table.prior.tolist() == ["wide", repr(priors[1]), "ARD(scale=0.5)"]
    assert found.median(wide).n_dimensions == found.table.dimensions[0]
    again = sweep(priors=priors, seeds=1, store=tmp_path)
    assert again.table.equals(found.table)


def test_what_a_fit_warned_of_is_noted():
    found = sweep(priors=[SpikeSlab()], seeds=1, dimensions=2)
    assert found.table.note[0].startswith("All 2 dimensions were kept")


def test_an_interrupted_fit_is_no_result(tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pyrovice.inference.svi.Trainer.record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(store=tmp_path)
    assert not list(tmp_path.rglob("*.fit"))


# ---------------------------------------------------------------------- the store


def test_what_is_there_is_not_fitted_again(stored, monkeypatch):
    folder, found = stored
    before = files(folder)
    monkeypatch.setattr("pyrovice.sweeps.workers.fit_many", lambda *a: pytest.fail("it was fitted"))
    again = sweep(store=str(folder))
    assert again.table.equals(found.table)
    assert_same(again, found)
    assert files(folder) == before


def test_with_and_without_a_store(stored, swept):
    assert_same(stored[1], swept)


def test_only_what_is_missing_is_fitted(stored, swept, tmp_path):
    folder, _ = stored
    target = tmp_path / next(folder.glob("*")).name
    target.mkdir()
    for path in sorted(folder.rglob("*.fit"))[:4]:
        (target / path.name).write_bytes(path.read_bytes())
    found = sweep(store=tmp_path)
    assert_same(found, swept)
    # The others took their time here, these took it there.
    assert found.table.seconds.isin(stored[1].table.seconds).sum() == 4
    assert len(list(tmp_path.rglob("*.fit"))) == 6


def test_other_settings_have_their_own_results_and_it_is_said(stored, tmp_path):
    sweep(store=tmp_path, priors=PRIORS[:1], seeds=1)
    before = files(tmp_path)
    sweep(store=tmp_path, priors=PRIORS, seeds=[0, 5])  # more of the same: nothing to say
    with pytest.warns(pv.PyroviceWarning, match=r"differ in dimensions\). They are not used"):
        sweep(store=tmp_path, priors=PRIORS[:1], seeds=1, dimensions=5)
    sweep(store=tmp_path, priors=PRIORS[:1], seeds=1, dimensions=5)
    train, valid = parts()
    with pytest.warns(pv.PyroviceWarning, match=r"differ in data, dimensions"):
        pv.sweep(train[:2000], valid, store=tmp_path, priors=PRIORS[:1], seeds=1, training=QUICK,
                 dimensions=6)  # fmt: skip
    assert before.items() <= files(tmp_path).items()
    about = json.loads(next(iter(sorted(tmp_path.glob("*/settings.json")))).read_text())
    assert about["training.stop"] == "MaxEpochs(n=40)"


def test_results_are_fits_for_anybody(stored):
    folder, _ = stored
    fits = [pv.load(path) for path in folder.rglob("*.fit")]
    assert {(fit.prior, fit.seed) for fit in fits} == {(p, s) for p in PRIORS for s in range(3)}


def test_a_result_under_another_name_is_refused(stored, tmp_path):
    folder, _ = stored
    target = tmp_path / next(folder.glob("*")).name
    target.mkdir()
    first, second = sorted(folder.rglob("*.fit"))[:2]
    (target / first.name).write_bytes(second.read_bytes())
    with pytest.raises(SavedFitError, match=r"is another fit: it differs in .*Move it out"):
        sweep(store=tmp_path)
    (target / first.name).write_bytes(first.read_bytes()[:-100])
    with pytest.raises(SavedFitError, match=r"it is damaged .*Move it out of the store"):
        sweep(store=tmp_path)
    found = pv.load(first)
    (target / first.name).unlink()
    found.save(target / first.name)
    with pytest.raises(SavedFitError, match="is not a result of a sweep"):
        sweep(store=tmp_path)


# ---------------------------------------------------------------------- processes


def sweep_into(store, begun, arguments):
    begun.set()
    sweep(store=store, **arguments)


def start(processes, store, **arguments):
    begun = processes.Event()
    child = processes.Process(target=sweep_into, args=(store, begun, arguments))
    child.start()
    begun.wait()
    return child


def test_killed_at_ten_random_moments(processes, tmp_path):
    whole = sweep(seeds=10, stack=False)
    # However fast the machine, no more than a fit or two are made before the next one.
    longest = whole.table.seconds.median()
    moments, counts = random.Random(1), [0]
    for kill in range(10):
        child = start(processes, tmp_path, seeds=10, stack=False)
        # Every other time, not before it has got somewhere.
        while kill % 2 and len(list(tmp_path.rglob("*.fit"))) == counts[-1]:
            time.sleep(0.01)
        child.join(moments.uniform(0, longest))
        child.kill()
        child.join()
        assert child.exitcode == -9, "it was over before it could be killed"
        # Whatever the moment, what is there is whole.
        made = list(tmp_path.rglob("*.fit"))
        assert all(pv.load(path).data_digest == parts()[0].digest() for path in made)
        counts.append(len(made))
    assert 5 <= counts[-1] < 20
    assert_same(sweep(store=tmp_path, seeds=10, stack=False), whole)


def test_stacks_that_were_killed_are_made_again(processes, tmp_path):
    # A stack per family, the later ones not yet begun when the first is there.
    arguments = {
        "priors": [*PRIORS, dist.Laplace(0.0, 0.3), pv.ARD(0.5)],
        "training": Training(schedule=Anneal(steps=150), stop=MaxEpochs(150)),
    }
    child = start(processes, tmp_path, **arguments)
    while not list(tmp_path.rglob("*.fit")):
        time.sleep(0.01)
    child.kill()
    child.join()
    assert child.exitcode == -9, "it was over before it could be killed"
    made = len(list(tmp_path.rglob("*.fit")))
    assert 0 < made < 12
    again = sweep(store=tmp_path, **arguments)
    assert_nearly_same(again, sweep(**arguments))
    assert_nearly_same(again, sweep(**arguments, stack=False))


def test_two_sweeps_on_one_store(processes, swept, tmp_path):
    both = [start(processes, tmp_path) for _ in range(2)]
    for one in both:
        one.join()
    assert [one.exitcode for one in both] == [0, 0]
    assert len(list(tmp_path.rglob("*.fit"))) == 6
    assert not list(tmp_path.rglob(".*"))
    assert_same(sweep(store=tmp_path), swept)


def sweep_on_a_full_disk(store, told):
    # No file may grow beyond this: the settings fit, a result does not.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        sweep(store=store)
    except pv.WriteError as error:
        told.put(str(error))


def test_a_full_disk(processes, stored, tmp_path):
    folder, found = stored
    target = tmp_path / next(folder.glob("*")).name
    target.mkdir()
    for path in sorted(folder.rglob("*.fit"))[:4]:
        (target / path.name).write_bytes(path.read_bytes())
    before = files(tmp_path)
    told = processes.Queue()
    child = processes.Process(target=sweep_on_a_full_disk, args=(tmp_path, told))
    child.start()
    sentence = told.get(timeout=60)
    child.join()
    assert "could not be written: File too large. What was there before is unharmed" in sentence
    after = files(tmp_path)
    assert before.items() <= after.items()
    assert {path.name for path in after.keys() - before.keys()} == {"settings.json"}
    assert_same(sweep(store=tmp_path), found)


def test_a_folder_that_cannot_be_written_to(stored, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(pv.WriteError, match=r"cannot be made: .*Choose a folder"):
        sweep(store=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@contextmanager
def without_privileges():
    """As somebody whom folders can be closed to: the superuser writes anywhere."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def test_a_read_only_folder(stored):
    folder, _ = stored
    with TemporaryDirectory() as name:
        root = Path(name)
        target = root / next(folder.glob("*")).name
        target.mkdir()
        for path in sorted(folder.rglob("*"))[:5]:
            if path.is_file():
                (target / path.name).write_bytes(path.read_bytes())
        before = files(root)
        for closed in (target, root):
            closed.chmod(0o555)
        try:
            with (
                without_privileges(),
                pytest.raises(pv.WriteError, match=r"Permission denied.*unharmed"),
            ):
                sweep(store=root)
        finally:
            for closed in (root, target):
                closed.chmod(0o755)
        assert files(root) == before


def test_the_number_of_processes_does_not_matter(swept):
    assert_same(sweep(n_jobs=2), swept)


def test_the_backend_decides_where_it_is_named():
    assert workers_wanted(1) == 1
    assert workers_wanted(3) == 3
    with joblib.parallel_config(n_jobs=4):
        assert workers_wanted(1) == 4
    with joblib.parallel_config(backend="multiprocessing"):
        assert workers_wanted(1) == -1
        assert workers_wanted(2) == 2
    with joblib.parallel_config(backend="multiprocessing", n_jobs=3):
        assert workers_wanted(1) == 3


def test_threads_wait_for_each_other(swept):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_same(sweep(), swept)


def deadly_prior(n_objects, dimensions):
    os.kill(os.getpid(), 9)


@pytest.mark.slow
def test_a_fit_that_kills_its_worker_is_a_row(swept):
    found = sweep(priors=[deadly_prior, *PRIORS], seeds=3, n_jobs=2)
    assert found.table.error[:3].str.startswith("The worker was lost. TerminatedWorkerError").all()
    others = found.table[3:].drop(columns="seconds").reset_index(drop=True)
    # A fit alone rounds its sums in another order than one in a stack.
    pd.testing.assert_frame_equal(others, timeless(swept), rtol=1e-4)
