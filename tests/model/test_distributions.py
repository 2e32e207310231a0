import numpy as np
import pyro.distributions as dist
import pytest
import torch
from scipy import integrate, special, stats

from pyrovice.model.distributions import (
    LEAST_LAPSE,
    LapsingOddOneOut,
    LogitNormal,
    OddOneOut,
    OneSidedSpikeAndSlab,
    RegularizedHorseshoe,
    SpikeAndSlab,
)
from pyrovice.model.distributions.horseshoe import log_scaled_exp1

FAMILIES = {"normal": stats.norm, "laplace": stats.laplace}
SETTINGS = [(0.25, 1.0, 0.5), (0.125, 0.5, 0.6), (0.01, 8.0, 0.9)]


def scipy_density(x, spike, slab, pi, family):
    f = FAMILIES[family]
    return pi * f.pdf(x, scale=spike) + (1 - pi) * f.pdf(x, scale=slab)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("spike", "slab", "pi"), SETTINGS)
def test_density_against_scipy_and_quadrature(spike, slab, pi, family):
    d = SpikeAndSlab(*(torch.tensor(v, dtype=torch.float64) for v in (spike, slab, pi)), family)
    x = np.linspace(-6, 6, 401)
    got = d.log_prob(torch.tensor(x)).exp().numpy()
    np.testing.assert_allclose(got, scipy_density(x, spike, slab, pi, family), rtol=1e-10)
    area, _ = integrate.quad(
        lambda v: d.log_prob(torch.tensor(v, dtype=torch.float64)).exp().item(),
        -200,
        200,
        points=[-1, -0.05, 0, 0.05, 1],
        limit=400,
    )
    assert area == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_log_density_is_finite_far_out(family):
    d = SpikeAndSlab(0.01, 1.0, 0.5, family)
    assert torch.isfinite(d.log_prob(torch.tensor([-1e4, 1e4]))).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("spike", "slab", "pi"), SETTINGS)
def test_samples_follow_the_density(spike, slab, pi, family):
    torch.manual_seed(0)
    d = SpikeAndSlab(spike, slab, pi, family)
    drawn = d.sample((4000,)).numpy()
    f = FAMILIES[family]

    def cdf(x):
        return pi * f.cdf(x, scale=spike) + (1 - pi) * f.cdf(x, scale=slab)

    assert stats.kstest(drawn, cdf).pvalue > 0.01
    np.testing.assert_allclose(d.cdf(torch.tensor(drawn)), cdf(drawn), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_weight_per_dimension(family):
    torch.manual_seed(1)
    pi = torch.tensor([0.1, 0.5, 0.95])
    d = SpikeAndSlab(0.1, 2.0, pi, family).expand([2000, 3])
    assert d.batch_shape == (2000, 3)
    drawn = d.sample()
    x = drawn[:50].numpy()
    for column, weight in enumerate(pi.tolist()):
        np.testing.assert_allclose(
            d.log_prob(drawn)[:50, column].exp(),
            scipy_density(x[:, column], 0.1, 2.0, weight, family),
            rtol=1e-4,
        )
        f = FAMILIES[family]
        p = stats.kstest(
            drawn[:, column].numpy(),
            lambda v, w=weight, f=f: w * f.cdf(v, scale=0.1) + (1 - w) * f.cdf(v, scale=2.0),
        ).pvalue
        assert p > 0.01


@pytest.mark.parametrize("family", FAMILIES)
def test_moments(family):
    torch.manual_seed(2)
    d = SpikeAndSlab(0.5, 2.0, 0.3, family)
    drawn = d.sample((200_000,))
    assert d.mean == 0
    assert drawn.var().item() == pytest.approx(d.variance.item(), rel=0.03)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="spike"):
        SpikeAndSlab(-1.0, 1.0, 0.5, validate_args=True)


def test_agrees_with_the_generic_mixture():
    mixture = dist.MixtureSameFamily(
        dist.Categorical(torch.tensor([0.6, 0.4])),
        dist.Normal(torch.zeros(2), torch.tensor([0.125, 0.5])),
    )
    x = torch.linspace(-3, 3, 50)
    torch.testing.assert_close(SpikeAndSlab(0.125, 0.5, 0.6).log_prob(x), mixture.log_prob(x))


