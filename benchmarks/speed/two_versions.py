"""Whether this version is as fast as another one: both in one run, taking turns.

python -m benchmarks.speed.two_versions FOLDER     FOLDER: a checkout of the other version

The two give the same numbers to the bit (`benchmarks.harness.unchanged`), so that what is left to
compare is time: of single steps, as in `overhead`, and of whole fits of a few hundred steps, as in
`time_to_quality`. Each version runs in a process of its own, and they take turns of about a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[2]
BATCHES = (128, 1_024, 16_384, 146_000)
ROUNDS = 15
FITS = 3
# Runs with the pyrovice of whatever folder it is started in; both versions know these names.
WORKER = """
import json, sys, time
import pyro, torch, warnings
import pyrovice as pv
try:
    from pyrovice.guides.elbo import TwoTermELBO
    from pyrovice.model.judgments import Judgments
except ImportError:
    from pyrovice.elbo import TwoTermELBO
    from pyrovice.likelihood import Judgments
import numpy as np

warnings.simplefilter("ignore")
prior = pv.SpikeSlab(0.125, 0.5, 0.6)
rng = np.random.default_rng(0)
truth = rng.gamma(0.3, 0.4, (1854, 42))
data = pv.simulate(truth, 1_000_000, seed=0)
judgments = Judgments.of(data)
model = pv.Model(prior, 1854, 100, judgments)
with pyro.settings.context(module_local_params=True):
    guide = pv.MeanField()(model)
elbo = TwoTermELBO(max_plate_nesting=2)
adam = torch.optim.Adam(guide.parameters(), lr=1e-4, fused=True)

def steps(batch, times):
    rows = torch.randint(0, len(judgments), (batch,))
    began = time.perf_counter()
    with pyro.settings.context(module_local_params=True), pyro.validation_enabled(False):
        for _ in range(times):
            adam.zero_grad()
            likelihood, complexity = elbo.terms(model, guide, judgments, rows)
            ((complexity - likelihood) / len(judgments)).backward()
            adam.step()
    return (time.perf_counter() - began) / times

def fit(size, epochs):
    part = data if size == "large" else pv.load_example().triplets
    training = pv.Training(schedule=pv.Anneal(steps=epochs), stop=pv.MaxEpochs(epochs))
    found = pv.fit(part, prior=prior, dimensions=100 if size == "large" else 40,
                   training=training, progress=False)
    return float(found.history.seconds.iloc[-1])

for line in sys.stdin:
    name, *arguments = json.loads(line)
    print(json.dumps({"steps": steps, "fit": fit}[name](*arguments)), flush=True)
"""


class Version:
    """A process that works with the pyrovice of one folder."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *command: object) -> float:
        """The seconds that a command took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main(folder: Path) -> None:
    """Print a table of ratios, this version over the other."""
    ours, theirs = Version(HERE), Version(folder)
    jobs = {
        f"step, batch of {b:,}": (("steps", b, 20 if b < 10_000 else 4), ROUNDS) for b in BATCHES
    }
    jobs["fit, 80 objects, 600 steps"] = (("fit", "small", 600), FITS)
    jobs["fit, 1,854 objects, 12 epochs"] = (("fit", "large", 12), FITS)
    print("| | other (ms) | this (ms) | ratio | of single turns |")
    print("| --- | --- | --- | --- | --- |")
    for name, (command, rounds) in jobs.items():
        turns = []
        for turn in range(rounds + 1):
            # Who goes first alternates, so that neither always follows the other.
            order = (ours, theirs) if turn % 2 else (theirs, ours)
            times = {id(each): each.ask(*command) for each in order}
            if turn:
                turns.append((times[id(theirs)], times[id(ours)]))
        before, after = np.array(turns).T
        ratio = after / before
        print(
            f"| {name} | {np.median(before) * 1e3:.1f} | {np.median(after) * 1e3:.1f} | "
            f"{np.median(ratio):.3f} | {ratio.min():.2f} to {ratio.max():.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
