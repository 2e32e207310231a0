"""The posterior by Hamiltonian Monte Carlo: exact in the limit, for small problems.

It is the yardstick for the guides: the same Pyro model, sampled by NUTS.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyro
import pyro.infer
import torch
from numpy.typing import NDArray

from pyrovice.data.connections import tell_if_disconnected
from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import PyroviceError, tell
from pyrovice.guides import Guide
from pyrovice.guides.resolve import starting
from pyrovice.inference.chains import (
    ONE_CHAIN,
    Chain,
    finished_chain,
    fit_of_chains,
    judged,
    side_by_side,
)
from pyrovice.inference.plan import check_data
from pyrovice.inference.starts import from_pair_counts
from pyrovice.model.choices import Choice, DotProduct
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.judgments import Judgments
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
) -> Fit:
    """Sample the posterior by NUTS, for small problems.

    Chains run in processes of their own, as many at once as there are cores. They
    start from the judgments' pair counts with noise of their own. Dimensions are
    brought into one order across chains and draws before anything is summarised.

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
    >>> fit = pv.sample(data, dimensions=1, draws=100, warmup=60, chains=2, seed=2)
    >>> weights = fit.embedding("mean", pruned=False)[0]
    >>> bool(weights["5"] > weights["0"])
    True
    """
    check_data(data, "data")
    prior = prior_of(prior, data.names)
    check_people_of(data, people)
    tell_if_disconnected(data)
    seed = whole_seed(seed)
    size = first_dimensions(dimensions, data, learned_rows(prior))
    method = NUTS(
        whole(draws, "draws", least=4), whole(warmup, "warmup", least=0), whole(chains, "chains", 1)
    )
    model = Model(prior, data.n_objects, size, data, choice=choice, people=people)
    if data.n_objects * size > MANY_ENTRIES:
        tell(
            f"NUTS on {data.n_objects} x {size} weights may take hours; pyrovice.refine(fit, data) "
            "samples around a fit at any size.",
        )
    seeds = np.random.SeedSequence(seed).generate_state(method.chains).tolist()
    bare = model.with_data(None)
    ran = side_by_side(run_chain, [(bare, data, method, each) for each in seeds])
    result = fit_of_chains(ran, data, model, prior, method, seed, size)
    doubt = _doubt(result, method, sum(chain.divergences for chain in ran))
    return judged(result, doubt, "Sample again with chains=4 and more warmup, or fewer dimensions.")


def run_chain(model: Model, data: Triplets, method: NUTS, seed: int) -> Chain:
    """One chain, from start to end."""
    began = time.perf_counter()
    # Pyro checks every value of every leapfrog step otherwise, a third of the time.
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng(devices=[]),
        pyro.validation_enabled(False),
    ):
        torch.manual_seed(seed)
        judgments = Judgments.aggregated(data, people=model.known_people)
        model = model.with_data(judgments)
        loc, scale = from_pair_counts(judgments, model.dimensions)
        kernel = WatchedNUTS(
            model,
            init_strategy=starting(lambda: loc + scale * torch.randn_like(loc)),
        )
        mcmc = pyro.infer.MCMC(
            kernel,
            num_samples=method.draws,
            warmup_steps=method.warmup,
            disable_progbar=True,
        )
        mcmc.run()
        seconds = time.perf_counter() - began
        return finished_chain(model, mcmc.get_samples(), seconds, kernel.stats())


class WatchedNUTS(pyro.infer.NUTS):
    """Pyro's NUTS, which also notes what it did for each draw, under the names of ArviZ."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: list[dict[str, float]] = []
        self._leapfrogs = 0
        self._kinetic: float | None = None

    def _build_basetree(self, *args: Any) -> Any:
        self._leapfrogs += 1
        return super()._build_basetree(*args)

    def _kinetic_energy(self, r_unscaled: Any) -> Any:
        energy = super()._kinetic_energy(r_unscaled)
        # The first of a step is that of the momenta it starts with.
        if self._kinetic is None:
            self._kinetic = float(energy)
        return energy

    def sample(self, params: Any) -> Any:
        """One step; called by Pyro."""
        self._leapfrogs, self._kinetic = 0, None
        before = self._mean_accept_prob * max(self._t - self._warmup_steps, 0)
        found = super().sample(params)
        n = self._t - self._warmup_steps
        if n > 0:
            _, potential, _ = self._fetch_from_cache()
            self.rows.append(
                {
                    # Pyro keeps the mean over all draws so far.
                    "acceptance_rate": self._mean_accept_prob * n - (before if n > 1 else 0.0),
                    "step_size": self.step_size,
                    "n_steps": self._leapfrogs,
                    "tree_depth": math.ceil(math.log2(self._leapfrogs + 1)),
                    "energy": float(potential) + (self._kinetic or 0.0),
                }
            )
        return found

    def stats(self) -> dict[str, NDArray[Any]]:
        """By name, a number per draw."""
        found = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
        for name in ("n_steps", "tree_depth"):
            found[name] = found[name].astype(int)
        return found | {"diverging": np.isin(np.arange(len(self.rows)), self._divergences)}


def _doubt(fit: Fit, method: NUTS, divergences: int) -> str | None:
    """Why the chains may not have converged, if anything speaks against it."""
    if method.chains == 1:
        return ONE_CHAIN
    worst = fit.mixing().r_hat.max()
    if worst < MIXED:
        return None
    return f"the chains disagree (R-hat up to {worst:.2f}, {divergences} divergences)"
