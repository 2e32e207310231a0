"""The prior from features: its components, its density, and whose features they are."""

import numpy as np
import pandas as pd
import pytest
import torch
from pyro import poutine
from scipy import stats

import pyrovice as pv
from pyrovice.errors import DataError, PriorError, PyroviceWarning
from pyrovice.model.model import Model
from pyrovice.storage.registry import describe, restore

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    RNG.standard_normal((12, 5)) @ RNG.standard_normal((5, 5)) * [1, 10, 0.1, 1, 1] + 3,
    index=[f"thing {i}" for i in range(12)],
    columns=list("abcde"),
)


def test_components_are_those_of_standardised_columns():
    prior = pv.Features(TABLE, components=3)
    block = prior.blocks[0]
    standard = (TABLE - TABLE.mean()) / TABLE.std(ddof=0)
    values, vectors = np.linalg.eigh(standard.T @ standard / 12)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    expected = standard.to_numpy() @ vectors / np.sqrt(values.sum())
    signs = np.sign((expected * block.scores).sum(0))
    np.testing.assert_allclose(block.scores, expected * signs, atol=1e-5)
    np.testing.assert_allclose(block.scores.var(0).sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(standard @ block.rotation, block.scores, atol=1e-5)
    correlations = np.corrcoef(standard.T, block.scores.T)[:5, 5:]
    np.testing.assert_allclose(block.loadings, correlations, atol=1e-5)
    assert block.explained == pytest.approx(values.sum() / 5)


def test_scores_of_the_same_rows_are_the_same():
    prior = pv.Features({"one": TABLE[["a", "b"]], "two": TABLE[["c", "d", "e"]]})
    shuffled = {"two": TABLE[["e", "c", "d"]], "one": TABLE[["a", "b"]]}
    names, scores = prior.scores_of(shuffled)
    assert names == prior.names
    np.testing.assert_allclose(scores, prior.scores, atol=1e-5)
    assert list(prior.block_of) == [0, 0, 1, 1, 1]


def test_the_density_is_the_formula():
    prior = pv.Features({"one": TABLE[["a", "b"]], "two": TABLE[["c", "d", "e"]]})
    drawn = poutine.trace(prior).get_trace(12, 3)
    site = {name: node["value"].numpy() for name, node in drawn.iter_stochastic_nodes()}
    mean = site["offset"] + sum(
        site["reach"][i] * (block.scores @ site["W"][prior.block_of == i])
        for i, block in enumerate(prior.blocks)
    )
    expected = (
        stats.norm(mean, site["residual"]).logpdf(site["X"]).sum()
        + stats.norm.logpdf(site["W"]).sum()
        + stats.halfcauchy(scale=0.1).logpdf(site["reach"]).sum()
        + stats.norm(0, 0.5).logpdf(site["offset"]).sum()
        + stats.lognorm(0.5, scale=0.22).logpdf(site["residual"]).sum()
    )
    assert drawn.log_prob_sum().item() == pytest.approx(expected, rel=1e-4)


def test_objects_are_matched_by_name():
    prior = pv.Features(TABLE.iloc[::-1])
    names = [f"thing {i}" for i in (3, 1, 7)]
    part = prior.for_objects(names)
    np.testing.assert_array_equal(part.scores, prior.scores[[8, 10, 4]])
    assert part.names == tuple(names)
    assert prior.for_objects(prior.names) is prior
    with pytest.raises(DataError, match=r"no row for 1 object \('fish'\) of 2.*matched by name"):
        prior.for_objects(["thing 1", "fish"])
    unnamed = pv.Features(TABLE.to_numpy())
    assert unnamed.for_objects(names * 4) is unnamed
    with pytest.raises(DataError, match="12 rows without names, and the judgments are of 3"):
        unnamed.for_objects(names)


def test_the_model_takes_the_rows_of_its_judgments():
    data = pv.Triplets([[0, 1, 2]], [0], names=["thing 5", "thing 2", "thing 9"])
    model = Model(pv.Features(TABLE), 3, 2, data)
    assert model.prior.names == data.names
    with pytest.raises(PriorError, match="features are of 12 objects and the embedding of 3"):
        Model(pv.Features(TABLE), 3, 2).embedding()


def test_more_features_than_objects():
    wide = RNG.standard_normal((6, 40))
    prior = pv.Features(wide)
    # Centred rows of six objects have five directions.
    assert prior.n_components == 5
    assert prior.blocks[0].explained == pytest.approx(1)


def test_constant_columns_are_left_out_aloud():
    with pytest.warns(PyroviceWarning, match=r"left out 1 column \('k'\) of 6"):
        prior = pv.Features(TABLE.assign(k=2.0))
    np.testing.assert_allclose(abs(prior.scores), abs(pv.Features(TABLE).scores), atol=1e-5)
    _, scores = prior.scores_of(TABLE.assign(k=99.0))
    np.testing.assert_allclose(scores, prior.scores, atol=1e-5)
    with pytest.raises(DataError, match="all 2 columns are constant"):
        pv.Features(np.ones((4, 2)))


def test_other_columns_are_refused():
    prior = pv.Features(TABLE)
    with pytest.raises(DataError, match="4 columns here and had 5"):
        prior.scores_of(TABLE[list("abcd")])
    with pytest.raises(DataError, match=r"lack 1 column \('e'\)"):
        prior.scores_of(TABLE.rename(columns={"e": "f"}))
    two = pv.Features({"one": TABLE, "two": TABLE})
    with pytest.raises(DataError, match=r"blocks of features 'one', 'two' and these are 'one'"):
        two.scores_of({"one": TABLE})


def test_bad_arguments():
    with pytest.raises(PriorError, match="leave names= out"):
        pv.Features(TABLE, names=TABLE.index)
    with pytest.raises(PriorError, match="12 rows and there are 2 names"):
        pv.Features(TABLE.to_numpy(), names=["a", "b"])
    with pytest.raises(ValueError, match="components"):
        pv.Features(TABLE, components=0)


def test_it_is_a_value_that_files_hold():
    prior = pv.Features({"one": TABLE, "two": TABLE * 2 + RNG.standard_normal(TABLE.shape)})
    again = restore(describe(prior))
    assert again == prior
    assert hash(again) == hash(prior)
    assert repr(again) == repr(prior)
    np.testing.assert_array_equal(again.scores, prior.scores)
    assert pv.Features(TABLE) == pv.Features(TABLE)
    assert pv.Features(TABLE) != pv.Features(TABLE, components=2)
    assert "one: 5 of 5, two: 5 of 5; 12 objects" in repr(prior)
    with pytest.raises(AttributeError):
        prior.components = 3


def test_a_start_from_weights_that_features_make():
    prior = pv.Features(TABLE)
    slopes = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    X = 100 * torch.from_numpy(prior.scores) @ slopes + 0.3
    found = prior.sites_for(X)
    predicted = torch.from_numpy(prior.scores) @ (found["W"] * found["reach"]) + found["offset"]
    assert np.corrcoef(predicted.flatten(), X.flatten())[0, 1] > 0.95
    torch.testing.assert_close(found["offset"], X.mean(0))
    torch.testing.assert_close(found["W"].square().mean(0), torch.ones(2))
