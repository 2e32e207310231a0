"""The gradient of a step: Pyro's ELBO, run anew or repeated from a record."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from pyro import poutine
from torch import Tensor

from pyrovice.guides import SiteGuide
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.inference.recorded_step import Repeated, Results
from pyrovice.inference.run import Run
from pyrovice.model.judgments import Judgments


class Gradients:
    """Gradients of the loss per judgment, for the model and the guide that a run has just now.

    Parameters
    ----------
    run : Run
        With its optimizer; `of` is the guide that it has just now.
    elbo : TwoTermELBO
        The loss.
    n : int
        How many judgments there are.
    held : sequence of str
        Sites of a guide of pyrovice that stay where they are, and are not drawn.
    """

    def __init__(self, run: Run, elbo: TwoTermELBO, n: int, held: Sequence[str] = ()) -> None:
        assert run.optimizer is not None
        self.of, self.held = run.guide, held
        self.guide, self.model = run.guide, run.model
        if held:
            assert isinstance(run.guide, SiteGuide)
            if run.model.sees_alike:
                # As long as they answer alike too, people make no difference and take no time.
                self.model = run.model.of_one_mind()
            else:
                centres = run.guide.centres()
                values = {name: centres[name].detach() for name in held}
                self.model = poutine.condition(run.model, data=values)
            self.guide = poutine.block(run.guide, hide=list(held))
        self.elbo, self.n = elbo, n
        self.parameters: list[Tensor] = run.optimizer.param_groups[0]["params"]
        # A function of the user's, or a guide of Pyro's, may do something else in the next step.
        self.may_repeat = isinstance(run.guide, SiteGuide) and not run.model.is_code
        self.repeated: dict[int, Repeated] = {}

    def take(self, batch: Judgments, *, again: bool) -> Tensor:
        """Set the gradients of all parameters on a batch.

        Parameters
        ----------
        batch : Judgments
            What the loss is computed on.
        again : bool
            Whether the same batch will come again, and be kept until then.

        Returns
        -------
        Tensor of shape (2,)
            Log-likelihood and complexity, in nats.
        """
        if not (again and self.may_repeat):
            *gradients, terms = self._on(batch)
        else:
            if id(batch) not in self.repeated:
                self.repeated[id(batch)] = Repeated(lambda *_: self._on(batch))
            *gradients, terms = self.repeated[id(batch)](*self.parameters)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        assert terms is not None
        return terms

    def _on(self, batch: Judgments) -> Results:
        log_likelihood, complexity = self.elbo.terms(self.model, self.guide, batch)
        loss = (complexity - log_likelihood) / self.n
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        return *gradients, torch.stack([log_likelihood, complexity]).detach()
