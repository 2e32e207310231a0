"""From judgments to a fit, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from pyrovice.data.connections import tell_if_disconnected
from pyrovice.data.triplets import Triplets
from pyrovice.errors import InterruptedWarning, tell
from pyrovice.guides import Guide, MeanField, contains_mean_field
from pyrovice.inference.checkpoints import Checkpoint, Keeper
from pyrovice.inference.identity import recognise_fit, settings
from pyrovice.inference.plan import Plan
from pyrovice.inference.run import Run
from pyrovice.inference.settings import Training
from pyrovice.inference.svi import train
from pyrovice.model.choices import Choice, DotProduct
from pyrovice.model.model import Model
from pyrovice.model.people import People
from pyrovice.model.priors import Prior, SpikeSlab
from pyrovice.results import pruning
from pyrovice.results.fit import Fit
from pyrovice.results.large_weights import large_weights, scale_of_weights_matters
from pyrovice.results.unjudged import warn_at_fit
from pyrovice.storage.identity import recognise


def fit(
    data: Triplets,
    *,
    prior: Prior = SpikeSlab(),  # noqa: B008 (frozen)
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
    people: People | None = None,
    guide: Callable[[Model], Guide] = MeanField(),  # noqa: B008 (frozen)
    dimensions: int | str = "auto",
    validation: Triplets | None = None,
    training: Training = Training(),  # noqa: B008 (frozen)
    seed: int = 0,
    device: str | torch.device = "cpu",
    threads: int | str = "auto",
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
    init: Fit | None = None,
) -> Fit:
    """Infer the embedding behind odd-one-out judgments.

    Parameters
    ----------
    data : Triplets
        The judgments.
    prior : Prior
        ``SpikeSlab(...)`` or another of :mod:`pyrovice.priors`, any univariate
        ``pyro.distributions`` object, or a callable.
    choice : Choice
        How people choose given what they see: ``pv.choices.DotProduct()``, the paper's, or a
        function ``choice(X, judgments)``; see :mod:`pyrovice.choices`.
    people : People, optional
        How those who answered differ, ``pv.People()``: in their weights and temperatures; see
        :class:`pyrovice.People`. By default they are of one mind.
    guide : callable
        ``MeanField()``, ``LowRank(rank)``, ``MAP()``, a class of
        ``pyro.infer.autoguide``, or any callable that takes the Pyro model and returns a
        guide; see :mod:`pyrovice.guides`. ``LowRank`` and Pyro's multivariate Normals start from
        the dimensions of a ``MeanField()`` that is fitted first, unless `init` is given.
    dimensions : int or "auto"
        How many dimensions to start from; those that the data do not carry are
        dropped. ``"auto"`` takes as many as the size of the data can justify, at
        most 100.
    validation : Triplets, optional
        Judgments to score while training, shown in ``fit.history``.
    training : Training
        How to optimise; ``Training.paper()`` for the paper's recipe.
    seed : int
        The same seed gives the same fit.
    device : str or torch.device
        Where to compute.
    threads : int or "auto"
        Threads of the processor. ``"auto"`` takes one for a small fit, which threads would only
        slow down, and as many as torch is set to for a large one. Torch's own setting is the
        same afterwards.
    progress : bool
        Whether to show a progress bar (in notebooks and terminals only).
    checkpoint : path or Checkpoint, optional
        A file to save the state of training to, every 30 seconds or as
        :class:`Checkpoint` says. If it is there already, training goes on from it and
        ends as it would have without the interruption, to the bit. A checkpoint of
        other data or settings is refused, with the difference named.
    init : Fit, optional
        An earlier fit whose dimensions to start from, for more judgments or for new
        objects. Objects are matched by name; new ones, and further dimensions, start as
        usual. Fewer steps suffice then, ``training=Training(schedule=Anneal(steps=300))``.

    Returns
    -------
    Fit

    Warns
    -----
    PyroviceWarning
        If the objects fall into groups that no judgment connects, if the data carry no
        dimensions, if all dimensions were kept (there may be more), if training did not
        settle, if it was interrupted, or if what the choice learns is off because weights are
        larger than the prior expects.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> pv.fit(data, prior=pv.SpikeSlab(spike=0.125, slab=1.0), dimensions=12)
    Fit(80 objects, 7 dimensions kept, 20,000 judgments, converged)
    """
    plan = Plan.of(
        data,
        prior=prior,
        choice=choice,
        people=people,
        guide=guide,
        dimensions=dimensions,
        validation=validation,
        training=training,
        seed=seed,
        device=device,
        threads=threads,
        init=init,
    )
    tell_if_disconnected(data)
    keeper = None if checkpoint is None else _keeper(checkpoint, plan)
    return train_plan(plan, progress=progress, keeper=keeper)


def train_plan(plan: Plan, *, progress: bool = False, keeper: Keeper | None = None) -> Fit:
    """Carry out one plan."""
    if contains_mean_field(plan.guide) and plan.init is None:
        found, run = _carried_out(replace(plan, guide=MeanField()), progress=progress)
        if run.interrupted:
            warn_about(found, run)
            tell(f"It is that of MeanField(), from which {plan.guide!r} was to start.")
            return found
        # Noisier to train, the richer guide might end in fewer dimensions than the plain one.
        plan = replace(plan, begun=found)
    result, run = _carried_out(plan, progress=progress, keeper=keeper)
    warn_about(result, run)
    if not run.interrupted:
        _warn_about_choice(result)
    return result


def _carried_out(plan: Plan, *, progress: bool, keeper: Keeper | None = None) -> tuple[Fit, Run]:
    with plan.isolated():
        run, task = plan.begin()
        train(run, task, progress=progress, keeper=keeper)
        return plan.finish(run), run


def _keeper(checkpoint: str | Path | Checkpoint, plan: Plan) -> Keeper:
    given = settings(
        plan.data,
        validation=plan.validation,
        guide=plan.guide,
        dimensions=plan.first_dimensions,
        training=plan.training,
        choice=plan.choice,
        people=plan.people,
    )
    given |= {
        "prior": recognise(plan.prior),
        "seed": str(plan.seed),
        "device": str(plan.device),
        "init": "none" if plan.init is None else recognise_fit(plan.init),
    }
    return Keeper(Checkpoint.of(checkpoint), given)


def warn_about(fit: Fit, run: Run) -> None:
    """Say what a user should know of a new fit before trusting it."""
    kept, start, m = fit.n_dimensions, fit.first_dimensions, len(fit.names)
    if fit.unjudged:
        warn_at_fit(fit.unjudged, m)
    if run.interrupted:
        tell(
            f"Interrupted after {len(run.history)} epochs: this is the fit so far, with {kept} "
            "dimensions. It has not settled.",
            InterruptedWarning,
        )
    elif kept == 0 and fit.importance().max() > 0:
        tell(
            f"No dimension has more than five objects with a credibly positive weight (the "
            f"largest has {fit.importance().max()} of {m}), so none is kept. See "
            "fit.embedding(pruned=False), or prune by another rule: fit.prune(min_objects=2)."
        )
    elif kept == 0:
        tell(
            f"These {fit.n_judgments:,} judgments of {m} objects carry no dimensions: none "
            "has more than five objects with a credibly positive weight, so predictions are "
            "near chance. Collect more judgments per object, use fewer objects, or try a "
            "weaker prior such as SpikeSlab(spike=0.25, slab=1.0, pi=0.3)."
        )
    elif not (run.converged or fit.training.stop.reached(run.history)):
        tell(
            f"Training did not settle within {len(run.history)} epochs ({kept} dimensions, loss "
            f"{run.history[-1].loss:.4f}). Raise Training(max_epochs=...) before trusting the "
            "number of dimensions."
        )
    elif kept == start and not fit.posterior.can_be_zero:
        tell(
            f"All {start} dimensions were kept, because no largest weight is below "
            f"{pruning.THRESHOLD}; under this prior or guide even an idle dimension may have "
            "larger ones. Look at fit.importance() and choose, fit.prune(threshold=...), or fit "
            f"again with dimensions={2 * start} to see whether there are more."
        )
    elif kept == start:
        tell(
            f"All {start} dimensions were kept, so the data may carry more: fit again with "
            f"dimensions={2 * start}."
        )


def _warn_about_choice(fit: Fit) -> None:
    """Say where a learned lapse rate is too low because the prior pulls weights down."""
    large = large_weights(fit) if scale_of_weights_matters(fit) else None
    if large is not None and large.beyond:
        tell(
            f"{large.found} The prior pulls them down, so that a learned lapse rate comes out too "
            f"low, and a temperature or position off. {large.advice}"
        )
