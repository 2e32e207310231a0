"""Random kills, full disks and damaged files, for as long as asked: what was tried, what was lost.

python -m benchmarks.robustness.soak --minutes 30 --seed 0

Every accident leaves its traces in a folder, which is then looked at: files must be whole, equal
to the bit to those of an undisturbed run once it has been finished, and refused in a sentence if
they were damaged from outside; no worker may outlive its parent. Anything else counts as lost.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyrovice as pv
from benchmarks.robustness import work
from benchmarks.robustness.children import (
    RAW,
    REFUSED,
    kill_after,
    left_behind,
    start,
)
from benchmarks.robustness.damage import damaged

MINUTES = 30.0
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
ENDINGS = {
    "judgments": ".csv",
    "embedding": ".csv",
    "fit": ".fit",
    "figure": ".png",
    "report": ".html",
}
HEADER = "| accident | tried | stopped midway | refused in a sentence | lost |"


class Soak:
    """A folder of undisturbed results, and accidents to compare with them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.home = folder
        self.counts: dict[str, Counter[str]] = {}
        self.lost: list[str] = []
        self.whole, self.state = folder / "whole.fit", folder / "whole.state"
        self._finish(work.fit_with_checkpoint, self.state, self.whole)
        self.fit = pv.load(self.whole)
        self._finish(work.sweep, folder / "store", 1)
        self.stored = {p.name: pv.load(p) for p in (folder / "store").rglob("*.fit")}
        self.files = {}
        for kind, ending in ENDINGS.items():
            path = folder / f"{kind}{ending}"
            self._finish(work.write, kind, self.whole, path)
            self.files[kind] = path.read_bytes()

    def accidents(self) -> dict[str, Callable[[Path], str]]:
        """By name; each returns what became of it."""
        return {
            "kill a fit with a checkpoint": self.kill_a_fit,
            "kill a sweep with a store": self.kill_a_sweep,
            "kill refine": lambda folder: self.kill_chains(folder, work.refine, self.whole),
            "kill sample": lambda folder: self.kill_chains(folder, work.sample),
            "SIGTERM on a command": self.stop_a_command,
            "full disk": self.fill_the_disk,
            "full disk under a checkpoint": self.fill_the_disk_of_a_checkpoint,
            "damaged fit": self.damage_a_fit,
            "damaged checkpoint": self.damage_a_checkpoint,
            "damaged judgments": self.damage_judgments,
        }

    def one(self, name: str) -> None:
        """Have one accident and count what became of it."""
        folder = self.home / "accident"
        folder.mkdir()
        count = self.counts.setdefault(name, Counter())
        count["tried"] += 1
        try:
            count[self.accidents()[name](folder)] += 1
        except Exception as error:
            count["lost"] += 1
            trace = folder / "raw.txt"
            seen = trace.read_text() if trace.exists() else repr(error)
            self.lost.append(f"{name}: {seen}")
            print(self.lost[-1], flush=True)
        finally:
            shutil.rmtree(folder)

    # ------------------------------------------------------------------ kills

    def kill_a_fit(self, folder: Path) -> str:
        state, output = folder / "state", folder / "done.fit"
        stopped = False
        for _ in range(self.rng.randrange(1, 4)):
            process = start(folder, work.fit_with_checkpoint, state, output)
            kill_after(process, self.rng.uniform(0, 3), self.rng.choice(SIGNALS))
            stopped |= process.exitcode < 0
        if not output.exists():
            self._finish(work.fit_with_checkpoint, state, output)
        check(work.same(pv.load(output), self.fit), "the fit is another one")
        return "stopped" if stopped else "ended"

    def kill_a_sweep(self, folder: Path) -> str:
        store, jobs = folder / "store", self.rng.choice([1, 2])
        process = start(folder, work.sweep, store, jobs)
        workers = kill_after(process, self.rng.uniform(0, 12 * jobs), self.rng.choice(SIGNALS))
        check(not left_behind(workers), "workers were left behind")
        for path in store.rglob("*.fit"):
            check(work.same(pv.load(path), self.stored[path.name]), "a stored fit is another one")
        self._finish(work.sweep, store, 1)
        found = {path.name for path in store.rglob("*.fit")}
        check(found == set(self.stored), "fits are missing")
        return "stopped" if process.exitcode < 0 else "ended"

    def kill_chains(self, folder: Path, run: Callable[..., None], *arguments: Path) -> str:
        output = folder / "chains.fit"
        process = start(folder, run, *arguments, output)
        workers = kill_after(process, self.rng.uniform(0, 15), self.rng.choice(SIGNALS))
        check(not left_behind(workers), "workers were left behind")
        check(process.exitcode not in (RAW, REFUSED), "it failed by itself")
        if output.exists():
            pv.load(output)
        return "stopped" if process.exitcode < 0 else "ended"

    def stop_a_command(self, folder: Path) -> str:
        data, state, output = folder / "data.csv", folder / "state", folder / "done.fit"
        data.write_bytes(self.files["judgments"])
        arguments = ["fit", str(data), "-o", str(output), "--checkpoint", str(state)]
        process = start(folder, work.command, *arguments, "--dimensions", "4", "-q")
        kill_after(process, self.rng.uniform(0, 6), signal.SIGTERM)
        # Before a command has begun, SIGTERM ends the process as it ends any.
        check(process.exitcode in (0, 143, -signal.SIGTERM), f"exit code {process.exitcode}")
        check(output.exists() == (process.exitcode == 0), "the output does not match the exit code")
        check(not list(folder.glob("*.part")), "a draft was left behind")
        return "stopped" if process.exitcode else "ended"

    # ------------------------------------------------------------------ full disks

    def fill_the_disk(self, folder: Path) -> str:
        kind = self.rng.choice(list(ENDINGS))
        output = folder / f"out{ENDINGS[kind]}"
        room = self.rng.randrange(2 * len(self.files[kind]))
        process = start(folder, work.write, kind, self.whole, output, room=room)
        process.join(120)
        if process.exitcode == REFUSED:
            check(not list(folder.iterdir()), "something was left behind")
            return "refused"
        check(process.exitcode == 0, f"exit code {process.exitcode}")
        size = output.stat().st_size
        # Pages and pictures may name their moment.
        check(abs(size - len(self.files[kind])) < 200, "the file is another one")
        return "ended"

    def fill_the_disk_of_a_checkpoint(self, folder: Path) -> str:
        state, output = folder / "state", folder / "done.fit"
        room = self.rng.randrange(2 * self.state.stat().st_size)
        process = start(folder, work.fit_with_checkpoint, state, output, room=room)
        process.join(120)
        check(process.exitcode in (0, REFUSED), f"exit code {process.exitcode}")
        if not output.exists():
            self._finish(work.fit_with_checkpoint, state, output)
        check(work.same(pv.load(output), self.fit), "the fit is another one")
        return "refused" if process.exitcode else "ended"

    # ------------------------------------------------------------------ damaged files

    def damage_a_fit(self, folder: Path) -> str:
        path = folder / "damaged.fit"
        for _ in range(100):
            path.write_bytes(damaged(self.files["fit"], self.rng))
            try:
                found = pv.load(path)
            except pv.SavedFitError:
                continue
            check(work.same(found, self.fit), "a damaged fit was loaded as another one")
        return "refused"

    def damage_a_checkpoint(self, folder: Path) -> str:
        state, output = folder / "state", folder / "done.fit"
        content = damaged(self.state.read_bytes(), self.rng)
        state.write_bytes(content)
        process = start(folder, work.fit_with_checkpoint, state, output)
        process.join(120)
        if process.exitcode == REFUSED:
            check(state.read_bytes() == content, "the damaged file was touched")
            return "refused"
        check(process.exitcode == 0, f"exit code {process.exitcode}")
        check(work.same(pv.load(output), self.fit), "the fit is another one")
        return "ended"

    def damage_judgments(self, folder: Path) -> str:
        path, refused = folder / "damaged.csv", 0
        for _ in range(20):
            path.write_bytes(damaged(self.files["judgments"], self.rng))
            try:
                found = pv.Triplets.read(path)
            except pv.PyroviceError:
                refused += 1
                continue
            check(found.n_objects >= 3, "these are not judgments")
        return "refused" if refused else "ended"

    def _finish(self, run: Callable[..., None], *arguments: object) -> None:
        """Run to the end, without an accident."""
        process = start(self.home, run, *arguments)
        process.join(300)
        check(process.exitcode == 0, f"an undisturbed run ended with {process.exitcode}")


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RuntimeError(otherwise)


