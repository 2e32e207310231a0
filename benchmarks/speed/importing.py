"""What importing costs: seconds of the processor, and as a multiple of importing torch alone."""

from __future__ import annotations

import resource
import subprocess
import sys

ROUNDS = 5
COMMAND = "import sys; sys.argv = ['pyrovice', {!r}]; from pyrovice.cli import app; app()"
CASES = {
    "`import torch`": "import torch",
    "`import torch, pyro`": "import torch, pyro",
    "`import pyrovice`": "import pyrovice",
    "`from pyrovice import Triplets`": "from pyrovice import Triplets",
    "`from pyrovice import Triplets, fit, load`": "from pyrovice import Triplets, fit, load",
    "every public name": "import pyrovice; [getattr(pyrovice, n) for n in pyrovice.__all__]",
    "`pyrovice --version`": COMMAND.format("--version"),
    "`pyrovice --help`": COMMAND.format("--help"),
}


def run(quick: bool) -> str:
    rounds = 1 if quick else ROUNDS
    # In turns, so that what else runs on the machine troubles all alike.
    taken = [{name: seconds(code) for name, code in CASES.items()} for _ in range(rounds)]
    fastest = {name: min(each[name] for each in taken) for name in CASES}
    torch = fastest["`import torch`"]
    lines = [
        f"Seconds of the processor in a new process, the fastest of {rounds} rounds in turns.",
        "",
        "| | CPU seconds | beyond torch | times torch |",
        "| --- | --- | --- | --- |",
    ]
    for name, value in fastest.items():
        lines.append(f"| {name} | {value:.2f} | {value - torch:+.2f} | {value / torch:.2f} |")
    return "\n".join(lines)


def seconds(code: str) -> float:
    """User time of a process that runs this."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
