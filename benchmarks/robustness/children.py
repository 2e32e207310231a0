"""What a soak runs in processes of their own, and how they are watched and killed."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

REFUSED, RAW = 3, 4
CONTEXT = multiprocessing.get_context("forkserver")
# Workers have half a second to notice, and the machine is shared.
PATIENCE = 20.0


def start(folder: Path, run: Callable[..., Any], *arguments: Any, room: int | None = None) -> Any:
    """`run` in a new process, in which files can have at most `room` bytes."""
    CONTEXT.set_forkserver_preload(["torch._dynamo", "benchmarks.robustness.work"])
    process = CONTEXT.Process(target=_child, args=(folder, run, arguments, room))
    process.start()
    return process


def _child(folder: Path, run: Callable[..., Any], arguments: tuple, room: int | None) -> None:
    import torch

    from pyrovice.errors import PyroviceError

    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    warnings.simplefilter("ignore")
    os.chdir(folder)
    # The words of commands are not looked at, only their exit codes and files.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    if room is not None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        run(*arguments)
    except PyroviceError:
        sys.exit(REFUSED)
    except Exception:
        (folder / "raw.txt").write_text(traceback.format_exc()[-2000:])
        sys.exit(RAW)


def kill_after(process: Any, seconds: float, number: signal.Signals) -> set[int]:
    """Send a signal after some time; the workers that the process had then."""
    process.join(seconds)
    workers = children(process.pid) if process.is_alive() else set()
    if process.is_alive():
        os.kill(process.pid, number)
    process.join(120)
    if process.is_alive():
        process.kill()
        process.join()
        raise TimeoutError("it did not end")
    return workers


def children(pid: int) -> set[int]:
    """Workers of joblib below a process, on Linux."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = stat.read_text().rsplit(")", 1)[1].split()
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(rest[1]) == pid and b"LokyProcess" in command:
            found.add(int(stat.parent.name))
    return found


def left_behind(workers: set[int]) -> set[int]:
    """Those that still run when they have had time to end; they are ended then."""
    end = time.monotonic() + PATIENCE
    while (alive := {pid for pid in workers if _runs(pid)}) and time.monotonic() < end:
        time.sleep(0.1)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    return alive


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
