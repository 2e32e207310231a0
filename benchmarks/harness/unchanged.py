"""Whether a change of the code left every number as it was.

python -m benchmarks.harness.unchanged record FOLDER   write what this version gives
python -m benchmarks.harness.unchanged compare A B     what two versions gave, bit by bit
python -m benchmarks.harness.unchanged reload FOLDER   read what another version wrote

Fits of several sizes, priors, guides, kinds of data and seeds, and what is made of them. Only
public names are used, so that the same script runs before and after. Numbers are the same to the
bit on the same machine only, and with one thread.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.infer.autoguide import AutoDelta, AutoLowRankMultivariateNormal, AutoNormal
from torch.distributions import constraints

import pyrovice as pv

SHORT = pv.Training(schedule=pv.Anneal(steps=250), stop=pv.MaxEpochs(250))
PAPER = pv.Training(
    learning_rate=0.001, betas=(0.9, 0.999), batch_size=128, max_epochs=3, schedule=None,
    stop=pv.Stability(window=500), start="noise", drop_collapsed=False,
)  # fmt: skip
# Not the same in two runs of one version.
CLOCK = "seconds"


def strengths(n_objects: int, dimensions: int) -> torch.Tensor:
    """A user's prior."""
    with pyro.plate("dimension", dimensions, dim=-1):
        strength = pyro.sample("strength", dist.Gamma(3.0, 4.0))
        with pyro.plate("object", n_objects, dim=-2):
            return pyro.sample("X", dist.Normal(0.0, strength))


def normals(model: pv.Model) -> Callable[..., torch.Tensor]:
    """A user's guide."""

    def guide(*args: Any, **kwargs: Any) -> torch.Tensor:
        m, d = model.n_objects, model.dimensions
        loc = pyro.param("loc", lambda: 0.5 * torch.rand(m, d))
        scale = pyro.param("scale", 0.1 * torch.ones(d), constraint=constraints.positive)
        with pyro.plate("object", m, dim=-2), pyro.plate("dimension", d, dim=-1):
            return pyro.sample("X", dist.Normal(loc, scale))

    return guide


def low_rank(model: pv.Model) -> AutoLowRankMultivariateNormal:
    """An autoguide with an argument."""
    return AutoLowRankMultivariateNormal(model, rank=3)


def data_sets() -> dict[str, pv.Triplets]:
    """Plain, anchored, repeated with participants, and larger judgments."""
    example = pv.load_example()
    weights = example.embedding
    anchored = pv.simulate(weights, 6000, seed=3, anchored=0.5)
    few = pv.simulate(weights.iloc[:9, :3], 4000, seed=4)
    people = np.random.default_rng(0).integers(0, 12, len(few)).astype(str)
    large = np.random.default_rng(1).gamma(0.3, 0.8, (400, 15))
    return {
        "example": example.triplets,
        "anchored": anchored,
        "repeated": pv.Triplets(few.objects, few.odd, names=few.names, participants=people),
        "large": pv.simulate(large, 240_000, seed=5),
    }


def cases() -> dict[str, tuple[str, dict[str, Any]]]:
    """Which data are fitted, and with which arguments."""
    few = {"dimensions": 12, "training": SHORT}
    found: dict[str, tuple[str, dict[str, Any]]] = {
        "default": ("example", {}),
        "seed 1": ("example", {"seed": 1, "dimensions": 20}),
        "large": ("large", {"dimensions": 40, "prior": pv.SpikeSlab(0.125, 0.5, 0.6)} | few),
        "anchored": ("anchored", few),
        "repeated": ("repeated", few | {"dimensions": 4}),
        "paper": ("example", {"dimensions": 20, "training": PAPER}),
        "batches": ("example", few | {"training": pv.Training(batch_size=5000, max_epochs=60)}),
        "particles": ("example", few | {"training": pv.Training(particles=3, max_epochs=150)}),
    }
    priors: dict[str, Any] = {
        "laplace": pv.SpikeSlab(family="laplace"),
        "LearnedSpikeSlab": pv.LearnedSpikeSlab(per_dimension=True),
        "Horseshoe": pv.Horseshoe(),
        "ARD": pv.ARD(),
        "StudentT": dist.StudentT(4.0, 0.0, 0.5),
        "Gamma": dist.Gamma(1.0, 3.0),
        "function": strengths,
    }
    guides: dict[str, Any] = {
        "LowRank": pv.LowRank(3),
        "MAP": pv.MAP(),
        "AutoNormal": AutoNormal,
        "AutoDelta": AutoDelta,
        "AutoLowRank": low_rank,
        "function": normals,
    }
    found |= {f"prior {name}": ("example", few | {"prior": p}) for name, p in priors.items()}
    return found | {f"guide {name}": ("example", few | {"guide": g}) for name, g in guides.items()}


