"""The posterior around a fit, sampled with all judgments: what a guide of simple shape leaves out.

A mean-field guide holds every weight for independent of the others. Draws from the model itself do
not, so that their intervals are wider, and predictions are better where much is uncertain. They
take about as long as the fit, because they start from it and use the scales of its guide.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyro
import torch
from numpy.typing import NDArray
from pyro.infer.mcmc.util import initialize_model
from torch.distributions import biject_to

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import DataError, GuideError, InterruptedWarning, PyroviceError, tell
from pyrovice.guides import Guide
from pyrovice.guides.drawing import draw_sites
from pyrovice.inference.chains import (
    FEWEST_DRAWS,
    ONE_CHAIN,
    Chain,
    finished_chain,
    fit_of_chains,
    judged,
    of_one_length,
    side_by_side,
)
from pyrovice.inference.langevin import STEP, Potential, Slope, Values, langevin
from pyrovice.inference.plan import check_data
from pyrovice.inference.watched_chains import GoOn, Report, Watch, watched
from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients, tensors_on
from pyrovice.results.fit import Fit
from pyrovice.results.mixing import share_mixed
from pyrovice.storage.registry import saved

# Steps from one draw to the next, and draws that are forgotten.
STEPS_APART = 10
FORGOTTEN = 30
# Draws of the guide that its scales are taken from.
SCALE_DRAWS = 64
NOTHING_TO_KEEP = f"There is nothing to keep: no chain had {FEWEST_DRAWS} draws yet."
# The share of weights that chains should agree on: the weakest may take many times as long.
AGREED = 0.95
# Temperatures that say that the step is too long, and how often it is halved then.
COLD, HOT = 0.5, 1.5
HALVINGS = 5


@saved
@dataclass(frozen=True)
class Langevin:
    """How a fit was sampled; stands where other fits have their guide."""

    draws: int
    chains: int

    def __call__(self, model: Model) -> Guide:
        raise PyroviceError("Langevin is not a guide; call pyrovice.refine(fit, data, ...).")


def refine(
    fit: Fit,
    data: Triplets,
    *,
    draws: int = 200,
    chains: int = 2,
    seed: int = 0,
    progress: bool = True,
) -> Fit:
    """Sample the posterior around a fit, at any size.

    Chains start from draws of the fit's guide and go on by Langevin dynamics with the
    gradients of all judgments. They run in processes of their own, as many at once as
    there are cores, and compute on the device of ``fit.guide``, which is that of the fit,
    or the CPU if it was loaded from a file. Every dimension of `fit` stays, in the
    neighbourhood where the fit has it: refine ``fit.prune()`` to leave out those that do
    not matter.

    Parameters
    ----------
    fit : Fit
        A fit with a guide that has a spread, such as `MeanField`.
    data : Triplets
        The judgments that it was fitted to.
    draws : int
        Draws kept of each chain, ten steps apart.
    chains : int
        How many chains.
    seed : int
        The same seed gives the same draws.
    progress : bool
        Whether to show a progress bar (in notebooks and terminals only) over the draws of
        all chains, with those that are forgotten at their beginning.

    Returns
    -------
    Fit
        Its posterior is the draws; predict with all of them, ``draws=draws * chains``.
        `fit.mixing()` has R-hat and effective sample sizes. `fit.history` runs over
        draws, its `loss` is −log p(X, odd) per judgment, and all its numbers are means
        over chains.

    Warns
    -----
    PyroviceWarning
        If the chains disagree.
    InterruptedWarning
        After Ctrl-C. The fit is then of the draws so far: chains stop after their current
        draw and are cut to one length. A second Ctrl-C ends them at once.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, if there are too few draws to keep.

    Examples
    --------
    >>> import pyrovice as pv
    >>> train, test = pv.load_example().triplets.split(0.1, 0.9, seed=0)
    >>> fit = pv.fit(train, dimensions=12).prune()
    >>> refined = pv.refine(fit, train, draws=100)
    >>> before, after = fit.evaluate(test), refined.evaluate(test, draws=200)
    >>> after.cross_entropy < before.cross_entropy
    True
    """
    _check(fit, data)
    seed = whole_seed(seed)
    method = Langevin(whole(draws, "draws", FEWEST_DRAWS), whole(chains, "chains", least=1))
    work = _work(fit, data, method, seed)
    title = f"{method.chains} chain{'s' * (method.chains != 1)} around the fit"
    with watched(method.chains, FORGOTTEN + method.draws, title, progress=progress) as watch:
        ran = _carried_out(work, watch)
    if watch.stopped:
        return _so_far(ran, fit, data, method, seed)
    refined = _fit_of(ran, fit, data, method, seed)
    advice = "Refine with more draws=, or with chains=2 if there was one."
    return judged(refined, _doubt(refined, method), advice)


def _work(fit: Fit, data: Triplets, method: Langevin, seed: int) -> list[tuple]:
    """What each chain is to do: the arguments of :func:`run_chain`, except for its report."""
    model = fit.model.with_data(data)
    drawn = draw_sites(fit.guide, model, method.chains, seed)
    starts = {name: drawn[name].cpu() for name in model.structure.latent}
    scale = _scales(fit.guide, model)
    bare, device = model.with_data(None), device_of(fit.guide)
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    return [
        (bare, data, {name: x[i] for name, x in starts.items()}, scale, method.draws, each, device)
        for i, each in enumerate(seeds)
    ]


def _carried_out(work: list[tuple], watch: Watch) -> list[Chain]:
    """The chains that have any draws, which is all of them unless somebody stops them."""
    arguments = [(*each, report) for each, report in zip(work, watch.reports, strict=True)]
    try:
        ran = side_by_side(run_chain, arguments)
    except Exception as error:
        if watch.stopped:
            # Workers that are only just starting do not yet leave Ctrl-C to their parent.
            raise KeyboardInterrupt(NOTHING_TO_KEEP) from error
        raise
    return [chain for chain in ran if chain is not None]


def _fit_of(ran: list[Chain], fit: Fit, data: Triplets, method: Langevin, seed: int) -> Fit:
    model = fit.model.with_data(data)
    refined = fit_of_chains(ran, data, model, fit.prior, method, seed, fit.first_dimensions)
    return refined.label(fit) if fit.dimension_names else refined


def _so_far(ran: list[Chain], fit: Fit, data: Triplets, method: Langevin, seed: int) -> Fit:
    """The fit of chains that were stopped."""
    kept = of_one_length(ran)
    if not kept or len(kept[0]) < FEWEST_DRAWS:
        raise KeyboardInterrupt(NOTHING_TO_KEEP)
    found = Langevin(len(kept[0]), len(kept))
    refined = _fit_of(kept, fit, data, found, seed)
    tell(
        f"Interrupted after {sum(map(len, ran))} of {method.draws * method.chains} draws: this is "
        f"the fit so far, chains={found.chains} of draws={found.draws}. It is not known to have "
        "converged.",
        InterruptedWarning,
    )
    return refined


def device_of(guide: Guide) -> torch.device:
    """Where a guide computes."""
    parameters = guide.parameters() if isinstance(guide, torch.nn.Module) else ()
    return next((each.device for each in parameters), torch.device("cpu"))


def _check(fit: Fit, data: Triplets) -> None:
    check_data(data, "data")
    if not fit.was_fitted_to(data):
        raise DataError(
            f"These {len(data):,} judgments are not the {fit.n_judgments:,} that this fit was "
            "fitted to; refine it with those, or fit these first."
        )
    if fit.posterior.shape[1] == 0:
        raise PyroviceError(
            "This fit has no dimension left to refine. Refine it before fit.prune(), or fit with "
            "more judgments."
        )
    if fit.posterior.shape[1] != fit.model.dimensions:
        raise PyroviceError(
            "The dimensions of this prior depend on each other, so that the model cannot leave "
            "some of them out: refine the fit before fit.prune()."
        )


def _scales(guide: Guide, model: Model) -> Values:
    """The guide's standard deviation of every entry, on the unconstrained line."""
    drawn = draw_sites(guide, model, SCALE_DRAWS)
    scale = {
        name: biject_to(site.support).inv(drawn[name].cpu()).std(0)
        for name, site in model.structure.sites.items()
    }
    if not all((each > 0).all() for each in scale.values()):
        raise GuideError(
            "This fit is a point: its guide has no spread that a sampler could go by. Fit with "
            "guide=pyrovice.MeanField() and refine that."
        )
    return scale


