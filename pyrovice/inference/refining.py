"""The posterior around a fit, sampled with all judgments: what a guide of simple shape leaves out.

A mean-field guide holds every weight for independent of the others. Draws from the model itself do
not, so that their intervals are wider, and predictions are better where much is uncertain. They
take about as long as the fit, because they start from it and use the scales of its guide.
"""

from __future__ import annotations

import itertools
import time
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
from pyrovice.errors import DataError, GuideError, PyroviceError
from pyrovice.guides import Guide
from pyrovice.guides.drawing import draw_sites
from pyrovice.inference.chains import (
    ONE_CHAIN,
    Chain,
    finished_chain,
    fit_of_chains,
    judged,
    side_by_side,
)
from pyrovice.inference.langevin import STEP, Potential, Values, langevin
from pyrovice.inference.plan import check_data
from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients
from pyrovice.results.fit import Fit
from pyrovice.results.mixing import share_mixed
from pyrovice.storage.registry import saved

# Steps from one draw to the next, and before the first.
STEPS_APART = 10
FORGOTTEN = 300
# Draws of the guide that its scales are taken from.
SCALE_DRAWS = 64
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


def refine(fit: Fit, data: Triplets, *, draws: int = 200, chains: int = 2, seed: int = 0) -> Fit:
    """Sample the posterior around a fit, at any size.

    Chains start from draws of the fit's guide and go on by Langevin dynamics with the
    gradients of all judgments. They run in processes of their own, as many at once as
    there are cores. Every dimension of `fit` stays, in the neighbourhood where the fit
    has it: refine ``fit.prune()`` to leave out those that do not matter.

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
    method = Langevin(whole(draws, "draws", least=4), whole(chains, "chains", least=1))
    model = fit.model.with_data(data)
    drawn = draw_sites(fit.guide, model, method.chains, seed)
    starts = {name: drawn[name].cpu() for name in model.structure.latent}
    scale = _scales(fit.guide, model)
    bare = model.with_data(None)
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    ran = side_by_side(
        run_chain,
        [
            (bare, data, {name: x[i] for name, x in starts.items()}, scale, method.draws, each)
            for i, each in enumerate(seeds)
        ],
    )
    refined = fit_of_chains(ran, data, model, fit.prior, method, seed, fit.first_dimensions)
    if fit.dimension_names:
        refined = refined.label(fit)
    advice = "Refine with more draws=, or with chains=2 if there was one."
    return judged(refined, _doubt(refined, method), advice)


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
    model: Model, data: Triplets, start: Values, scale: Values, draws: int, seed: int
) -> Chain:
    """One chain, from start to end."""
    began = time.perf_counter()
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng(devices=[]),
        pyro.validation_enabled(False),
    ):
        torch.manual_seed(seed)
        judgments = model.aggregated(data)
        # Neighbouring rows then look up neighbouring similarities.
        judgments = replace(judgments.parts(len(judgments))[0], rows=None)
        model = model.with_data(judgments)
        _, potential, to_line, _ = initialize_model(model, initial_params={})
        line = {name: transform(start[name]) for name, transform in to_line.items()}
        drawn, temperature = _steady_path(potential, line, scale, draws)
        sites = {
            name: transform.inv(torch.stack([z[name] for z in drawn]))
            for name, transform in to_line.items()
        }
        seconds = time.perf_counter() - began
        return finished_chain(model, sites, seconds, {"temperature": temperature})


def _steady_path(
    potential: Potential, start: Values, scale: Values, draws: int
) -> tuple[list[Values], NDArray[np.floating]]:
    """Draws along a path with their temperatures, by the longest step that is not too long."""
    for halvings in range(HALVINGS + 1):
        path = langevin(potential, start, scale, STEP / 2**halvings)
        before = [heat for _, heat in itertools.islice(path, FORGOTTEN)]
        if not COLD < np.mean(before[FORGOTTEN // 2 :]) < HOT:
            continue
        kept = list(itertools.islice(path, STEPS_APART - 1, STEPS_APART * draws, STEPS_APART))
        # On the edge of what is stable a path runs away slowly.
        heat = np.array([heat for _, heat in kept])
        if COLD < heat.mean() < HOT:
            return [z for z, _ in kept], heat
    raise PyroviceError(
        "The sampler runs away from this fit however short its steps: the guide's scales are not "
        "those of the posterior. Refine a fit that has converged, with guide=MeanField()."
    )


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