def numbers_of(fit: pv.Fit, data: pv.Triplets) -> Iterator[tuple[str, np.ndarray]]:
    """Everything that a fit says, as arrays by name."""
    for statistic in ("loc", "mean", "sd"):
        yield f"embedding {statistic}", fit.embedding(statistic, pruned=False).to_numpy()
    yield "importance", fit.importance().to_numpy()
    yield "quantile", fit.quantile(0.1, pruned=False).to_numpy()
    yield "draws", fit.draws(3, seed=1)
    yield "converged, kept", np.array([fit.converged, fit.n_dimensions])
    for column in fit.history.drop(columns=CLOCK):
        yield f"history {column}", fit.history[column].to_numpy()
    some = data.subset(min(len(data), 3000), seed=0)
    yield "predict", fit.predict(some, draws=7)
    scored = fit.evaluate(some)
    yield "evaluate", np.array([scored.accuracy, scored.cross_entropy, scored.ceiling or 0.0])
    yield "breakdown", fit.breakdown(some).to_numpy()
    yield "calibration", fit.calibration(some).table.select_dtypes("number").to_numpy()
    yield "similarity", fit.similarity(draws=3, thirds=30).to_numpy()
    yield "similarity sd", fit.similarity("sd", draws=3, thirds=30).to_numpy()
    if fit.n_dimensions:
        yield "predict pruned", fit.prune().predict(some, draws=7)
        yield "checks", pv.checks.report(fit, some, draws=330).table.to_numpy(dtype=float)
        groups = fit.to_arviz(some, draws=20)
        yield "arviz X", groups.posterior["X"].to_numpy()
        yield "arviz log-likelihood", groups.log_likelihood["odd"].to_numpy()
        yield "arviz predicted", groups.posterior_predictive["odd"].to_numpy()
        yield "arviz prior", groups.prior_predictive["odd"].to_numpy()


def other_numbers(fit: pv.Fit, data: dict[str, pv.Triplets]) -> Iterator[tuple[str, np.ndarray]]:
    """What is computed with choice probabilities elsewhere."""
    example, anchored = data["example"], data["anchored"]
    weights = pv.load_example().embedding
    simulated = pv.simulate(weights, 500, seed=9, anchored=0.3)
    yield "simulate", np.column_stack([simulated.objects, simulated.odd])
    yield "bound", pv.bounds.generalization(weights, anchored).table.to_numpy()
    yield "prior predictive", pv.priors.predictive(pv.Horseshoe(), example, draws=9).largest
    yield "compare", pv.compare({"a": fit, "b": fit}, example, draws=50).to_numpy(dtype=float)
    found = pv.diagnose(fit, example, refits=1).table.found
    # Its importance weights are drawn anew each time.
    texts = found[found.index != "Is the guide the posterior?"]
    yield "diagnose", np.array([int(c) for text in texts for c in text if c.isdigit()])


def record(folder: Path) -> None:
    """Write everything that this version gives."""
    folder.mkdir(parents=True)
    data = data_sets()
    made: dict[str, pv.Fit] = {}
    for name, (which, arguments) in cases().items():
        made[name] = pv.fit(data[which], progress=False, **arguments)
        write(folder, name, made[name], data[which])
        print(f"{name}: {made[name]}", flush=True)
    nine = data["repeated"]
    sampled = pv.sample(nine, dimensions=2, draws=60, warmup=60, chains=2)
    write(folder, "sample", sampled, nine)
    refined = pv.refine(made["prior LearnedSpikeSlab"].prune(), data["example"], draws=12)
    write(folder, "refine", refined, data["example"])
    np.savez(folder / "others.npz", **dict(other_numbers(made["default"], data)))
    few = {"dimensions": 8, "training": SHORT, "seed": 2}
    pv.fit(data["anchored"], progress=False, checkpoint=folder / "done.checkpoint", **few)
    half = pv.Training(schedule=pv.Anneal(steps=500))
    interrupted(data["anchored"], folder / "half.checkpoint", half)
    whole = pv.fit(data["anchored"], dimensions=8, training=half, progress=False)
    write(folder, "whole", whole, data["anchored"])
    train, valid = data["example"].split(0.5, 0.1, seed=0)
    found = sweep(train, valid, folder)
    numbers = found.table.select_dtypes("number").drop(columns=CLOCK)
    np.save(folder / "sweep.npy", numbers.to_numpy(dtype=float))


