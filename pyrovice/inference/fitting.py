"""From judgments to a fit, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pyro
import pyro.distributions as dist
import torch
from pyro.infer.autoguide import AutoDelta

from pyrovice.data.connections import tell_if_disconnected
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole_seed
from pyrovice.errors import InterruptedWarning, PyroviceError, tell
from pyrovice.guides import MAP, Guide, MeanField, finished, guide_family, resolve_guide
from pyrovice.inference.checkpoints import Checkpoint, Keeper
from pyrovice.inference.identity import recognise_fit, settings
from pyrovice.inference.run import Run
from pyrovice.inference.settings import STARTS, Training
from pyrovice.inference.starts import Start, from_clear_pair_counts, from_pair_counts
from pyrovice.inference.svi import Task, train
from pyrovice.inference.warm_starts import check_init, first_dimensions_with, warm
from pyrovice.model.choices import Choice, DotProduct
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.model.people import People, check_people_of, judgments_by_person
from pyrovice.model.priors import Features, Prior, SpikeSlab, learned_rows, prior_of
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients
from pyrovice.results import pruning
from pyrovice.results.fit import Fit, in_order_of_importance
from pyrovice.results.posterior import posterior_of
from pyrovice.results.unjudged import unjudged_objects, warn_at_fit
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
        guide; see :mod:`pyrovice.guides`.
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
        settle, or if it was interrupted.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> pv.fit(data, prior=pv.SpikeSlab(spike=0.125, slab=1.0), dimensions=12)
    Fit(80 objects, 7 dimensions kept, 20,000 judgments, converged)
    """
    _check(data, validation, training)
    prior = prior_of(prior, data.names)
    check_people_of(data, people)
    tell_if_disconnected(data)
    guide = guide_family(guide)
    seed = whole_seed(seed)
    digest = data.digest()  # before training: what may fail afterwards would lose the fit
    first = first_dimensions(dimensions, data, learned_rows(prior))
    start = _start(training, guide, prior)
    if init is not None:
        init = check_init(init, data)
        first = first_dimensions_with(init, dimensions, first)
        start = warm(init, data.names, start)
    keeper = None
    if checkpoint is not None:
        given = settings(
            data,
            validation=validation,
            guide=guide,
            dimensions=first,
            training=training,
            choice=choice,
            people=people,
        )
        given |= {"prior": recognise(prior), "seed": str(seed), "device": str(device)}
        keeper = _keeper(checkpoint, given, init)
    with _isolated(seed, device):
        bare = Model(prior, data.n_objects, first, data, choice=choice, people=people)
        model = bare.with_data(Judgments.of(data, device, bare.known_people))
        # A batch size that was asked for counts judgments as they were made.
        rows = model.judgments()
        if training.batch_size == "auto":
            rows = Judgments.aggregated(data, device, model.known_people)
        made = resolve_guide(
            guide, model, lambda: start(rows, first)[0], must_start_there=init is not None
        )
        task = Task(rows, len(data), training, start, validation)
        run = train(model, made, task, progress=progress, keeper=keeper)
        found = finished(run.guide)
        result = in_order_of_importance(
            Fit(
                prior=prior,
                guide_family=guide,
                training=training,
                seed=seed,
                names=data.names,
                model=run.model,
                posterior=posterior_of(found, run.model),
                history=run.table(),
                converged=run.converged,
                n_judgments=len(data),
                data_digest=digest,
                fitted_guide=found,
                first_dimensions=first,
                unjudged=unjudged_objects(data, prior),
                judgments_by_person=judgments_by_person(data, run.model.known_people),
            )
        )
    _warn(result, run, first, data)
    return result


