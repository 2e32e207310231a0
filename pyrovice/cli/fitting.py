"""Commands that fit: fit, refine, sweep."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pyrovice as pv
from pyrovice.cli.answers import answer
from pyrovice.cli.arguments import (
    BatchSize,
    Choice,
    ChoiceName,
    Device,
    Dimensions,
    Groups,
    Guide,
    GuideName,
    Lapse,
    LearningRate,
    MaxEpochs,
    Paper,
    People,
    Places,
    PriorName,
    Rank,
    choose_choice,
    choose_device,
    choose_dimensions,
    choose_grid,
    choose_guide,
    choose_people,
    choose_prior,
    choose_rate,
    choose_training,
)
from pyrovice.cli.inputs import check_output, check_table, read_judgments
from pyrovice.cli.options import Data, Format, Json, Names, Overwrite, Part, Quiet, SavedFit, Seed
from pyrovice.cli.signals import exit_code
from pyrovice.errors import InterruptedWarning
from pyrovice.storage.atomic import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyrovice.results.scores import Evaluation

# Of so few objects, a dimension of one or two may well be real.
FEW_OBJECTS = 30
Validation = typer.Option("--validation", help="Judgments to score with, like DATA.")


def fit(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write the fit to.")],
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    validation: Annotated[str | None, Validation] = None,
    prior: Annotated[
        PriorName | None, typer.Option("--prior", help="Prior of a weight; spike-slab.")
    ] = None,
    features: Annotated[
        list[Path] | None,
        typer.Option(
            "--features",
            help="Instead of --prior: features of the objects, as .csv, .npy, .parquet or a folder "
            "of .npy files; repeatable, a block each.",
        ),
    ] = None,
    spike: Annotated[float | None, typer.Option(help="Width of the spike; 0.25.")] = None,
    slab: Annotated[float | None, typer.Option(help="Width of the slab; 1.")] = None,
    pi: Annotated[float | None, typer.Option(help="Share of the spike; 0.5.")] = None,
    scale: Annotated[float | None, typer.Option(help="Of --prior horseshoe or ard.")] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            help="Of --prior exponential; with --guide map it is SPoSE, and 'auto' takes the one "
            "that predicts --validation best."
        ),
    ] = None,
    choice: Choice = ChoiceName.dot_product,
    lapse: Lapse = None,
    places: Places = False,
    guide: Guide = GuideName.mean_field,
    rank: Rank = None,
    people: People = False,
    groups: Groups = None,
    dimensions: Dimensions = "auto",
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the state here; the next run goes on from it.")
    ] = None,
    embedding: Annotated[
        Path | None, typer.Option(help="Also write the embedding: .csv, .tsv or .txt.")
    ] = None,
    paper: Paper = False,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    max_epochs: MaxEpochs = None,
    device: Device = "cpu",
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Infer the embedding behind judgments."""
    check_output(output, overwrite)
    if embedding is not None:
        check_output(embedding)
        check_table(embedding, (".csv", ".tsv", ".txt"))
    pace = choose_rate(rate, prior, guide, validation)
    numbers = {"spike": spike, "slab": slab, "pi": pi, "scale": scale}
    infer, kind = _spose_or_fit(pace, prior, features, choose_guide(guide, rank), numbers)
    how = choose_choice(choice, lapse, places)
    training = choose_training(paper, learning_rate, batch_size, max_epochs)
    first, place = choose_dimensions(dimensions), choose_device(device)
    judgments = read_judgments(data, format, names, part)
    valid = None if validation is None else read_judgments(validation, names=judgments.names)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", pv.PyroviceWarning)
        found = infer(
            judgments,
            **kind,
            choice=how,
            people=choose_people(people, groups, judgments),
            dimensions=first,
            validation=valid,
            training=training,
            seed=seed,
            device=place,
            progress=not quiet,
            checkpoint=checkpoint,
        )
    stopped = _was_stopped(said)
    if stopped and (checkpoint is not None or found.history.empty):
        # The output would stand in the way of the same command, which goes on from the checkpoint.
        raise KeyboardInterrupt(_how_to_go_on(checkpoint))
    found.save(output, overwrite=overwrite)
    written = [str(output)]
    if embedding is not None:
        found.write_embedding(embedding)
        written.append(str(embedding))
    for note in said:
        warnings.warn(note.message, stacklevel=1)
    # As `pyrovice evaluate` would say it; the history has fewer draws.
    scores = None if valid is None else found.evaluate(valid)
    record = _record(found, scores) | {
        "notes": [str(note.message) for note in said],
        "written": written,
    }
    answer(_summary(found, scores, written), record, as_json=json, quiet=quiet)
    if stopped:
        raise typer.Exit(exit_code())


