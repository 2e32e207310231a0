import numpy as np
import pyro
import pytest
import torch
from pyro.infer import Trace_ELBO

import pyrovice as pv


def test_the_bound_is_pyros(small, small_fit):
    kept = small_fit.prune()
    bound = kept.elbo(small, particles=200)
    torch.manual_seed(1)
    with pyro.validation_enabled(False), torch.no_grad():
        losses = [Trace_ELBO().loss(kept.model, kept.guide, small) for _ in range(200)]
    error = np.hypot(bound.se, np.std(losses) / 200**0.5)
    assert bound.value == pytest.approx(-np.mean(losses), abs=4 * error)
    assert bound.value == pytest.approx(bound.log_likelihood - bound.complexity)
    assert (bound.dimensions, bound.dropped) == (kept.posterior.shape[1], 0)


def test_dropping_dimensions_makes_no_difference(small, small_fit):
    whole = pv.fit(small, dimensions=6, training=pv.Training(drop_collapsed=False), progress=False)
    dropped, kept = small_fit.elbo(small, particles=200), whole.elbo(small, particles=200)
    assert dropped.dropped > 0
    assert dropped.dimensions == kept.dimensions == 6
    # 0.1 nats was seen, and 60 without putting the dropped dimensions back.
    assert dropped.value == pytest.approx(kept.value, abs=4.0)


@pytest.mark.filterwarnings("ignore:All 2 dimensions were kept")
def test_what_has_no_bound_gets_a_sentence(small, small_fit):
    point = pv.spose(small, rate=2.0, dimensions=2, training=pv.Training(stop=pv.MaxEpochs(20)))
    with pytest.raises(pv.PyroviceError, match="A point has no evidence bound"):
        point.elbo(small)
    with pytest.raises(pv.DataError, match="not the judgments that were fitted"):
        small_fit.elbo(small[:10])
