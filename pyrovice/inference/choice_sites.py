"""What was learned about the choice, drawn from the posterior itself after training.

A mean-field guide takes the noise that it puts on every weight for noise of the answers: its lapse
rates are too high, and its intervals hold the weights for known. So once the guide is trained, all
sites are moved on together along a Langevin path that starts from it, and the fit has the draws of
all of them: weights of the guide beside a lapse rate of the path would be too sure of every answer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyro
import torch
from pyro import poutine
from pyro.infer.mcmc.util import initialize_model
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import tell
from pyrovice.guides import Guide, PointGuide, SiteGuide
from pyrovice.guides.drawing import draw_sites, with_embedding
from pyrovice.inference.langevin import STEP, Potential, Slope, Values, langevin
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.model import Model

# Steps between draws, and draws that are kept, of data below and from MANY_JUDGMENTS, where a step
# takes long; and draws that are forgotten.
STEPS_APART, KEPT = (25, 10), (150, 60)
MANY_JUDGMENTS, FORGOTTEN = 100_000, 30
# Temperatures of a path whose steps are too long, and how often they are halved.
COLD, HOT, HALVINGS = 0.5, 1.5, 4
# Halvings in a row that bring the temperature no nearer to one: then the step is not what is wrong.
HOPELESS = 2
# How often between draws all weights may grow or shrink at once, and by about how much, in logs.
RESCALINGS, RESCALED_BY = 10, 0.1


def draw_with_choice(
    guide: Guide, model: Model, data: Triplets, device: torch.device | str = "cpu"
) -> dict[str, Tensor]:
    """Joint draws of all sites from the posterior, (draws, ...); none if there is no need.

    There is none if the choice samples nothing. Of a user's own choice or guide, and if people
    differ, the guide's draws stay.
    """
    choice = model.answers
    if not isinstance(choice, SoftmaxChoice) or choice.samples_nothing:
        return {}
    if not isinstance(guide, SiteGuide) or isinstance(guide, PointGuide):
        return {}
    judgments = model.aggregated(data, device)
    # Neighbouring rows then look up neighbouring similarities.
    model = model.with_data(replace(judgments.parts(len(judgments))[0], rows=None))
    many = len(judgments) >= MANY_JUDGMENTS
    try:
        with pyro.validation_enabled(False):
            walk = Walk(guide, model, STEPS_APART[many])
            found = _steady_draws(walk, FORGOTTEN + KEPT[many])
    except KeyboardInterrupt:
        found = None
    if found is None:
        names = ", ".join(sorted(model.structure.of_choice))
        tell(
            f"The posterior of {names} could not be sampled around this fit. fit.site(...) has the "
            "guide's draws, which are too sure and may be off; pyrovice.sample has exact ones."
        )
        return {}
    drawn = {name: torch.stack([draw[name].detach() for draw in found]) for name in found[0]}
    return with_embedding(model, drawn)


def tell_if_scale_is_free(model: Model) -> None:
    """Say that a temperature cannot be learned beside weights whose scale is learned too."""
    if not isinstance(model.choice, SoftmaxChoice):
        return
    above = sorted(model.structure.above)
    if "temperature" in model.choice.learned() and model.choice.degree and above:
        tell(
            "Weights that are larger at a higher temperature give the same answers, and this prior "
            f"learns its own scale ({', '.join(above)}): only the priors of both tell them apart. "
            "Leave temperature= out, or use a prior of fixed scale such as pyrovice.SpikeSlab()."
        )


class Walk:
    """A path through the posterior of all sites.

    Parameters
    ----------
    guide : SiteGuide
        Where it starts, and the scales that it goes by.
    model : Model
        With the judgments.
    apart : int
        Steps between draws.
    """

    def __init__(self, guide: SiteGuide, model: Model, apart: int) -> None:
        self.model, self.apart = model, apart
        _, potential, self.to_line, _ = initialize_model(model, initial_params={})
        # A function of the user's may do something else in the next step.
        self.potential = potential if model.is_code else Slope(potential)
        self.scale: Values = {site.name: guide.line(site)[1].detach() for site in guide.sites}
        start = draw_sites(guide, model, 1)
        self.start = {name: start[name][0] for name in self.to_line}

    def draws(self, step: float) -> Iterator[tuple[Values, float]]:
        """All sites after every few steps, and the temperature of these steps."""
        sites = self.start
        while True:
            sites, heat = self._after_steps(self.potential, sites, step)
            sites = self._rescaled(sites)
            yield sites, heat

    def _after_steps(
        self, potential: Potential | Slope, sites: Values, step: float
    ) -> tuple[Values, float]:
        line = {name: transform(sites[name]) for name, transform in self.to_line.items()}
        path = list(itertools.islice(langevin(potential, line, self.scale, step), self.apart))
        last, _ = path[-1]
        moved = {name: transform.inv(last[name]) for name, transform in self.to_line.items()}
        return moved, float(np.mean([heat for _, heat in path]))

    @torch.no_grad()
    def _rescaled(self, sites: Values) -> Values:
        """Larger weights at a higher temperature, which make no difference to any answer.

        Only the prior tells them apart, and along a path they would change very slowly. So both
        are proposed to change at once (Metropolis).
        """
        degree = self.model.choice.degree
        if not degree or "temperature" not in sites or "X" not in sites:
            return sites
        now = self._log_prior(sites)
        for _ in range(RESCALINGS):
            by = RESCALED_BY * torch.randn_like(now)
            other = sites | {
                "X": sites["X"] * by.exp(),
                "temperature": sites["temperature"] * (degree * by).exp(),
            }
            then = self._log_prior(other)
            # Volume grows with the weights and with the temperature.
            volume = (sites["X"].numel() + degree) * by
            if torch.rand_like(now).log() < then - now + volume:
                sites, now = other, then
        return sites

    def _log_prior(self, sites: Values) -> Tensor:
        traced = poutine.trace(poutine.condition(self.model.embedding, data=sites)).get_trace()
        learned = self.model.choice.learned()["temperature"]
        return traced.log_prob_sum() + learned.log_prob(sites["temperature"])


def _steady_draws(walk: Walk, n: int) -> list[Values] | None:
    """Draws of all sites by the longest step that is not too long; None if all are."""
    nearest, no_nearer = math.inf, 0
    for halvings in range(HALVINGS + 1):
        drawn = _drawn_while_steady(walk, STEP / 2**halvings, n)
        if _are_steady(drawn):
            return [sites for sites, _ in drawn[FORGOTTEN:]]
        heat = float(np.mean([heat for _, heat in drawn]))
        # Paths that run away say nothing of shorter steps.
        off = abs(math.log(heat)) if 0 < heat < math.inf else math.inf
        no_nearer = 0 if off < nearest or off == math.inf else no_nearer + 1
        nearest = min(nearest, off)
        if no_nearer == HOPELESS:
            return None
    return None


def _drawn_while_steady(walk: Walk, step: float, n: int) -> list[tuple[Values, float]]:
    """As many draws as are wanted, or fewer if the step turns out to be too long."""
    drawn: list[tuple[Values, float]] = []
    for each in itertools.islice(walk.draws(step), n):
        drawn.append(each)
        if len(drawn) % FORGOTTEN == 0 and not _are_steady(drawn):
            break
    return drawn


def _are_steady(drawn: Sequence[tuple[Values, float]]) -> bool:
    return bool(COLD < np.mean([heat for _, heat in drawn]) < HOT)