def soak(minutes: float, seed: int) -> str:
    """Accidents for so many minutes, one after the other, and a table of them."""
    import warnings

    warnings.simplefilter("ignore")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = Soak(Path(folder), seed)
        names = list(run.accidents())
        while time.monotonic() < began + 60 * minutes:
            # Each kind as often as the others, in an order that differs.
            run.rng.shuffle(names)
            for name in names:
                if time.monotonic() < began + 60 * minutes:
                    run.one(name)
    return _table(run, (time.monotonic() - began) / 60, seed)


def _table(run: Soak, minutes: float, seed: int) -> str:
    lines = [
        f"{minutes:.0f} minutes of accidents at random moments, seed {seed}, one process after the "
        "other. A damaged fit is a hundred damaged copies, damaged judgments are twenty.",
        "",
        HEADER,
        "| --- | --- | --- | --- | --- |",
    ]
    total: Counter[str] = Counter()
    for name in run.accidents():
        count = run.counts.get(name, Counter())
        total += count
        lines.append(_row(name, count))
    lines.append(_row("**all**", total))
    lines += ["", *(f"Lost: {each}" for each in run.lost)] if run.lost else []
    return "\n".join(lines)


def _row(name: str, count: Counter[str]) -> str:
    numbers = [count[what] for what in ("tried", "stopped", "refused", "lost")]
    return f"| {name} | {' | '.join(map(str, numbers))} |"


def run(quick: bool) -> str:
    return soak(1.0 if quick else MINUTES, seed=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(soak(given.minutes, given.seed))
