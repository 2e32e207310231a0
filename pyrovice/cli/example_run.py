"""The built-in example from judgments to figures."""

from __future__ import annotations

from pathlib import Path

import pyrovice as pv
from pyrovice.model.example import Example
from pyrovice.model.simulation import choice_probabilities
from pyrovice.results.scores import Evaluation, evaluate


def fit_the_example(output: Path, seed: int) -> None:
    """Fit the example, print a summary, write figures and the fit into `output`."""
    example = pv.load_example()
    train, test = example.triplets.split(0.9, 0.1, seed=0)
    print(example.description)
    print(f"Fitting {len(train):,} of them; {len(test):,} on other triplets are held out.\n")
    fit = pv.fit(train, seed=seed)
    last = fit.history.iloc[-1]
    print(
        f"{'Converged' if fit.converged else 'Did not converge'} after {len(fit.history)} epochs "
        f"in {last.seconds:.0f} s, -ELBO/n {last.loss:.3f} nats.\n"
    )
    print(_dimensions(fit, example))
    print(_scores(fit.evaluate(test), _truth(example, test)))
    output.mkdir(parents=True, exist_ok=True)
    figures = {
        "dimensions.png": pv.plot.dimensions(fit),
        "convergence.png": pv.plot.convergence(fit),
    }
    written = []
    for name, figure in figures.items():
        written.append(_free_name(output / name))
        figure.savefig(written[-1], dpi=150)
    written.append(_free_name(output / "example.fit"))
    fit.save(written[-1])
    print("\nWritten: " + ", ".join(map(str, written)))


def _dimensions(fit: pv.Fit, example: Example) -> str:
    """The kept dimensions by their top objects, beside the true one each comes closest to."""
    embedding = fit.embedding()
    importance = fit.importance()
    lines = [
        f"{fit.n_dimensions} dimensions kept (true: {example.embedding.shape[1]})",
        f"{'':>3} {'objects':>7}  {'closest true one':<22} top objects",
    ]
    for dim, top in fit.top_objects(5).items():
        r = example.embedding.corrwith(embedding[dim])
        closest = f"{r.idxmax()} (r = {r.max():.2f})"
        lines.append(f"{dim:>3} {importance[dim]:>7}  {closest:<22} {', '.join(top)}")
    return "\n".join(lines) + "\n"


def _truth(example: Example, test: pv.Triplets) -> Evaluation:
    """How well the generating embedding itself predicts its own simulated choices."""
    return evaluate(choice_probabilities(example.embedding.to_numpy(), test.objects), test)


def _scores(fit: Evaluation, truth: Evaluation) -> str:
    return "\n".join(
        [
            f"On the held-out judgments  {'chance':>8} {'this fit':>9} {'the truth':>10}",
            f"  accuracy                 {fit.chance_accuracy:>8.3f} {fit.accuracy:>9.3f} "
            f"{truth.accuracy:>10.3f}",
            f"  cross-entropy (nats)     {1.0986:>8.3f} {fit.cross_entropy:>9.3f} "
            f"{truth.cross_entropy:>10.3f}",
        ]
    )


def _free_name(path: Path) -> Path:
    """The path itself, or with a number if that exists: nothing is replaced."""
    free, number = path, 2
    while free.exists():
        free = path.with_stem(f"{path.stem}-{number}")
        number += 1
    return free
