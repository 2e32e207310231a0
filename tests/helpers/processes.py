"""Processes and their children, as Linux lists them."""

import os
import subprocess
import sys
import time
from pathlib import Path

COMMAND = "from pyrovice.cli import app; app()"


def started(*arguments, code=COMMAND, cwd=None, session=False):
    """Python in a process of its own, with one thread and everything that this one imports.

    In a session of its own it can be sent what a terminal sends to all of its processes.
    """
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        start_new_session=session,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def children(pid):
    """Workers below a process that still run, each by its number."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = stat.parent.name, stat.read_text().rsplit(")", 1)[1].split()
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(rest[1]) == pid and rest[0] != "Z" and b"LokyProcess" in command:
            found.add(int(number))
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what, seconds=90):
    """Wait for something to become true, and return it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
    return found
