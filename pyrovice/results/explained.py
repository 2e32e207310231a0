"""What features explain: shares of variance, and which features are behind a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.model.priors import Features
from pyrovice.results.new_objects import features_of

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

Array = NDArray[np.float64]


def explained(fit: Fit) -> pd.DataFrame:
    """Dimensions x blocks: the share of variance that features predict, object by object left out.

    Before they are rectified, the weights of a dimension are regressed on the features with the
    shrinkage that was learned. Every object is predicted from the others: its leave-one-out
    residual is e / (1 − h), with h its leverage. What is not known of the weights counts as
    variance of theirs. Blocks share what they predict together by their covariance with it.
    """
    prior = features_of(fit, "explained()")
    scores = prior.scores.astype(float)
    scores = scores - scores.mean(axis=0)
    gram = scores.T @ scores
    mu, sigma = (part.astype(float) for part in fit.posterior.marginals())
    reach, residual = _learned(fit, "reach"), _learned(fit, "residual")
    rows = []
    for j in range(mu.shape[1]):
        penalty = (residual[j] / reach[prior.block_of, j]) ** 2
        inverse = np.linalg.inv(gram + np.diag(penalty))
        centred = mu[:, j] - mu[:, j].mean()
        hat = scores @ inverse
        leverage = (hat * scores).sum(axis=1)
        weights = hat.T @ centred
        # What uncertain weights of the other objects add to the prediction of each.
        spread = scores.T @ (scores * sigma[:, [j]] ** 2)
        passed_on = ((hat @ spread) * hat).sum(axis=1) - (leverage * sigma[:, j]) ** 2
        left_out = ((centred - scores @ weights) / (1 - leverage)) ** 2 + sigma[:, j] ** 2
        error = (left_out + passed_on / (1 - leverage) ** 2).mean()
        share = max(0.0, 1 - error / (centred**2 + sigma[:, j] ** 2).mean())
        rows.append([*(share * _parts(prior, scores, weights)), share])
    columns = pd.Index([*(block.name for block in prior.blocks), "all"], name="block")
    return pd.DataFrame(rows, index=fit.importance().index, columns=columns)


def _learned(fit: Fit, name: str) -> Array:
    return fit.posterior.others[name].pooled.mean(axis=0).astype(float)


def _parts(prior: Features, scores: Array, weights: Array) -> Array:
    """How the variance of a prediction is divided between the blocks."""
    n = len(prior.blocks)
    each = np.stack([scores @ np.where(prior.block_of == i, weights, 0) for i in range(n)])
    together = each.sum(axis=0)
    return each @ together / max(together @ together, np.finfo(float).tiny)


def explained_draws(prior: Features, drawn: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The share of variance by block and dimension in each of several draws of all sites.

    var(f w) / (var(f w) + s²), divided between blocks as in :func:`explained`.
    """
    chains, draws = drawn["W"].shape[:2]
    scores = prior.scores - prior.scores.mean(axis=0)
    covariance = scores.T @ scores / len(scores)
    found = np.empty((chains, draws, len(prior.blocks), drawn["W"].shape[-1]), np.float32)
    for place in np.ndindex(chains, draws):
        weights = drawn["W"][place] * drawn["reach"][place][prior.block_of]
        with_all = weights * (covariance @ weights)
        parts = np.stack([with_all[prior.block_of == i].sum(0) for i in range(len(prior.blocks))])
        found[place] = parts / (parts.sum(axis=0) + drawn["residual"][place] ** 2)
    return found


def feature_weights(fit: Fit) -> pd.DataFrame:
    """(Block, feature) x dimensions: what one standard deviation of a feature adds to a weight."""
    prior = features_of(fit, "feature_weights()")
    weights = _component_weights(fit, prior)
    return _by_feature(fit, prior, [block.rotation for block in prior.blocks], weights)


def feature_correlations(fit: Fit) -> pd.DataFrame:
    """(Block, feature) x dimensions: correlation of features with what they predict together."""
    prior = features_of(fit, "top_features()")
    scores = prior.scores.astype(float)
    scores = scores - scores.mean(axis=0)
    predicted = scores @ _component_weights(fit, prior)
    size = np.maximum(predicted.std(axis=0), np.finfo(float).tiny)
    spread = np.maximum(scores.std(axis=0), np.finfo(float).tiny)[:, None]
    along = scores.T @ predicted / len(scores) / spread / size
    return _by_feature(fit, prior, [block.loadings for block in prior.blocks], along)


def top_features(fit: Fit, k: int) -> pd.DataFrame:
    """The features that go with each dimension most closely, a column per dimension."""
    found = feature_correlations(fit)
    ranks = pd.RangeIndex(1, min(k, len(found)) + 1, name="rank")
    names = found.index.get_level_values("feature")
    return pd.DataFrame(
        {j: names[np.argsort(-found[j].to_numpy(), kind="stable")[: len(ranks)]] for j in found},
        index=ranks,
        columns=found.columns,
    )


def _component_weights(fit: Fit, prior: Features) -> Array:
    W, reach = (fit.posterior.others[name].pooled for name in ("W", "reach"))
    n = min(len(W), len(reach))
    return (W[:n] * reach[:n][:, prior.block_of]).mean(axis=0).astype(float)


def _by_feature(
    fit: Fit, prior: Features, ways_back: list[NDArray[Any]], by_component: Array
) -> pd.DataFrame:
    parts = np.split(by_component, np.cumsum([way.shape[1] for way in ways_back])[:-1])
    rows = pd.MultiIndex.from_tuples(
        [(block.name, column) for block in prior.blocks for column in block.columns],
        names=["block", "feature"],
    )
    values = np.concatenate([way @ part for way, part in zip(ways_back, parts, strict=True)])
    return pd.DataFrame(values, index=rows, columns=fit.importance().index)
