import pyro
import pyro.distributions as dist
import pytest
import torch

import pyrovice as pv
from pyrovice import PriorError, SpikeSlab
from pyrovice.model.model import Model
from pyrovice.model.priors import resolve_prior
from pyrovice.model.structure import structure_of


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SpikeSlab(spike=1.0, slab=1.0), "narrower than the slab"),
        (lambda: SpikeSlab(spike=2.0, slab=1.0), "narrower than the slab"),
        (lambda: SpikeSlab(spike=-0.1), "positive"),
        (lambda: SpikeSlab(pi=0.0), "strictly between 0 and 1"),
        (lambda: SpikeSlab(pi=1.0), "strictly between 0 and 1"),
        (lambda: SpikeSlab(pi=float("nan")), "not a finite number"),
        (lambda: SpikeSlab(spike="wide"), "not a finite number"),
        (lambda: SpikeSlab(family="cauchy"), "'normal' or 'laplace'"),
        (lambda: pv.Horseshoe(-0.1), r"scale=-0.1 is not positive; .*Horseshoe\(scale=0.3"),
        (lambda: pv.Horseshoe(slab=0), "slab=0 is not positive"),
        (lambda: pv.ARD(float("inf")), "scale=inf is not a finite number"),
        (lambda: pv.ARD(-2), "scale=-2 is not positive"),
        (lambda: pv.LearnedSpikeSlab(spike=2.0), r"narrower than the slab.*LearnedSpikeSlab\("),
        (lambda: pv.LearnedSpikeSlab(pi=1.0), "strictly between 0 and 1"),
        (lambda: pv.LearnedSpikeSlab(spread=0.0), "spread=0 is not positive"),
        (lambda: pv.LearnedSpikeSlab(concentration=-1), "concentration=-1 is not positive"),
        (lambda: pv.LearnedSpikeSlab(per_dimension="yes"), "expected True or False"),
        (lambda: pv.LearnedSpikeSlab(family="cauchy"), "'normal' or 'laplace'"),
        (lambda: resolve_prior(3), "is not a prior"),
        (lambda: resolve_prior(SpikeSlab), "is not a prior"),
        (lambda: resolve_prior(dist.Normal(torch.zeros(3), 1.0)), "batch shape"),
        (lambda: resolve_prior(dist.Poisson(3.0)), "discrete"),
    ],
)
def test_bad_priors_get_a_sentence(make, sentence):
    with pytest.raises(PriorError, match=sentence):
        make()


def test_spike_slab_is_a_value():
    assert SpikeSlab() == SpikeSlab(0.25, 1, 0.5) != SpikeSlab(family="laplace")
    assert len({SpikeSlab(), SpikeSlab(0.25)}) == 1
    assert eval(repr(SpikeSlab(0.125, 0.5, 0.6))) == SpikeSlab(0.125, 0.5, 0.6)


@pytest.mark.parametrize(
    "prior", [SpikeSlab(), SpikeSlab(family="laplace"), dist.Laplace(0.0, 0.3)], ids=repr
)
def test_site_and_plates(prior):
    trace = pyro.poutine.trace(resolve_prior(prior)).get_trace(5, 3)
    frames = {frame.name: frame.dim for frame in trace.nodes["X"]["cond_indep_stack"]}
    assert frames == {"object": -2, "dimension": -1}
    assert trace.nodes["X"]["value"].shape == (5, 3)


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (lambda m, d: torch.zeros(m, d), "samples no site 'X'; it samples nothing"),
        (lambda m, d: pyro.sample("Y", dist.Normal(0.0, 1.0)), "samples 'Y'"),
        (lambda m, d: pyro.sample("X", dist.Normal(0.0, 1.0)), r"shape \(\), expected \(5, 3\)"),
    ],
)
def test_a_callable_that_is_no_prior(prior, sentence):
    with pytest.raises(PriorError, match=sentence):
        structure_of(Model(prior, 5, 3))


def misnamed(m, d):
    with pyro.plate("things", m, dim=-2), pyro.plate("dimension", d, dim=-1):
        return pyro.sample("X", dist.Normal(0.0, 1.0))


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (misnamed, "in the plates.*by these names"),
        (lambda m, d: 3 * SpikeSlab()(m, d), "must return what it sampled"),
        (lambda m, d: (SpikeSlab()(m, d), None)[1], "returned nothing; end it with return X"),
        (
            lambda m, d: pyro.sample("X", dist.Normal(torch.zeros(m, d), 1.0)),
            "in the plates none",
        ),
    ],
)
def test_a_callable_that_breaks_the_contract(prior, sentence):
    with pytest.raises(PriorError, match=sentence):
        structure_of(Model(prior, 5, 3))


def test_a_callable_with_a_discrete_site():
    def prior(m, d):
        pyro.sample("k", dist.Poisson(3.0))
        return SpikeSlab()(m, d)

    with pytest.raises(PriorError, match="'k' is discrete"):
        structure_of(Model(prior, 5, 3))


def test_ten_lines_of_a_users_own_prior(small):
    def two_halves(n_objects, dimensions):
        with pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions, dim=-1):
            return pyro.sample("X", dist.Normal(0.1, 0.7))

    fit = pv.fit(small, prior=two_halves, dimensions=5, progress=False)
    assert fit.n_dimensions >= 2