def run_chain(
    model: Model,
    data: Triplets,
    start: Values,
    scale: Values,
    draws: int,
    seed: int,
    device: torch.device,
    report: Report,
) -> Chain | None:
    """One chain, from start to end; None if it is stopped before there is a draw."""
    began = time.perf_counter()
    go_on = report.opened()
    if not go_on(0):
        return None
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        tensors_on(device),
        pyro.validation_enabled(False),
    ):
        torch.manual_seed(seed)
        judgments = model.aggregated(data, device)
        # Neighbouring rows then look up neighbouring similarities.
        judgments = replace(judgments.parts(len(judgments))[0], rows=None)
        model = model.with_data(judgments)
        _, potential, to_line, _ = initialize_model(model, initial_params={})
        line = {name: transform(start[name].to(device)) for name, transform in to_line.items()}
        scale = {name: each.to(device) for name, each in scale.items()}
        # A function of the user's may do something else in the next step.
        way = potential if model.is_code else Slope(potential)
        drawn, temperature = _steady_path(way, line, scale, draws, go_on)
        if not drawn:
            return None
        sites = {
            name: transform.inv(torch.stack([z[name] for z in drawn]))
            for name, transform in to_line.items()
        }
        seconds = time.perf_counter() - began
        return finished_chain(model, sites, seconds, {"temperature": temperature})