def refine(
    fit: SavedFit,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write the refined fit to.")
    ],
    format: Format = "auto",
    part: Part = None,
    draws: Annotated[int, typer.Option(min=4, help="Posterior draws to keep of each chain.")] = 200,
    chains: Annotated[int, typer.Option(min=1, help="Chains; two or more can be compared.")] = 2,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample the posterior around a fit, for honest intervals.

    DATA are the judgments that it was fitted to. Its kept dimensions are refined. Stopped by
    Ctrl-C or SIGTERM, it writes the fit of the draws so far.
    """
    check_output(output, overwrite)
    found = pv.load(fit).prune()
    judgments = read_judgments(data, format, found.names, part)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", pv.PyroviceWarning)
        refined = pv.refine(
            found, judgments, draws=draws, chains=chains, seed=seed, progress=not quiet
        )
    refined.save(output, overwrite=overwrite)
    for note in said:
        warnings.warn(note.message, stacklevel=1)
    made = refined.posterior.sample_stats["lp"].size
    record = {
        "judgments": refined.n_judgments,
        "objects": len(refined.names),
        "dimensions": refined.n_dimensions,
        "dimensions_before": found.n_dimensions,
        "converged": refined.converged,
        "draws": made,
        "seed": seed,
        "notes": [str(note.message) for note in said],
        "written": [str(output)],
    }
    text = (
        f"{refined}\n  {refined.n_dimensions} of {found.n_dimensions} dimensions are credible "
        f"in {made} draws\nWritten: {output}"
    )
    answer(text, record, as_json=json, quiet=quiet)
    if _was_stopped(said):
        raise typer.Exit(exit_code())


def sweep(
    data: Data,
    validation: Annotated[str, Validation],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the median fit of the best prior.")
    ],
    format: Format = "auto",
    names: Names = None,
    part: Part = None,
    spike: Annotated[list[float] | None, typer.Option(help="Widths of spikes; repeatable.")] = None,
    slab: Annotated[list[float] | None, typer.Option(help="Widths of slabs; repeatable.")] = None,
    pi: Annotated[list[float] | None, typer.Option(help="Shares of spikes; repeatable.")] = None,
    paper_grid: Annotated[
        bool, typer.Option("--paper-grid", help="The paper's 180 combinations instead.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Fits with each prior.")] = 3,
    jobs: Annotated[int, typer.Option(help="Fits at once, -1 for one per core.")] = 1,
    store: Annotated[
        Path | None, typer.Option(help="Folder to keep all fits in; the next run only adds to it.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Also write a row per fit: .csv or .tsv.")
    ] = None,
    choice: Choice = ChoiceName.dot_product,
    lapse: Lapse = None,
    places: Places = False,
    guide: Guide = GuideName.mean_field,
    rank: Rank = None,
    people: People = False,
    groups: Groups = None,
    dimensions: Dimensions = "auto",
    paper: Paper = False,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    max_epochs: MaxEpochs = None,
    device: Device = "cpu",
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the prior that predicts best.

    Every combination of --spike, --slab and --pi is fitted with every seed.
    """
    from pyrovice.data.writing import SEPARATOR_OF_ENDING
    from pyrovice.sweeps.result import SCORE

    check_output(output, overwrite)
    if table is not None:
        check_output(table)
        check_table(table)
    if jobs == 0:
        raise typer.BadParameter("--jobs 0: expected a number of processes, or -1 for all.")
    priors = choose_grid(spike, slab, pi, paper_grid)
    family = choose_guide(guide, rank)
    how = choose_choice(choice, lapse, places)
    training = choose_training(paper, learning_rate, batch_size, max_epochs)
    first, place = choose_dimensions(dimensions), choose_device(device)
    judgments = read_judgments(data, format, names, part)
    found = pv.sweep(
        judgments,
        read_judgments(validation, names=judgments.names),
        priors=priors,
        seeds=seeds,
        n_jobs=jobs,
        store=store,
        progress=not quiet,
        choice=how,
        people=choose_people(people, groups, judgments),
        guide=family,
        dimensions=first,
        training=training,
        device=place,
    )
    median = found.median()
    median.save(output, overwrite=overwrite)
    written = [str(output)]
    if table is not None:
        with whole_file(table) as file:
            found.table.to_csv(file, sep=SEPARATOR_OF_ENDING[table.suffix], index=False)
        written.append(str(table))
    record = {
        "best": repr(found.best),
        "simplest": repr(found.simplest),
        "median_seed": median.seed,
        "dimensions": median.n_dimensions,
        "priors": found.summary.reset_index(),
        "written": written,
    }
    columns = [SCORE, "standard_error", "behind", "paired_error", "dimensions", "fits", "failed"]
    text = (
        f"{found.summary[columns].round(4).to_string()}\n\n{found}\n"
        "Errors are over validation judgments: of the score, and of how far it is behind the best."
    )
    answer(f"{text}\nWritten: {', '.join(written)}", record, as_json=json, quiet=quiet)


