"""The posterior by Hamiltonian Monte Carlo: exact in the limit, for small problems.

It is the yardstick for the guides: the same Pyro model, sampled by NUTS.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyro
import torch

from pyrovice.data.connections import tell_if_disconnected
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import PyroviceError, tell
from pyrovice.guides import Guide
from pyrovice.inference.chains import (
    FEWEST_DRAWS,
    ONE_CHAIN,
    Chain,
    finished_chain,
    fit_of_chains,
    judged,
)
from pyrovice.inference.choice_sites import tell_if_scale_is_free
from pyrovice.inference.no_u_turn import Sampler, advance_together
from pyrovice.inference.plan import check_data
from pyrovice.inference.potential import Potential
from pyrovice.inference.progress import draws_bar
from pyrovice.inference.starts import from_pair_counts
from pyrovice.inference.threads import limited_threads, threads_for
from pyrovice.model.choices import Choice, DotProduct, check_choice_of
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.model import Model
from pyrovice.model.people import People, check_people_of
from pyrovice.model.priors import Prior, SpikeSlab, learned_rows, prior_of
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients
from pyrovice.results.fit import Fit
from pyrovice.results.mixing import MIXED
from pyrovice.storage.registry import saved

# Entries of X above which a run is a matter of hours.
MANY_ENTRIES = 1000


@saved
@dataclass(frozen=True)
class NUTS:
    """How a fit was sampled; stands where other fits have their guide."""

    draws: int
    warmup: int
    chains: int

    def __call__(self, model: Model) -> Guide:
        raise PyroviceError("NUTS is not a guide; call pyrovice.sample(data, ...).")


def sample(
    data: Triplets,
    *,
    prior: Prior = SpikeSlab(),  # noqa: B008 (frozen)
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
    people: People | None = None,
    dimensions: int | str = "auto",
    draws: int = 1000,
    warmup: int = 1000,
    chains: int = 4,
    seed: int = 0,
    progress: bool = True,
) -> Fit:
    """Sample the posterior by NUTS, for small problems.

    Chains start from the judgments' pair counts with noise of their own, and advance
    together: the gradients of all of them are computed at once. Dimensions are brought
    into one order across chains and draws before anything is summarised.

    Parameters
    ----------
    data : Triplets
        The judgments.
    prior : Prior
    choice : Choice
    people : People, optional
        As for :func:`pyrovice.fit`.
    dimensions : int or "auto"
        Number of dimensions; none is dropped.
    draws, warmup : int
        Draws kept of each chain, and steps before them that adapt the sampler.
    chains : int
        How many chains.
    seed : int
        The same seed gives the same draws.
    progress : bool
        Whether to show a progress bar (in notebooks and terminals only).

    Returns
    -------
    Fit
        Its posterior is the draws; `fit.mixing()` has R-hat and effective sample
        sizes. `fit.history` runs over draws, its `loss` is −log p(X, odd) per
        judgment, and all its numbers are means over chains.

    Warns
    -----
    PyroviceWarning
        If the chains disagree, or if the problem is too large to finish soon.

    Examples
    --------
    >>> import numpy as np, pyrovice as pv
    >>> data = pv.simulate(np.linspace(0, 2, 6)[:, None], 150, seed=0)
    >>> fit = pv.sample(data, dimensions=1, draws=200, warmup=100, chains=2)
    >>> weights = fit.embedding("mean", pruned=False)[1]
    >>> bool(weights["5"] > weights["0"])
    True
    """
    check_data(data, "data")
    prior = prior_of(prior, data.names)
    check_people_of(data, people)
    check_choice_of(data, choice)
    tell_if_disconnected(data)
    seed = whole_seed(seed)
    size = first_dimensions(dimensions, data, learned_rows(prior))
    method = NUTS(
        whole(draws, "draws", FEWEST_DRAWS), whole(warmup, "warmup", 0), whole(chains, "chains", 1)
    )
    model = Model(prior, data.n_objects, size, data, choice=choice, people=people)
    tell_if_scale_is_free(model)
    if data.n_objects * size > MANY_ENTRIES:
        tell(
            f"NUTS on {data.n_objects} x {size} weights may take hours; pyrovice.refine(fit, data) "
            "samples around a fit at any size.",
        )
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    ran = run_chains(model.with_data(None), data, method, seeds, progress=progress)
    result = fit_of_chains(ran, data, model, prior, method, seed, size)
    doubt = _doubt(result, method, sum(chain.divergences for chain in ran))
    return judged(result, doubt, "Sample again with chains=4 and more warmup, or fewer dimensions.")


def run_chains(
    model: Model, data: Triplets, method: NUTS, seeds: Sequence[int], *, progress: bool = False
) -> list[Chain]:
    """A chain for each seed, from start to end, a step of all of them at a time."""
    began = time.perf_counter()
    title = f"{len(seeds)} chain{'s' * (len(seeds) != 1)} of NUTS"
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng(devices=[]),
        limited_threads(threads_for(data.n_objects, model.dimensions, len(data))),
        # Pyro would check every value of every step.
        pyro.validation_enabled(False),
        draws_bar(progress, len(seeds) * (method.warmup + method.draws), title) as bar,
    ):
        judgments = model.aggregated(data)
        model = model.with_data(judgments)
        potential = Potential(model)
        chains = []
        for seed in seeds:
            torch.manual_seed(seed)
            loc, scale = from_pair_counts(judgments, model.dimensions)
            start = potential.start(lambda: loc + scale * torch.randn_like(loc))  # noqa: B023
            sampler = Sampler(potential.rectified, seed)
            chains.append(sampler.run(start, method.warmup, method.draws, bar.update))
        found = advance_together(chains, potential)
        seconds = time.perf_counter() - began
        return [
            finished_chain(model, potential.sites(positions), seconds, stats)
            for positions, stats in found
        ]


def _doubt(fit: Fit, method: NUTS, divergences: int) -> str | None:
    """Why the chains may not have converged, if anything speaks against it."""
    if method.chains == 1:
        return ONE_CHAIN
    worst = fit.mixing().r_hat.max()
    if worst < MIXED:
        return None
    return f"the chains disagree (R-hat up to {worst:.2f}, {divergences} divergences)"