def test_odd_one_out_is_the_categorical():
    torch.manual_seed(0)
    for shape in [(), (7,), (2, 1, 7)]:
        logits = torch.randn(*shape, 3)
        odd = torch.randint(0, 3, (7,)) if shape else torch.tensor(1)
        ours = OddOneOut(logits.log_softmax(-1))
        theirs = dist.Categorical(logits=logits)
        torch.testing.assert_close(ours.log_prob(odd), theirs.log_prob(odd))
        torch.testing.assert_close(ours.probs, theirs.probs)
        assert ours.batch_shape == theirs.batch_shape
    wide = ours.expand((4, 2, 5, 7))
    torch.testing.assert_close(wide.log_prob(odd), theirs.expand((4, 2, 5, 7)).log_prob(odd))
    shares = torch.bincount(OddOneOut(torch.tensor([0.2, 0.3, 0.5]).log()).sample((20_000,)))
    # Four standard errors of a share of 20,000.
    np.testing.assert_allclose(shares / 20_000, [0.2, 0.3, 0.5], atol=4 * 0.5 / 20_000**0.5)
    with pytest.raises(ValueError, match="support"):
        OddOneOut(logits.log_softmax(-1), validate_args=True).log_prob(torch.tensor(3))


@pytest.mark.parametrize("n", [1, 500])
def test_answers_are_found_by_place_as_by_gathering(n):
    torch.manual_seed(n)
    log_p = torch.randn(3, n).log_softmax(0).mT.requires_grad_()
    odd = torch.randint(0, 3, (n,))
    found = OddOneOut(log_p).log_prob(odd)
    with torch.no_grad():
        assert torch.equal(found, OddOneOut(log_p).log_prob(odd))
    (slope,) = torch.autograd.grad((found * torch.arange(n)).sum(), log_p)
    assert torch.equal(slope, torch.nn.functional.one_hot(odd, 3) * torch.arange(n)[:, None])


def test_logit_normal_is_a_normal_through_a_sigmoid():
    loc, scale = torch.tensor([-3.0, 0.5, 4.0]), torch.tensor([0.3, 1.0, 2.0])
    ours = LogitNormal(loc, scale)
    generic = dist.TransformedDistribution(
        dist.Normal(loc, scale), [dist.transforms.SigmoidTransform()]
    )
    p = torch.tensor([[0.02, 0.3, 0.999], [1e-30, 1 - 1e-6, 0.5]], requires_grad=True)
    torch.testing.assert_close(ours.log_prob(p), generic.log_prob(p), rtol=1e-5, atol=1e-4)
    slopes = [torch.autograd.grad(d.log_prob(p).sum(), p)[0] for d in (ours, generic)]
    torch.testing.assert_close(*slopes, rtol=1e-3, atol=1e-4)
    torch.manual_seed(0)
    drawn = ours.expand((20_000, 3)).sample()
    assert ours.support.check(drawn).all()
    assert stats.kstest(drawn[:, 1].logit().numpy(), "norm", args=(0.5, 1.0)).pvalue > 0.01


def test_lapses_are_a_mixture_of_categoricals():
    torch.manual_seed(0)
    anchor = torch.tensor([-1, 0, 1, 2, -1])
    odd = torch.tensor([0, 1, 2, 0, 2])
    is_anchor = anchor[:, None] == torch.arange(3)
    at_random = (~is_anchor) / (~is_anchor).sum(-1, keepdim=True)
    logits = torch.randn(2, 5, 3).masked_fill(is_anchor, -torch.inf).requires_grad_()
    lapse = torch.rand(2, 5, requires_grad=True)
    ours = LapsingOddOneOut(
        logits.softmax(-1), lapse, at_random.max(-1).values, anchor, validate_args=True
    )
    mixed = (1 - lapse[..., None]) * logits.softmax(-1) + lapse[..., None] * at_random
    theirs = dist.Categorical(probs=mixed)
    torch.testing.assert_close(ours.probs, theirs.probs)
    torch.testing.assert_close(ours.log_prob(odd), theirs.log_prob(odd))
    slopes = (torch.autograd.grad(d.log_prob(odd).sum(), [logits, lapse]) for d in (ours, theirs))
    for a, b in zip(*slopes, strict=True):
        torch.testing.assert_close(a.nan_to_num(0.0), b.nan_to_num(0.0))
    apart = ours.left_of_answers().expand((2, 4, 5))
    torch.testing.assert_close(apart.log_prob(odd)[:, 3], theirs.log_prob(odd))
    assert apart.sample((6,)).shape == (6, 2, 4, 5)
    # What is next to impossible is not impossible where anybody may lapse.
    least = torch.full((1,), LEAST_LAPSE)
    sure = LapsingOddOneOut(torch.tensor([[1.0, 0.0, 0.0]]), least, torch.ones(1))
    assert torch.isfinite(sure.log_prob(torch.tensor([2]))).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("spike", "slab", "pi"), SETTINGS)
