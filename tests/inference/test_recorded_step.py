"""Steps that are repeated from a record are the steps, to the last bit."""

import pyro
import pyro.distributions as dist
import pytest
import torch
from torch.func import grad_and_value, vmap

import pyrovice as pv
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.inference.gradients import Gradients
from pyrovice.inference.recorded_step import Repeated
from pyrovice.inference.run import Run

INPUTS = [torch.tensor([x, 2.0]) for x in (1.0, 3.0, -5.0, 7.0)]
TABLE = torch.tensor([[0.5, 1.5], [2.5, 3.5]])


def with_a_gradient(x):
    x = x.clone().requires_grad_()
    loss = ((TABLE @ x).exp().log_softmax(0) * TABLE.sum(0)).sum()
    return *torch.autograd.grad(loss, x), loss.detach()


def with_random_numbers(x):
    return (x * torch.randn(2) + torch.rand(()),)


def written_in_place(x):
    total = torch.zeros(2)
    total.add_(x).mul_(x)
    return (total,)


def summed_by_row(x):
    start = torch.zeros(3)
    rows = torch.tensor([2, 0])
    # The second sum starts where the first does, and must not find it there.
    return start.index_add(0, rows, x), start.scatter_add(0, rows, 2 * x), start.clone()


def summed_from_zeros(x):
    return (torch.zeros(3).index_add(0, torch.tensor([1, 1]), x),)


def put_into_zeros(x):
    rows = torch.tensor([3, 1])
    return torch.zeros(4).index_add(0, rows, x), torch.zeros(4, 2).index_add(0, rows, TABLE * x)


def much_of_it_twice(x):
    # The same twice, a first power, a minus that is taken back, and equal draws that are not.
    same = (x * 2).exp() + (x * 2).exp()
    changed = x * 2
    changed.add_(1.0)
    return same - (x**1.0).neg().neg(), changed + x * 2, torch.randn(2) - torch.randn(2), x**1.0


def in_parts(x):
    first, second = (x * TABLE).split(1)
    return first + second, None


def mapped(x):
    each = vmap(grad_and_value(lambda scale: (TABLE @ (scale * x)).square().sum()))
    return each(torch.tensor([1.0, 2.0, 3.0]))


REPEATABLE = [with_a_gradient, with_random_numbers, written_in_place, in_parts, mapped]
REPEATABLE += [summed_by_row, summed_from_zeros, put_into_zeros, much_of_it_twice]


def called(function):
    torch.manual_seed(0)
    return [function(x) for x in INPUTS]


def assert_same(results, others):
    for one, other in zip(results, others, strict=True):
        for a, b in zip(one, other, strict=True):
            assert (a is b is None) or torch.equal(a, b)


@pytest.mark.parametrize("function", REPEATABLE)
def test_a_record_gives_what_the_function_gives(function):
    repeated = Repeated(function)
    assert_same(called(repeated), called(function))
    assert repeated.is_recorded


def test_a_record_computes_nothing_twice():
    repeated = Repeated(lambda x: ((x * 2).exp() + (x * 2).exp(),))
    called(repeated)
    names = [n.target for n in repeated._record.__self__.graph.nodes if n.op == "call_function"]
    assert names == [torch.mul, torch.exp, torch.add]


def test_a_record_puts_what_need_not_be_added():
    repeated = Repeated(put_into_zeros)
    called(repeated)
    names = [n.target for n in repeated._record.__self__.graph.nodes if n.op == "call_function"]
    assert names.count(torch.ops.aten.scatter_.src) == 1
    assert names.count(torch.ops.aten.index_add_.default) == 1
    # Two to the same place are added.
    repeated = Repeated(summed_from_zeros)
    called(repeated)
    names = [n.target for n in repeated._record.__self__.graph.nodes if n.op == "call_function"]
    assert torch.ops.aten.scatter_.src not in names


def test_a_record_leaves_out_what_changes_nothing():
    repeated = Repeated(lambda x: ((x * 1 / 1).exp() * (torch.ones_like(x) * 2),))
    called(repeated)
    names = [n.target for n in repeated._record.__self__.graph.nodes if n.op == "call_function"]
    assert names == [torch.exp, torch.mul]
    # One as a fraction makes fractions of whole numbers.
    whole = Repeated(lambda x: (x.long() / 1,))
    called(whole)
    assert whole(INPUTS[0])[0].dtype == torch.float32


def test_results_of_a_record_are_never_its_inputs():
    repeated = Repeated(lambda x: (x**1.0,))
    called(repeated)
    assert repeated(INPUTS[0])[0] is not INPUTS[0]


def test_a_record_leaves_python_out():
    calls = []
    repeated = Repeated(lambda x: calls.append(1) or (x + 1,))
    called(repeated)
    assert len(calls) == 2


