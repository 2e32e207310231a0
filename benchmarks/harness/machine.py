"""What a measurement ran on."""

from __future__ import annotations

import platform
import resource
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch


def describe_machine() -> str:
    """Processor, threads, versions and date, in a line."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "pyro-ppl", "numpy"))
    return (
        f"{_processor()}, {torch.get_num_threads()} threads, Python "
        f"{platform.python_version()}, {versions}, {date.today().isoformat()}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def peak_memory_gb() -> float:
    """Highest memory use of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