def _spose_or_fit(
    rate: float | str | None,
    prior: PriorName | None,
    features: list[Path] | None,
    guide: Any,
    numbers: dict[str, float | None],
) -> tuple[Callable[..., pv.Fit], dict[str, Any]]:
    """The function that infers, and its arguments about prior and guide."""
    if isinstance(rate, str):
        # Refuses what is said of other priors beside it.
        choose_prior(prior, features, **numbers, rate=1.0)
        return pv.spose, {"rate": rate}
    return pv.fit, {"prior": choose_prior(prior, features, **numbers, rate=rate), "guide": guide}


def _record(fit: pv.Fit, scores: Evaluation | None) -> dict[str, Any]:
    return {
        "judgments": fit.n_judgments,
        "objects": len(fit.names),
        "dimensions": fit.n_dimensions,
        "converged": fit.converged,
        "epochs": len(fit.history),
        "loss": fit.history.loss.iloc[-1],
        "validation_cross_entropy": None if scores is None else scores.cross_entropy,
        "validation_accuracy": None if scores is None else scores.accuracy,
        "prior": repr(fit.prior),
        "choice": repr(fit.choice),
        "learned": _learned(fit),
        "guide": repr(fit.guide_family),
        "people": None if fit.model.people is None else repr(fit.model.people),
        "seed": fit.seed,
    }


def _learned(fit: pv.Fit) -> dict[str, list[float]]:
    """What was learned about the choice: mean and interval."""
    names: dict[str, Any] = getattr(fit.choice, "learned", dict)()
    table = fit.hyperparameters()[["mean", "5 %", "95 %"]]
    return {
        name if entry == "all" else f"{name} {entry}": row.tolist()
        for (name, entry), row in table.iterrows()
        if name in names
    }


def _was_stopped(said: list[warnings.WarningMessage]) -> bool:
    return any(issubclass(note.category, InterruptedWarning) for note in said)


def _how_to_go_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "Nothing is written: no epoch was over."
    return f"{checkpoint} has the state so far; the same command goes on from it."


def _summary(fit: pv.Fit, scores: Evaluation | None, written: list[str]) -> str:
    from pyrovice.results.dimension_names import listed_objects

    loss = fit.history.loss.iloc[-1]
    lines = [str(fit), f"  -ELBO/n {loss:.4f} nats after {len(fit.history)} epochs"]
    if scores is not None:
        lines.append(
            f"  validation: accuracy {scores.accuracy:.3f}, cross-entropy "
            f"{scores.cross_entropy:.4f} nats"
        )
    for name, (mean, low, high) in _learned(fit).items():
        lines.append(f"  {name} {mean:.3f}, 90 % interval {low:.3f} to {high:.3f}")
    for dimension, top in listed_objects(fit, 5).items():
        lines.append(f"  {dimension:>3}  {top}")
    return "\n".join([*lines, *small_dimensions(fit), f"Written: {', '.join(written)}"])


def small_dimensions(fit: pv.Fit) -> list[str]:
    """What the rule of the paper leaves out of few objects, where each dimension has but few."""
    importance = fit.importance()
    small = importance.drop(fit.embedding().columns)
    if importance.dtype.kind not in "iu" or len(fit.names) > FEW_OBJECTS or not (small > 1).any():
        return []
    counts = ", ".join(map(str, small[small > 1]))
    return [
        f"  not kept: dimensions with {counts} of {len(fit.names)} objects; in Python, "
        "fit.prune(min_objects=1) keeps them"
    ]


COMMANDS = {
    fit: "pyrovice fit train.csv --prior spike-slab --spike 0.25 --slab 1 -o my.fit",
    refine: "pyrovice refine my.fit train.csv -o refined.fit",
    sweep: "pyrovice sweep train.csv --validation valid.csv --pi 0.5 --pi 0.8 -o best.fit",
}