def by_its_sign(x):
    return (x if x.sum() > 0 else -x,)


def by_its_number(x):
    return (TABLE * x[0].item(),)


def without_a_record(x):
    # Torch sees nothing of this.
    return (TABLE * x.numpy()[0],)


class Counting:
    """Does something else each time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return (x * self.calls,)


class Adding:
    """Writes to a tensor that stays."""

    def __init__(self):
        self.total = torch.zeros(2)

    def __call__(self, x):
        return (self.total.add_(x).clone(),)


@pytest.mark.parametrize(
    "make",
    [lambda: by_its_sign, lambda: by_its_number, lambda: without_a_record, Counting, Adding],
    ids=["sign", "number", "numpy", "counting", "adding"],
)
def test_what_follows_values_is_done_anew(make):
    repeated = Repeated(make())
    assert_same(called(repeated), called(make()))
    assert not repeated.is_recorded


# ---------------------------------------------------------------------------- steps of a fit


@pytest.fixture(autouse=True)
def as_in_training():
    with pyro.validation_enabled(False):
        yield


def small_data():
    embedding = torch.distributions.Gamma(2.0, 2.0).sample((12, 3)).numpy()
    data = pv.simulate(embedding, 400, seed=0)
    people = [f"p{i % 5}" for i in range(len(data))]
    return pv.Triplets(data.objects, data.odd, names=data.names, participants=people)


MODELS = {
    "the paper's": {},
    "learned": {"prior": pv.LearnedSpikeSlab()},
    "horseshoe": {"prior": pv.Horseshoe()},
    "positive": {"prior": dist.HalfNormal(1.0)},
    "point": {"prior": dist.Exponential(2.0), "guide": pv.guides.MAP()},
    "low rank": {"guide": pv.guides.LowRank(2)},
    "people": {"people": pv.People(weights=True, temperature=True, lapse=True)},
    "lapse": {"choice": pv.choices.DotProduct(lapse=dist.Beta(1, 20))},
    "distance": {"choice": pv.choices.Euclidean()},
    "draws": {"particles": 3},
}


def stepping(prior=pv.SpikeSlab(), guide=pv.guides.MeanField(), particles=1, **parts):  # noqa: B008
    """What is taken a step with, and what takes it."""
    torch.manual_seed(1)
    model = pv.Model(prior, 12, 3, small_data(), **parts)
    built = guide(model)
    run = Run(model, built, torch.optim.Adam(built.parameters(), lr=0.1))
    nesting = model.structure.max_plate_nesting
    elbo = TwoTermELBO(
        num_particles=particles, vectorize_particles=particles > 1, max_plate_nesting=nesting
    )
    return run, Gradients(run, elbo, 400)


def trained(run, gradients, again):
    torch.manual_seed(2)
    terms = []
    for _ in range(8):
        terms.append(gradients.take(run.model.data, again=again))
        run.optimizer.step()
    return [*terms, *run.guide.parameters()]


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_the_same_to_the_last_bit(name):
    run, gradients = stepping(**MODELS[name])
    repeated = trained(run, gradients, again=True)
    assert [each.is_recorded for each in gradients.repeated.values()] == [True]
    assert_same([repeated], [trained(*stepping(**MODELS[name]), again=False)])


def test_another_batch_has_a_record_of_its_own():
    run, gradients = stepping()
    few = run.model.data[torch.arange(100)]
    for batch in [run.model.data, few] * 4:
        torch.manual_seed(3)
        terms = gradients.take(batch, again=True)
    torch.manual_seed(3)
    assert torch.equal(terms, gradients.take(few, again=False))


def test_code_of_the_users_runs_in_every_step():
    calls = []

    def prior(n_objects, dimensions):
        calls.append(1)
        plates = pyro.plate("object", n_objects, dim=-2), pyro.plate("dimension", dimensions)
        with plates[0], plates[1]:
            return pyro.sample("X", dist.Normal(0.0, 1.0))

    run, gradients = stepping(prior)
    calls.clear()
    trained(run, gradients, again=True)
    assert len(calls) == 8


def test_orders_of_constants_are_found_once():
    """What follows from counting alone is not done again at every step."""
    rows = torch.tensor([3.0, 1.0, 2.0])

    def by_rank(x):
        return (x[rows.argsort()[torch.arange(3)]] * 2,)

    repeated = Repeated(by_rank)
    for _ in range(3):
        (found,) = repeated(torch.tensor([1.0, 2.0, 3.0]))
    assert repeated.is_recorded
    assert found.tolist() == [4.0, 6.0, 2.0]
    with torch.profiler.profile() as profiled:
        repeated(torch.tensor([1.0, 2.0, 3.0]))
    assert not {"aten::arange", "aten::sort"} & {event.key for event in profiled.key_averages()}