def _steady_path(
    potential: Potential | Slope, start: Values, scale: Values, draws: int, go_on: GoOn
) -> tuple[list[Values], NDArray[np.floating]]:
    """Draws along a path with their temperatures, by the longest step that is not too long.

    If it is stopped they are fewer, and none of those that are to be forgotten.
    """
    for halvings in range(HALVINGS + 1):
        path = _draws_apart(langevin(potential, start, scale, STEP / 2**halvings), go_on)
        before = [heats for _, heats in itertools.islice(path, FORGOTTEN)]
        if len(before) < FORGOTTEN:
            break
        if not COLD < np.mean(before[FORGOTTEN // 2 :]) < HOT:
            continue
        kept = [(z, heats[-1]) for z, heats in itertools.islice(path, draws)]
        # On the edge of what is stable a path runs away slowly.
        heat = np.array([heat for _, heat in kept])
        if kept and COLD < heat.mean() < HOT:
            return [z for z, _ in kept], heat
        if len(kept) < draws:
            break
    else:
        raise PyroviceError(
            "The sampler runs away from this fit however short its steps: the guide's scales are "
            "not those of the posterior. Refine a fit that has converged, with guide=MeanField()."
        )
    return [], np.array([])


def _draws_apart(
    path: Iterator[tuple[Values, float]], go_on: GoOn
) -> Iterator[tuple[Values, list[float]]]:
    """Every tenth position with the temperatures on the way to it, as long as it is to go on."""
    for done in itertools.count(1):
        steps = list(itertools.islice(path, STEPS_APART))
        more = go_on(done)
        yield steps[-1][0], [heat for _, heat in steps]
        if not more:
            return


def compared_weights(fit: Fit) -> str:
    """What the chains of a fit are compared by: what is kept, or everything if nothing is."""
    return "the weights of the kept dimensions" if fit.n_dimensions else "the weights"


def agreement(fit: Fit) -> float:
    """The share of :func:`compared_weights` that the chains of a fit agree on."""
    kept = fit.prune().posterior if fit.n_dimensions else fit.posterior
    return share_mixed(cast("NDArray[np.float32]", kept.chains))


def _doubt(fit: Fit, method: Langevin) -> str | None:
    """Why the chains may not have converged, if anything speaks against it."""
    if method.chains == 1:
        return ONE_CHAIN
    share = agreement(fit)
    if share >= AGREED:
        return None
    return f"the chains agree on {share:.0%} of {compared_weights(fit)}"
