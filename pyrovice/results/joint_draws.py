"""Draws of all sites that belong together: of the posterior, and of the prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from pyrovice.data.validation import whole_seed
from pyrovice.errors import tell
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.structure import draw_prior
from pyrovice.results.prior_sites import redraw_prior_sites

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

# Steps that join stored draws of the prior's sites to new draws of X: they start where they belong.
JOINING_STEPS = 60
# Of the prior, which no data inform, 100 MB do, but always enough draws for a picture.
MOST_PRIOR_ENTRIES, FEWEST_DRAWS = 25_000_000, 50

Draws = dict[str, NDArray[Any]]


def posterior_draws(fit: Fit, draws: int, seed: int) -> Draws:
    """Every site by chain, (chains, draws, ...), X rectified; one draw of all belongs together."""
    posterior = fit.posterior
    if posterior.chains is not None:
        rows = evenly(posterior.chains.shape[1], draws)
        others = {name: site.values[:, rows] for name, site in posterior.others.items()}
        return {"X": np.maximum(posterior.chains[:, rows], 0), **others}
    drawn = posterior.sites(draws, seed)
    if posterior.others and not posterior.is_joint:
        drawn |= _joined(fit, drawn)
    return {name: values[None] for name, values in drawn.items()}


def evenly(have: int, draws: int) -> NDArray[np.intp]:
    """So many of the draws of a chain, all of them if there are no more."""
    return np.linspace(0, have - 1, min(draws, have)).round().astype(int)


def _joined(fit: Fit, drawn: Draws) -> Draws:
    """The sites of the prior, drawn anew given these draws of X."""
    missing = fit.missing_code()
    if missing is not None:
        names = ", ".join(map(repr, fit.posterior.others))
        tell(
            f"The draws of {names} cannot be joined to those of X without the code of the "
            f"{missing.role}: their draws do not belong together here. Pass it again, "
            f"pyrovice.load(path, {missing.role}={missing})."
        )
        return {}
    if fit.posterior.shape[1] != fit.model.dimensions:
        names = ", ".join(map(repr, fit.posterior.others))
        tell(
            f"The draws of {names} depend on dimensions that were pruned, so that they cannot be "
            "joined to those of X here; call to_arviz before prune."
        )
        return {}
    tensors = {name: torch.from_numpy(values) for name, values in drawn.items()}
    found = redraw_prior_sites(fit.model, tensors, JOINING_STEPS)
    return {name: values.numpy() for name, values in found.items()}


def prior_draws(fit: Fit, draws: int, seed: int) -> Draws:
    """Every site, (1, draws, ...), X rectified; of a large embedding fewer draws."""
    # A prior whose dimensions depend on each other is drawn whole.
    whole = fit.columns is not None
    model = fit.model if whole else fit.model.with_dimensions(fit.posterior.shape[1])
    entries = model.n_objects * model.dimensions
    draws = min(draws, max(FEWEST_DRAWS, MOST_PRIOR_ENTRIES // entries))
    # Filled one by one: a list of a thousand large draws would take the memory twice.
    found: Draws = {}
    with pyro_locked(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(whole_seed(seed))
        for i in range(draws):
            for name, value in draw_prior(model).items():
                drawn = (value.relu() if name == "X" else value).detach().cpu().numpy()
                if name not in found:
                    found[name] = np.empty((1, draws, *drawn.shape), drawn.dtype)
                found[name][0, i] = drawn
    if not whole:
        return found
    columns = list(fit.columns or ())
    for name, values in found.items():
        axes = ("object", "dimension") if name == "X" else fit.posterior.others[name].axes
        if "dimension" in axes:
            found[name] = np.take(values, columns, axis=2 + axes.index("dimension"))
    return found
