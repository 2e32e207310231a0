import numpy as np
import pandas as pd
import pytest
from helpers.embeddings import sparse_embedding
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

import pyrovice as pv
from pyrovice.results.matching import correlations, partners


def papers_score(embeddings, threshold=0.8):
    """ "The average Pearson correlation between one dimension and its best match", literally."""
    good = []
    for i, own in enumerate(embeddings):
        for dimension in own.T:
            best = [
                max(pearsonr(dimension, other_dimension).statistic for other_dimension in other.T)
                for j, other in enumerate(embeddings)
                if j != i
            ]
            good.append(np.mean(best) > threshold)
    return np.mean(good)


@pytest.fixture(scope="module")
def fits(small, small_fit):
    """Two seeds, and the first once more in another order."""
    other = pv.fit(small, dimensions=6, seed=1, progress=False)
    return [small_fit, other, small_fit._select(np.array([1, 2, 0]))]


@given(
    arrays(float, (8, 3), elements=st.floats(0, 3)),
    arrays(float, (8, 2), elements=st.floats(0, 3)),
)
def test_correlations_are_pearsons(X, Y):
    r = correlations(X, Y)
    for i, x in enumerate(X.T):
        for j, y in enumerate(Y.T):
            # Where nothing varies, or by less than rounding, there is no correlation to compare.
            if min(x.std(), y.std()) > 1e-6:
                assert r[i, j] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
            elif min(np.ptp(x), np.ptp(y)) == 0:
                assert r[i, j] == 0


@given(arrays(float, (4, 6), elements=st.floats(-1, 1)))
def test_partners_are_different_and_no_worse_than_in_order(r):
    columns = partners(r)
    assert len(set(columns)) == 4
    assert r[np.arange(4), columns].sum() >= r[np.arange(4), np.arange(4)].sum() - 1e-12
    left_over = partners(r.T)
    assert (left_over == -1).sum() == 2


def test_the_papers_score():
    rng = np.random.default_rng(0)
    truth = sparse_embedding(40, 6, seed=0)
    noisy = [
        np.maximum(truth + sd * rng.normal(size=truth.shape), 0)[:, rng.permutation(6)[:d]]
        for sd, d in ((0.3, 6), (0.6, 5), (0.9, 6))
    ]
    found = pv.reproducibility(noisy, threshold=0.7)
    assert 0 < found.score < 1
    assert found.score == pytest.approx(papers_score(noisy, threshold=0.7))
    assert len(found.table) == 17
    assert found.by_model.dimensions.tolist() == [6, 5, 6]
    weighted = (found.by_model.score * found.by_model.dimensions).sum() / 17
    assert weighted == pytest.approx(found.score)


@pytest.mark.parametrize("matching", ["best", "one-to-one"])
def test_permuted_copies_are_all_reproducible_and_strangers_are_not(matching):
    rng = np.random.default_rng(0)
    X = sparse_embedding(100, 8, seed=0)
    copies = [X[:, rng.permutation(8)] for _ in range(4)]
    assert pv.reproducibility(copies, matching=matching).score == 1
    strangers = [sparse_embedding(100, 8, seed=s) for s in range(4)]
    assert pv.reproducibility(strangers, matching=matching).score == 0


def test_one_to_one_gives_a_copy_no_second_match():
    X = sparse_embedding(50, 3, seed=0)
    twice = np.hstack([X, X[:, :1] * 2])
    assert pv.reproducibility([twice, X]).score == 1
    strict = pv.reproducibility([twice, X], matching="one-to-one")
    assert strict.score == pytest.approx(6 / 7)
    assert sorted(strict.table.correlation.round(6)) == [0, 1, 1, 1, 1, 1, 1]


def test_a_model_without_dimensions_lowers_the_average_of_the_others():
    X = sparse_embedding(30, 3, seed=0)
    found = pv.reproducibility([X, X, X[:, :0]])
    assert found.table.correlation.round(9).tolist() == [0.5] * 6
    assert found.table.lowest.tolist() == [0] * 6
    with pytest.raises(pv.PyroviceError, match="None of these fits kept a dimension"):
        pv.reproducibility([X[:, :0], X[:, :0]])


def test_fits_of_several_seeds(fits):
    found = pv.reproducibility(fits)
    assert found.score == 1
    assert list(found.table.columns[:3]) == ["model", "dimension", "correlation"]
    # Both are counted from 1.
    assert found.table[["model", "dimension"]].min().tolist() == [1, 1]
    assert found.by_model.index.tolist() == [1, 2, 3]
    assert found.score == papers_score([fit.embedding().to_numpy() for fit in fits])
    assert repr(found).startswith("Reproducibility(100.0% of the dimensions of 3 models")


