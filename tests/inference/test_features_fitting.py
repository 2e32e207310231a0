"""Where fits with features start, what they do with objects nobody judged, and what others say."""

import numpy as np
import pytest
import torch
from helpers.featured import featured

import pyrovice as pv
from pyrovice.inference.starts import _along, from_pair_counts, pair_counts
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.judgments import Judgments
from pyrovice.model.priors import steady_rate

TABLE, X, _ = featured(60)
SHORT = pv.Training(schedule=pv.Anneal(steps=40), stop=pv.MaxEpochs(40))
QUIET = [
    pytest.mark.filterwarnings("ignore:All .* dimensions were kept"),
    pytest.mark.filterwarnings("ignore:No dimension has more"),
    pytest.mark.filterwarnings("ignore:These .* carry no dimensions"),
]
pytestmark = QUIET


@pytest.fixture(scope="module")
def data():
    return pv.simulate((2 * X).clip(lower=0), 3000, seed=3)


def test_similarities_are_damped_away_from_the_features(data):
    excess, _ = pair_counts(Judgments.of(data))
    known = TABLE.to_numpy()
    inside = known @ np.linalg.solve(known.T @ known, known.T)
    damped = (6 / 60) ** 0.25
    turned = inside + damped * (np.eye(60) - inside)
    found = _along(excess, np.linalg.qr(known)[0]) @ np.eye(60)
    np.testing.assert_allclose(found, turned @ excess.toarray() @ turned, atol=1e-8)


def test_features_bring_the_start_nearer_to_the_truth(data):
    judgments = Judgments.of(data[:300])

    def fitted(known):
        torch.manual_seed(0)
        loc, _ = from_pair_counts(judgments, 3, known)
        truth = (2 * X).clip(lower=0).to_numpy()
        slopes = np.linalg.lstsq(loc.numpy(), truth, rcond=None)[0]
        return np.corrcoef((loc.numpy() @ slopes).ravel(), truth.ravel())[0, 1]

    assert fitted(TABLE.to_numpy()) > fitted(None) + 0.05
    # As many directions as objects say nothing.
    torch.manual_seed(0)
    whole, _ = from_pair_counts(judgments, 3, np.eye(60))
    torch.manual_seed(0)
    torch.testing.assert_close(whole, from_pair_counts(judgments, 3)[0])


def test_as_many_dimensions_as_components_can_carry(data):
    assert first_dimensions("auto", data) == 30
    assert first_dimensions("auto", data[:120]) == 2
    assert first_dimensions("auto", data[:120], unknown_rows=6) == 20
    assert first_dimensions("auto", data[:120], unknown_rows=600) == 2


def test_objects_that_nothing_is_known_of_are_named(data, tmp_path):
    old = data[(data.objects < 57).all(axis=1)]
    said = r"No judgment has 3 objects \('thing 57', 'thing 58', 'thing 59'\) of 60"
    with pytest.warns(pv.PyroviceWarning, match=said):
        fit = pv.fit(old, dimensions=4, training=SHORT, progress=False)
    fit.save(tmp_path / "f")
    for each in (fit, pv.load(tmp_path / "f")):
        with pytest.warns(pv.PyroviceWarning, match=r"of 3,000 judgments have one of 3 objects"):
            each.evaluate(data)
        each.evaluate(old)


def test_features_say_something_of_them(data):
    old = data[(data.objects < 57).all(axis=1)]
    prior = pv.Features(TABLE.iloc[::-1])
    fit = pv.fit(old, prior=prior, dimensions=4, training=SHORT, progress=False)
    assert fit.unjudged == ()
    assert fit.prior.names == data.names
    fit.evaluate(data)


def test_features_that_do_not_match_are_refused(data):
    with pytest.raises(pv.DataError, match=r"no row for 60 objects \('thing 0', .*of 60"):
        pv.fit(data, prior=pv.Features(TABLE.set_axis([f"x{i}" for i in range(60)])))


def test_features_and_people_together(data):
    who = np.random.default_rng(0).integers(0, 5, len(data)).astype(str)
    asked = pv.Triplets(data.objects, data.odd, names=data.names, participants=who)
    old = asked[(asked.objects < 57).all(axis=1)].compact()
    fit = pv.fit(
        old,
        prior=pv.Features(TABLE),
        people=pv.People(),
        dimensions=4,
        training=SHORT,
        progress=False,
    )
    assert len(fit.people()) == 5
    extended = fit.with_objects(TABLE[57:])
    assert extended.predict(asked).shape == (3000, 3)
    np.testing.assert_array_equal(extended.people(), fit.people())


def test_a_sweep_compares_features_with_none(data):
    train, validation = data.split(0.8, 0.2, seed=0)
    found = pv.sweep(
        train,
        validation,
        priors=[pv.SpikeSlab(), pv.Features(TABLE)],
        seeds=1,
        dimensions=3,
        training=SHORT,
        progress=False,
    )
    assert "table" not in found.table
    assert len(found.summary) == 2
    assert found.fits(pv.Features(TABLE))[0].prior.names == train.names


def test_a_killed_fit_goes_on_with_the_same_features_only(data, tmp_path):
    arguments = {"dimensions": 3, "training": SHORT, "progress": False}
    path = tmp_path / "checkpoint"
    fit = pv.fit(data, prior=pv.Features(TABLE), checkpoint=path, **arguments)
    again = pv.fit(data, prior=pv.Features(TABLE), checkpoint=path, **arguments)
    np.testing.assert_allclose(again.embedding(pruned=False), fit.embedding(pruned=False))
    with pytest.raises(pv.PyroviceError, match="prior"):
        pv.fit(data, prior=pv.Features(TABLE + X[[0]].to_numpy()), checkpoint=path, **arguments)


def test_steps_are_short_where_judgments_are_few_for_the_features():
    prior = pv.Features(TABLE)
    assert steady_rate(prior, 24 * prior.n_components - 1) == 0.03
    assert steady_rate(prior, 24 * prior.n_components) == np.inf
    assert steady_rate(pv.SpikeSlab(), 1) == np.inf
