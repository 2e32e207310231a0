"""Sweeps on a real Dask cluster, and on backends that return lists only, as Ray's does."""

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import joblib
import pyro.distributions as dist
import pytest
from test_sweep import PRIORS, assert_nearly_same, assert_same, sweep

import pyrovice as pv
from pyrovice import Anneal, MaxEpochs, Training

pytest.importorskip("distributed")

from dask import config
from distributed import Client, LocalCluster


@contextmanager
def local_cluster(workers):
    # What a worker says that is killed or told to go is of no interest here.
    with (
        config.set({"logging": {"distributed": "critical"}}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def swept():
    return sweep()


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster) as client:
        yield client


def test_a_dask_cluster_gives_the_same_table(client, swept):
    with joblib.parallel_config(backend="dask"):
        assert_same(sweep(), swept)


def test_a_killed_worker_does_not_matter(client, swept, tmp_path):
    first, _ = client.run(os.getpid).values()
    killed = threading.Event()

    def kill_midway():
        while not list(tmp_path.rglob("*.fit")):
            time.sleep(0.01)
        os.kill(first, 9)
        killed.set()

    killer = threading.Thread(target=kill_midway)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        found = sweep(store=tmp_path)
    killer.join()
    assert killed.is_set()
    assert_same(found, swept)
    assert len(list(tmp_path.rglob("*.fit"))) == len(swept.table)


def test_a_backend_that_returns_lists(swept, monkeypatch):
    # Ray's backend is such a one; this is the one that comes with joblib.
    monkeypatch.setattr(
        "joblib.parallel.ThreadingBackend.supports_return_generator", property(lambda self: False)
    )
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_same(sweep(), swept)


def test_the_job_that_the_page_asks_slurm_for():
    """No SLURM is needed to see what would be submitted: one worker a core, none sharing one."""
    pytest.importorskip("dask")
    page = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text(encoding="utf-8")
    call = re.search(r"^cluster = (SLURMCluster\(.*\))$", page, re.M)[1]
    # In a process of its own: on import, dask_jobqueue takes Ctrl-C for itself.
    program = (
        "from functools import partial; from dask_jobqueue.slurm import SLURMJob; "
        "SLURMCluster = partial(SLURMJob, 'tcp://scheduler:8786', 'worker'); "
        f"print({call}.job_script())"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    script = ran.stdout
    for wanted in ("-p normal", "--cpus-per-task=8", "--mem=30G", "-t 12:00:00"):
        assert f"#SBATCH {wanted}\n" in script
    assert "--nworkers 8 " in script
    assert "--nthreads 1 " in script


# A stack per family, the later ones not yet begun when the first is there.
STACKED = {
    "priors": [*PRIORS, dist.Laplace(0.0, 0.3), pv.ARD(0.5)],
    "training": Training(schedule=Anneal(steps=150), stop=MaxEpochs(150)),
}


def sweep_on_a_cluster_of_its_own(store):
    # With its workers in a process group of its own, so that nothing of it is left.
    os.setpgrp()
    with local_cluster(1) as cluster, Client(cluster), joblib.parallel_config(backend="dask"):
        sweep(store=store, **STACKED)


@pytest.mark.slow
def test_a_stacked_sweep_that_was_killed_with_its_cluster(processes, client, tmp_path):
    child = processes.Process(target=sweep_on_a_cluster_of_its_own, args=(tmp_path,))
    child.start()
    while not list(tmp_path.rglob("*.fit")):
        assert child.is_alive()
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.join()
    assert child.exitcode == -9, "it was over before it could be killed"
    assert 0 < len(list(tmp_path.rglob("*.fit"))) < 12
    with joblib.parallel_config(backend="dask"):
        again = sweep(store=tmp_path, **STACKED)
    assert_nearly_same(again, sweep(**STACKED))