def test_aligned_fits_have_their_dimensions_in_one_order(fits):
    aligned = pv.align(fits)
    assert [fit.n_dimensions for fit in aligned] == [3, 3, 3]
    assert [fit.posterior.shape for fit in aligned] == [(20, 3)] * 3
    for other in aligned[1:]:
        r = aligned[0].embedding().corrwith(other.embedding())
        assert r.min() > 0.95
    # The reference keeps its order, and what is aligned can still be used in Pyro.
    for same in (aligned[0], aligned[2]):
        pd.testing.assert_frame_equal(same.embedding(), fits[0].embedding())
    np.testing.assert_allclose(aligned[1].guide.loc.X.detach().clip(min=0), aligned[1].embedding())


def test_what_not_all_fits_have_is_left_out_aloud(fits):
    two = fits[1].prune()._select(np.array([1, 0]))
    with pytest.warns(pv.PyroviceWarning, match="keep 3, 2, 3 dimensions; the 2 that"):
        aligned = pv.align([fits[0], two, fits[2]])
    assert [fit.n_dimensions for fit in aligned] == [2, 2, 2]
    for other in (aligned[0], aligned[2]):
        assert two.embedding().corrwith(other.embedding()).min() > 0.95


def test_a_split_dimension_is_redundant(fits):
    half = np.array([0, 0, 1])
    split = fits[0].prune()._select(half)
    table = pv.redundancy(split)
    assert table.index.tolist()[:2] == [1, 2]
    assert table.partner.tolist()[:2] == [2, 1]
    assert table.correlation.iloc[:2].tolist() == pytest.approx([1, 1])
    r = np.corrcoef(split.embedding().T)
    assert table.correlation.iloc[2] == pytest.approx(r[2, :2].max())
    with pytest.raises(pv.PyroviceError, match="keeps 1 dimensions; expected at least two"):
        pv.redundancy(split._select(np.array([0])))


def test_the_representative_is_the_lower_median(fits, small):
    base = fits[0].prune()
    # Dropping dimensions makes the fit worse and worse.
    worse = [base._select(np.arange(d)) for d in (3, 2, 1)]
    errors = [fit.evaluate(small).cross_entropy for fit in worse]
    assert errors == sorted(errors)
    assert pv.representative([worse[2], worse[0], worse[1]], small) is worse[1]
    assert pv.representative([worse[1], worse[0]], small) is worse[0]
    none = base._select(np.array([], dtype=int))
    assert pv.representative([none, *worse], small) is worse[1]
    with pytest.raises(pv.PyroviceError, match="expected at least one"):
        pv.representative([], small)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"matching": "hungarian"}, "expected one of 'best', 'one-to-one'"),
        ({"threshold": 80}, "expected a correlation, for example 0.8"),
    ],
)
def test_bad_arguments(arguments, sentence):
    X = sparse_embedding(10, 2, seed=0)
    with pytest.raises(pv.PyroviceError, match=sentence):
        pv.reproducibility([X, X], **arguments)


def test_fits_that_cannot_be_matched(fits):
    with pytest.raises(pv.PyroviceError, match="expected at least two"):
        pv.reproducibility(fits[:1])
    with pytest.raises(pv.PyroviceError, match="different objects"):
        pv.reproducibility([fits[0], sparse_embedding(10, 2, seed=0)])
    named = fits[0].embedding().set_axis([f"thing {i}" for i in range(20)])
    assert pv.reproducibility([fits[0], named]).score == 1
    with pytest.raises(pv.PyroviceError, match="different objects"):
        pv.reproducibility([named, named[::-1]])
    for strange in ("best", {"a": fits[0], "b": fits[1]}):
        with pytest.raises(pv.DataError, match="Got a str for an embedding"):
            pv.reproducibility(strange)
    with pytest.raises(TypeError, match="Got a DataFrame among the fits"):
        pv.align([fits[0], fits[0].embedding()])
    with pytest.raises(pv.PyroviceError, match="Got 1 fits; expected at least two"):
        pv.align(fits[0])
    none = fits[0]._select(np.array([], dtype=int))
    with pytest.raises(pv.PyroviceError, match="keep 3, 0 dimensions"):
        pv.align([fits[0], none])