def sweep(train: pv.Triplets, valid: pv.Triplets, folder: Path) -> pv.Sweep:
    """Two priors and two seeds, kept in a store."""
    return pv.sweep(
        train, valid, priors=[pv.SpikeSlab(), dist.Laplace(0.0, 0.3)], seeds=2, dimensions=8,
        training=SHORT, store=folder / "store", progress=False,
    )  # fmt: skip


def interrupted(data: pv.Triplets, path: Path, training: pv.Training) -> None:
    """A checkpoint of a fit that was stopped after a hundred steps."""

    original = torch.optim.Adam.step
    steps = 0

    def step(self: torch.optim.Adam, *args: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > 100:
            raise KeyboardInterrupt
        return original(self, *args)

    torch.optim.Adam.step = step  # type: ignore[method-assign, assignment]
    try:
        pv.fit(data, dimensions=8, training=training, progress=False,
               checkpoint=pv.Checkpoint(path, seconds=0))  # fmt: skip
    finally:
        torch.optim.Adam.step = original  # type: ignore[method-assign]


def write(folder: Path, name: str, fit: pv.Fit, data: pv.Triplets) -> None:
    """The numbers of one fit and its file."""
    np.savez(folder / f"{name}.npz", **dict(numbers_of(fit, data)))
    fit.save(folder / f"{name}.fit")


def compare(before: Path, after: Path) -> int:
    """Say what differs; the number of arrays that do."""
    count = different = 0
    for path in sorted(before.glob("*.np[yz]")):
        there = after / path.name
        if path.suffix == ".npy":
            pairs = {"": (np.load(path), np.load(there))}
        else:
            with np.load(path) as old, np.load(there) as new:
                pairs = {name: (old[name], new[name]) for name in old.files}
        for name, (old_values, new_values) in pairs.items():
            count += 1
            if not np.array_equal(old_values, new_values, equal_nan=True):
                different += 1
                print(f"{path.stem}: {name} differs {apart(old_values, new_values)}")
    print(f"{count} arrays compared, {different} differ")
    return different


def apart(old: np.ndarray, new: np.ndarray) -> str:
    """By how much two arrays differ."""
    if old.shape != new.shape:
        return f"in shape, {old.shape} and {new.shape}"
    gap = np.nanmax(np.abs(old.astype(float) - new.astype(float)))
    return f"by up to {gap:.3g}"


def reload(folder: Path) -> int:
    """Read every file of another version; the number of arrays that are not as they were."""
    data = data_sets()
    which = {name: case[0] for name, case in cases().items()}
    which |= {"sample": "repeated", "refine": "example", "whole": "anchored"}
    wrong = 0
    for name, of in which.items():
        fit = pv.load(folder / f"{name}.fit")
        some = data[of].subset(min(len(data[of]), 3000), seed=0)
        with np.load(folder / f"{name}.npz") as was:
            same = np.array_equal(was["predict"], fit.predict(some, draws=7))
            same &= np.array_equal(was["embedding sd"], fit.embedding("sd", pruned=False))
        wrong += not same
        print(f"{name}.fit: {'the same predictions' if same else 'OTHER PREDICTIONS'}")
    few = {"dimensions": 8, "training": SHORT, "seed": 2}
    done = pv.fit(data["anchored"], progress=False, checkpoint=folder / "done.checkpoint", **few)
    print(f"done.checkpoint: {done}")
    half = pv.Training(schedule=pv.Anneal(steps=500))
    path = folder / "half.checkpoint"
    content = path.read_bytes()
    resumed = pv.fit(data["anchored"], dimensions=8, training=half, progress=False, checkpoint=path)
    path.write_bytes(content)
    with np.load(folder / "whole.npz") as was:
        same = np.array_equal(was["history loss"], resumed.history.loss)
    wrong += not same
    print(f"half.checkpoint: {'ends the same' if same else 'ENDS OTHERWISE'}")
    files = sorted((folder / "store").rglob("*.fit"))
    train, valid = data["example"].split(0.5, 0.1, seed=0)
    sweep(train, valid, folder)
    same = sorted((folder / "store").rglob("*.fit")) == files
    wrong += not same
    print(f"store: {'all fits were found in it' if same else 'FITTED AGAIN'}")
    return wrong


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    command, *paths = sys.argv[1:]
    commands: dict[str, Callable[..., Any]] = {
        "record": record, "compare": compare, "reload": reload,
    }  # fmt: skip
    sys.exit(commands[command](*map(Path, paths)))