def spose(data: Triplets, *, rate: float, **arguments: Any) -> Fit:
    """SPoSE, the predecessor of VICE: a point estimate under an exponential prior.

    It minimises −log-likelihood + rate · Σ X over non-negative X, and keeps the
    dimensions whose largest weight exceeds 0.1. Which ones it finds depends on where it starts:
    by default from the dimensions that stand out clearly in the judgments, so that it may
    have fewer than from noise, and predict better.

    Parameters
    ----------
    data : Triplets
        The judgments.
    rate : float
        Rate of the exponential prior, the λ of the VICE paper (5.75 for THINGS). The
        SPoSE program minimises mean cross-entropy + (λ′/m) Σ X instead, so that
        rate = λ′ n / m: its usual λ′ = 0.008 with n = 1.31 million judgments of
        m = 1,854 objects is a rate of 5.65.
    **arguments
        As for :func:`fit`, except prior and guide.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> pv.spose(data, rate=5.0, dimensions=12)
    Fit(80 objects, 7 dimensions kept, 20,000 judgments, converged)
    """
    if not (isinstance(rate, int | float) and 0 < rate < float("inf")):
        raise PyroviceError(f"rate={rate!r}; expected a positive number, for example rate=5.")
    return fit(data, prior=dist.Exponential(float(rate)), guide=MAP(), **arguments)


def _keeper(checkpoint: str | Path | Checkpoint, given: dict[str, str], init: Fit | None) -> Keeper:
    given = given | {"init": "none" if init is None else recognise_fit(init)}
    return Keeper(Checkpoint.of(checkpoint), given)


@contextmanager
def _isolated(seed: int, device: str | torch.device) -> Iterator[None]:
    """Random numbers, new tensors and parameters of a fit, apart from those of the program."""
    # Where tensors are made anyway, a device need not be asked for at every call.
    here = torch.device(device) == torch.get_default_device()
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng(),
        nullcontext() if here else torch.device(device),
        # Parameters stay in the guide instead of Pyro's global store, where fits would meet.
        pyro.settings.context(module_local_params=True),
    ):
        torch.manual_seed(seed)
        yield


def _start(training: Training, guide: Callable[[Model], Guide], prior: Prior) -> Start:
    start = STARTS[training.start]
    if start is from_pair_counts and isinstance(prior, Features):
        return partial(from_pair_counts, known=prior.scores)
    # A point would keep the noise that a posterior gives up.
    if start is from_pair_counts and (isinstance(guide, MAP) or guide is AutoDelta):
        return from_clear_pair_counts
    return start


def _check(data: object, validation: object, training: object) -> None:
    check_data(data, "data")
    if validation is not None:
        check_data(validation, "validation")
        check_same_objects(data, validation)
    check_training(training)


def check_same_objects(data: Any, validation: Any) -> None:
    """Refuse validation judgments of other objects."""
    if validation.names != data.names:
        raise PyroviceError(
            "validation and data are of different objects; give both the same names."
        )


def check_data(data: object, what: str) -> None:
    """Refuse what is not a set of judgments."""
    if not isinstance(data, Triplets):
        raise TypeError(
            f"{what} is a {type(data).__name__}; expected Triplets, for example "
            "pv.Triplets.from_array(array) or pv.Triplets.read(path)."
        )


def check_training(training: object) -> None:
    """Refuse what is not a record of settings."""
    if not isinstance(training, Training):
        raise TypeError(f"training={training!r}; expected Training(...) or Training.paper().")


def _warn(fit: Fit, run: Run, start: int, data: Triplets) -> None:
    kept = fit.n_dimensions
    if fit.unjudged:
        warn_at_fit(fit.unjudged, data.n_objects)
    if run.interrupted:
        tell(
            f"Interrupted after {len(run.history)} epochs: this is the fit so far, with {kept} "
            "dimensions. It has not settled.",
            InterruptedWarning,
        )
    elif kept == 0 and fit.importance().max() > 0:
        tell(
            f"No dimension has more than five objects with a credibly positive weight (the "
            f"largest has {fit.importance().max()} of {data.n_objects}), so none is kept. See "
            "fit.embedding(pruned=False), or prune by another rule: fit.prune(min_objects=2)."
        )
    elif kept == 0:
        tell(
            f"These {len(data):,} judgments of {data.n_objects} objects carry no dimensions: none "
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
