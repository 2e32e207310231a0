"""Pyro's ELBO with its two terms kept apart.

The paper reports the objective per judgment, as data term and complexity term;
Pyro's ``Trace_ELBO`` is the same thing times the number of judgments.
"""

from __future__ import annotations

from typing import Any

import torch
from pyro.infer import Trace_ELBO
from torch import Tensor

from pyrovice.errors import GuideError


class TwoTermELBO(Trace_ELBO):
    """``Trace_ELBO`` that says how much the data and the complexity contribute.

    ``loss`` and ``loss_and_grads`` are Pyro's own. :meth:`terms` computes the
    same estimate without reading any number back from the device.
    """

    def terms(self, model: Any, guide: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Estimates of E[log p(odd | X)] and of E[log q(X) − log p(X)], in nats."""
        log_likelihood, complexity = torch.zeros(()), torch.zeros(())
        for model_trace, guide_trace in self._get_traces(model, guide, args, kwargs):
            for node in guide_trace.nodes.values():
                if node["type"] == "sample" and not node["fn"].has_rsample:
                    raise GuideError(
                        f"The guide draws {node['name']!r} from {node['fn']}, which has no "
                        "reparameterised gradient; use a continuous one such as dist.Normal."
                    )
            observed = model_trace.nodes["odd"]["log_prob_sum"]
            log_likelihood = log_likelihood + observed / self.num_particles
            log_prior = model_trace.log_prob_sum() - observed
            log_guide = guide_trace.log_prob_sum()
            complexity = complexity + (log_guide - log_prior) / self.num_particles
        return log_likelihood, complexity
