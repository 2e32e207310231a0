"""Workers end with the process that started them, also if it is given no time to say so."""

import os
import signal
import sys
from pathlib import Path

import joblib
import pytest
from helpers.processes import children, is_running, started, wait_until
from joblib.parallel import MultiprocessingBackend

from pyrovice.inference.watched_chains import watched
from pyrovice.inference.worker_lifetime import below, workers_of_this_process

pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

REFINING = """
import pyrovice as pv
data = pv.load_example().triplets
short = pv.Training(schedule=None, stop=pv.MaxEpochs(3))
fit = pv.fit(data, dimensions=8, training=short)
pv.refine(fit, data, draws=40_000, chains=2)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_workers_end_with_their_parent(number):
    parent = started(code=REFINING)
    workers = wait_until(lambda: found if len(found := children(parent.pid)) == 2 else None, 240)
    # They may still be importing: whoever has no parent when its work comes ends as well.
    parent.send_signal(number)
    assert parent.wait(30) == -number
    wait_until(lambda: not any(map(is_running, workers)), seconds=40)
    parent.communicate()


def test_ctrl_c_is_left_to_the_parent():
    with workers_of_this_process() as parent:
        ask = joblib.delayed(below)(parent, signal.getsignal, signal.SIGINT)
        assert joblib.Parallel(n_jobs=2)([ask, ask]) == [signal.SIG_IGN] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_only_processes_below_this_one_are_watched():
    with workers_of_this_process() as parent:
        assert parent == os.getpid()
    with joblib.parallel_config(backend="threading"), workers_of_this_process() as parent:
        assert parent is None
    # As Ray's, whose workers would end at once for want of their parent.
    joblib.register_parallel_backend("elsewhere", type("Far", (MultiprocessingBackend,), {}))
    with joblib.parallel_config(backend="elsewhere"):
        with workers_of_this_process() as parent:
            assert parent is None
        with watched(1, 10, "far away", progress=False) as watch:
            assert watch.reports[0].path is None
    # In this process and in those of a cluster nothing is started that could end it.
    before = len(sys._current_frames())
    assert below(os.getpid(), max, 1, 2) == below(None, max, 2, 1) == 2
    assert len(sys._current_frames()) == before
