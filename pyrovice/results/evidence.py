"""The evidence lower bound of a fit, such that guides can be compared by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pyro
import torch

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole, whole_seed
from pyrovice.errors import PyroviceError
from pyrovice.guides import SiteGuide
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.torch_state import gradients

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

# Where dimensions that were dropped start, and how they find what costs least.
IDLE_LOC, IDLE_SCALE = -0.1, 0.2
IDLE_RATE, IDLE_STEPS = 0.05, 500


@dataclass(frozen=True)
class EvidenceBound:
    """A lower bound on log p(answers), in nats; made by :meth:`Fit.elbo`.

    Attributes
    ----------
    value : float
        The bound, for all `dimensions` that training started from.
    se : float
        Its standard error over particles.
    dimensions : int
        How many dimensions it counts.
    dropped : int
        How many of them training dropped. They are put back for the bound, as idle as a guide
        of the same family can have them.
    log_likelihood, complexity : float
        The two parts, value = log_likelihood − complexity.
    """

    value: float
    se: float
    dimensions: int
    dropped: int
    log_likelihood: float
    complexity: float

    def __repr__(self) -> str:
        dropped = f", {self.dropped} of them dropped" if self.dropped else ""
        return (
            f"EvidenceBound({self.value:,.1f} ± {self.se:.1f} nats, {self.dimensions} "
            f"dimensions{dropped})"
        )


def evidence_bound(fit: Fit, data: Triplets, particles: int, seed: int) -> EvidenceBound:
    """The bound of a fit on the judgments that it was fitted to; see :meth:`Fit.elbo`."""
    if fit.posterior.is_point:
        raise PyroviceError(
            "A point has no evidence bound: its guide has no density. Compare it by "
            "pv.compare(fits, data, folds=5)."
        )
    particles = whole(particles, "particles", least=2)
    guide, model = fit.guide, fit.model
    judgments = model.judgments(data)
    dropped = 0 if fit.pruned else fit.first_dimensions - model.dimensions
    with (
        pyro_locked(),
        gradients(),
        torch.random.fork_rng(devices=[]),
        pyro.validation_enabled(False),
    ):
        torch.manual_seed(whole_seed(seed))
        if dropped:
            model = model.with_dimensions(fit.first_dimensions)
            guide = _with_idle_columns(fit, model, judgments)
        elbo = _elbo(model)
        with torch.no_grad():
            terms = [elbo.terms(model, guide, judgments) for _ in range(particles)]
    likelihood, complexity = np.array([[a.item(), b.item()] for a, b in terms]).T
    values = likelihood - complexity
    return EvidenceBound(
        value=float(values.mean()),
        se=float(values.std(ddof=1) / np.sqrt(particles)),
        dimensions=model.dimensions,
        dropped=dropped,
        log_likelihood=float(likelihood.mean()),
        complexity=float(complexity.mean()),
    )


def _elbo(model: Model) -> TwoTermELBO:
    return TwoTermELBO(max_plate_nesting=model.structure.max_plate_nesting)


def _with_idle_columns(fit: Fit, model: Model, judgments: Judgments) -> SiteGuide:
    """The guide of a fit with the dimensions that training dropped, at their best while idle."""
    with pyro.settings.context(module_local_params=True):
        guide = cast(SiteGuide, fit.guide_family(model))
    trained = cast(SiteGuide, fit.guide)
    kept = fit.model.dimensions
    columns = guide.column_dims()
    holders = guide.around(torch.zeros(1), torch.ones(1))
    free = [name for name in columns if name.split(".")[0] in holders]
    with torch.no_grad():
        if "X" in guide.centres():
            # Just below zero, where the rectifier makes nothing of them.
            guide.start_at(
                *(
                    torch.full((model.n_objects, model.dimensions), x)
                    for x in (IDLE_LOC, IDLE_SCALE)
                )
            )
        for name, value in trained.named_parameters():
            whole_value = guide.get_parameter(name)
            dim = columns[name]
            if name not in free:
                # Idle dimensions covary with nothing.
                whole_value.zero_()
            (whole_value if dim is None else whole_value.narrow(dim, 0, kept)).copy_(value)
    optimizer = torch.optim.Adam([guide.get_parameter(name) for name in free], lr=IDLE_RATE)
    elbo = _elbo(model)
    for step in range(IDLE_STEPS):
        optimizer.param_groups[0]["lr"] = IDLE_RATE * (1 - step / IDLE_STEPS)
        optimizer.zero_grad()
        log_likelihood, complexity = elbo.terms(model, guide, judgments)
        (complexity - log_likelihood).backward()
        for name in free:
            value, dim = guide.get_parameter(name), columns[name]
            # Only what was dropped moves.
            assert value.grad is not None
            (value.grad if dim is None else value.grad.narrow(dim, 0, kept)).zero_()
        optimizer.step()
    return guide