def test_one_sided_spike_and_slab(spike, slab, pi, family):
    two_sided = SpikeAndSlab(spike, slab, pi, family)
    d = OneSidedSpikeAndSlab(spike, slab, pi, family)
    above = torch.linspace(1e-3, 6, 50)
    torch.testing.assert_close(d.log_prob(above), two_sided.log_prob(above))
    torch.testing.assert_close(d.cdf(above), two_sided.cdf(above))
    height = scipy_density(0.0, spike, slab, pi, family)
    below = stats.norm(0, 1 / (np.sqrt(2 * np.pi) * height))
    np.testing.assert_allclose(d.log_prob(-above).exp(), below.pdf(above), rtol=2e-4, atol=1e-30)
    np.testing.assert_allclose(d.cdf(-above), below.cdf(-above.numpy()), rtol=2e-4, atol=1e-7)
    torch.manual_seed(0)
    drawn = d.expand([4000]).sample()
    assert stats.kstest(drawn.numpy(), lambda x: d.cdf(torch.as_tensor(x)).numpy()).pvalue > 0.01
    many = d.sample((400_000,))
    # Four standard errors of a mean, and twice what was seen of a variance.
    assert d.mean.item() == pytest.approx(many.mean().item(), abs=4 * many.std().item() / 632)
    assert d.variance.item() == pytest.approx(many.var().item(), rel=0.04)


HORSESHOES = [(0.1, 1.0), (0.99, 1.0), (1.0, 1.0), (3.0, 1.0), (0.05, 2.0)]


def double(*values):
    return (torch.tensor(value, dtype=torch.float64) for value in values)


def horseshoe_by_quadrature(x, tau, slab):
    """The definition: a Normal for each local scale, and a Normal that bounds the tails."""

    def joint(x, angle):
        return stats.norm.pdf(x, scale=tau * np.tan(angle)) * 2 / np.pi

    local, _ = integrate.quad(lambda angle: joint(x, angle), 0, np.pi / 2, limit=400)
    mass, _ = integrate.quad(
        lambda angle: 2 / np.pi / np.sqrt(1 + (tau / slab * np.tan(angle)) ** 2), 0, np.pi / 2
    )
    return local * np.exp(-0.5 * (x / slab) ** 2) / mass


@pytest.mark.parametrize(("tau", "slab"), HORSESHOES)
def test_horseshoe_density_is_its_definition(tau, slab):
    d = RegularizedHorseshoe(*double(tau, slab))
    for x in (0.003, 0.05, 0.3, 1.0, 2.5):
        got = d.log_prob(torch.tensor(x, dtype=torch.float64)).exp().item()
        assert got == pytest.approx(horseshoe_by_quadrature(x, tau, slab), rel=1e-5)


@pytest.mark.parametrize(("tau", "slab"), HORSESHOES)
def test_horseshoe_samples_follow_its_cdf_and_that_its_density(tau, slab):
    d = RegularizedHorseshoe(*double(tau, slab))
    torch.manual_seed(0)
    drawn = d.expand([4000]).sample().numpy()
    assert stats.kstest(drawn, lambda x: d.cdf(torch.as_tensor(x)).numpy()).pvalue > 0.01
    for low, high in ((0.01, 0.2), (0.2, 3.0)):
        area, _ = integrate.quad(lambda x: d.log_prob(next(double(x))).exp().item(), low, high)
        assert (d.cdf(next(double(high))) - d.cdf(next(double(low)))).item() == pytest.approx(
            area, abs=1e-5
        )


def test_exponential_integral_and_its_derivative_against_scipy():
    u = torch.logspace(-12, 4, 200, dtype=torch.float64).requires_grad_()
    value = log_scaled_exp1(u).detach().numpy()
    # From about 700 on scipy's own exp1 is zero.
    few = u.detach().numpy()[u.detach().numpy() < 600]
    expected = np.log(special.exp1(few)) + few
    np.testing.assert_allclose(value[: len(few)], expected, rtol=1e-7, atol=1e-8)
    assert np.isfinite(value).all()
    assert torch.autograd.gradcheck(log_scaled_exp1, (u.detach()[100:170].requires_grad_(),))


def test_horseshoe_gradients_are_finite_at_zero():
    x = torch.tensor([0.0, 1e-30, -1e-8, 50.0], requires_grad=True)
    RegularizedHorseshoe(0.1, 1.0).log_prob(x).sum().backward()
    assert torch.isfinite(x.grad).all()
