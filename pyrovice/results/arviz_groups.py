"""A fit as an ArviZ container: posterior, predictions and pointwise likelihoods with names."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PyroviceError
from pyrovice.model.judgments import Judgments, choice_log_probability
from pyrovice.model.priors import resolve_prior
from pyrovice.results.arviz_versions import container
from pyrovice.results.posterior import DrawnPosterior
from pyrovice.results.prediction import draw_answers, random_answers
from pyrovice.storage.version import __version__

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

GROUPS = (
    "posterior",
    "prior",
    "posterior_predictive",
    "prior_predictive",
    "log_likelihood",
    "observed_data",
    "constant_data",
)
WITHOUT_DATA = GROUPS[:2]
# Entries of the largest group: 200 MB of log-likelihoods.
MOST_ENTRIES = 50_000_000
# Of the prior, which no data inform, 100 MB do, but always enough draws for a picture.
MOST_PRIOR_ENTRIES, FEWEST_DRAWS = 25_000_000, 50
# By how much equal log-likelihoods are told apart, in nats.
APART = np.float32(1e-5)

logger = logging.getLogger("pyrovice")


def to_arviz(
    fits: Fit | Sequence[Fit],
    data: Triplets | None = None,
    *,
    draws: int = 500,
    groups: Sequence[str] | None = None,
    judgments: int | None = None,
    seed: int = 0,
) -> Any:
    """Turn a fit, or several aligned fits as chains, into what ArviZ works with.

    Parameters
    ----------
    fits : Fit or sequence of Fit
        Fits of several seeds become chains. Their dimensions must be in one common
        order: ``to_arviz(pv.align(fits), data)``.
    data : Triplets, optional
        The judgments to predict. Without them there are the groups `posterior` and
        `prior` only.
    draws : int
        Draws per chain. Of a fit by :func:`pyrovice.sample` at most those there are; of
        the prior of a large embedding as many as fit into 100 MB.
    groups : sequence of str, optional
        Which of `posterior`, `prior`, `posterior_predictive`, `prior_predictive`,
        `log_likelihood`, `observed_data` and `constant_data`; all by default.
    judgments : int, optional
        How many judgments to predict, chosen at random. By default all of them, or as
        many as keep every group below 200 MB; the attribute `judgments` of the
        container says how many of how many.
    seed : int
        The same seed gives the same draws: those of ``fit.draws(draws, seed)``.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        Whichever the installed ArviZ works with. The variable `X` holds the
        *rectified* weights of the kept dimensions; `odd` is the position of the odd
        one among the three ascending `objects` of a triplet. Predictions use all
        dimensions of a fit, as ``fit.predict`` does: their mean over draws is the
        same. ``fit.prune().to_arviz(data)`` is about the kept ones only.

    Notes
    -----
    Draws from a guide are independent whether or not the guide is right, so R-hat and
    effective sample sizes of one fit say nothing: ``az.summary(..., kind="stats")``.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> fit = pv.fit(data, dimensions=12)
    >>> idata = pv.to_arviz(fit, data, draws=100)
    >>> dict(idata.posterior["X"].sizes)
    {'chain': 1, 'draw': 100, 'object': 80, 'dimension': 7}
    >>> float(idata.posterior["X"].sel(object="cat", dimension=0).mean()) > 0.5
    True
    """
    chains = [fits] if not isinstance(fits, Sequence) else list(fits)
    _check(chains, data)
    wanted = _wanted(groups, data)
    draws = whole(draws, "draws", least=1)
    X = np.concatenate(
        [_draws_of(fit, draws, seed + i) for i, fit in enumerate(chains)]
    )  # (chains, draws, m, d)
    first = chains[0]
    kept = np.arange(X.shape[-1]) if len(chains) > 1 else first._kept()
    coords: dict[str, Any] = {"object": list(first.names), "dimension": kept}
    shown = None if data is None else _chosen(data, judgments, X.shape[0] * X.shape[1], seed)
    made: dict[str, xr.Dataset] = {}
    rng = random_answers(seed)
    if "posterior" in wanted:
        made["posterior"] = _weights(_columns(X, kept), coords)
        made["posterior"].update(_hyper(first, X.shape, kept, rng) if len(chains) == 1 else {})
    if shown is not None:
        made |= _predictions(X, shown, wanted, "posterior_predictive", rng)
    if {"prior", "prior_predictive"} & wanted:
        before = _prior_draws(first, X.shape[1], X.shape[-1], seed)
        if "prior" in wanted:
            made["prior"] = _weights(_columns(before, np.arange(len(kept))), coords)
        if shown is not None:
            made |= _predictions(
                before, shown, wanted - {"log_likelihood"}, "prior_predictive", rng
            )
    if shown is not None:
        made |= {name: group for name, group in _about(shown).items() if name in wanted}
    return container(
        {name: made[name] for name in GROUPS if name in made}, _attributes(chains, data, shown)
    )


def _check(chains: list[Fit], data: Triplets | None) -> None:
    if not chains:
        raise PyroviceError("to_arviz got no fits; expected at least one.")
    shapes = {fit.posterior.shape for fit in chains}
    if len(shapes) > 1 or len({fit.names for fit in chains}) > 1:
        raise PyroviceError(
            "These fits differ in their objects or in their number of dimensions, so they are "
            "no chains of one posterior; bring them into one order first: pv.align(fits)."
        )
    if next(iter(shapes))[1] == 0:
        raise PyroviceError("This fit has no dimensions, so there is nothing to draw.")
    if data is not None and data.n_objects != next(iter(shapes))[0]:
        raise DataError(
            f"The judgments are of {data.n_objects} objects and the fit of "
            f"{next(iter(shapes))[0]}; read them with names=fit.names."
        )


def _wanted(groups: Sequence[str] | None, data: Triplets | None) -> set[str]:
    if groups is None:
        return set(GROUPS if data is not None else WITHOUT_DATA)
    unknown = set(groups) - set(GROUPS)
    if isinstance(groups, str) or unknown:
        raise PyroviceError(
            f"groups={groups!r}; expected a list with some of {', '.join(map(repr, GROUPS))}."
        )
    if data is None and set(groups) - set(WITHOUT_DATA):
        raise PyroviceError(
            f"The groups {sorted(set(groups) - set(WITHOUT_DATA))} are about judgments: pass "
            "them, fit.to_arviz(data)."
        )
    return set(groups)


def _draws_of(fit: Fit, draws: int, seed: int) -> NDArray[np.float32]:
    """Rectified draws by chain, (chains, draws, m, d)."""
    posterior = fit.posterior
    if isinstance(posterior, DrawnPosterior) and len(posterior.stored) > 1:
        have = posterior.stored.shape[1]
        evenly = np.linspace(0, have - 1, min(draws, have)).round().astype(int)
        return np.maximum(posterior.stored[:, evenly], 0)
    return posterior.draws(draws, seed)[None]


def _prior_draws(fit: Fit, draws: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Rectified draws of the prior, one chain of them; of a large embedding fewer."""
    sample = resolve_prior(fit.prior)
    entries = len(fit.names) * dimensions
    draws = min(draws, max(FEWEST_DRAWS, MOST_PRIOR_ENTRIES // entries))
    X = np.empty((1, draws, len(fit.names), dimensions), np.float32)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for draw in X[0]:
            draw[:] = sample(*draw.shape).relu().cpu().numpy()
    return X


def _chosen(data: Triplets, judgments: int | None, draws: int, seed: int) -> Triplets:
    most = max(1, MOST_ENTRIES // draws) if judgments is None else whole(judgments, "judgments", 1)
    if most >= len(data):
        return data
    logger.info("to_arviz: %d of %d judgments, chosen at random", most, len(data))
    return data.subset(most, seed)


def _columns(X: NDArray[np.float32], kept: NDArray[np.intp]) -> NDArray[np.float32]:
    """The kept dimensions; without a copy if they are all."""
    return X if len(kept) == X.shape[-1] else X[..., kept]


def _weights(X: NDArray[np.float32], coords: dict[str, Any]) -> xr.Dataset:
    weights = xr.DataArray(
        X,
        dims=("chain", "draw", "object", "dimension"),
        coords=_counted(X.shape) | coords,
        attrs={"description": "rectified weight of an object in a dimension, [X]+"},
    )
    return xr.Dataset({"X": weights})


def _counted(shape: tuple[int, ...]) -> dict[str, Any]:
    return {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}


def _hyper(
    fit: Fit, shape: tuple[int, ...], kept: NDArray[np.intp], rng: np.random.Generator
) -> dict[str, Any]:
    """As many draws of each hyperparameter as there are of X; not jointly with it."""
    chosen = None
    variables: dict[str, Any] = {}
    for name, values in fit.hyperposterior.draws.items():
        if chosen is None:
            chosen = rng.integers(0, len(values), shape[:2])
        if values.ndim == 2:
            variables[name] = (("chain", "draw", "dimension"), values[chosen][..., kept])
        else:
            variables[name] = (("chain", "draw"), values[chosen])
    return variables


def _predictions(
    X: NDArray[np.float32],
    shown: Triplets,
    wanted: set[str],
    predictive: str,
    rng: np.random.Generator,
) -> dict[str, xr.Dataset]:
    """Drawn answers and, where wanted, the log-likelihood of the real ones, draw by draw."""
    if not {predictive, "log_likelihood"} & wanted:
        return {}
    shape = (*X.shape[:2], len(shown))
    answers = np.empty(shape, np.int8) if predictive in wanted else None
    scores = np.empty(shape, np.float32) if "log_likelihood" in wanted else None
    given = shown.odd.astype(np.int64)[:, None]
    for at, log_p in choice_log_probabilities(X, shown):
        if answers is not None:
            answers[at] = draw_answers(np.exp(log_p), rng)
        if scores is not None:
            scores[at] = np.take_along_axis(log_p, given, axis=1)[:, 0]
    if scores is not None:
        _tell_apart(scores, rng)
    found = {predictive: answers, "log_likelihood": scores}
    coords = _counted(shape) | {"triplet": np.arange(len(shown))}
    return {
        name: xr.Dataset({"odd": (("chain", "draw", "triplet"), values)}, coords=coords)
        for name, values in found.items()
        if values is not None
    }


def _tell_apart(scores: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Break ties among the lowest log-likelihoods of a judgment, in place.

    Objects without weights are chosen with the same probability in draw after draw. A
    Pareto tail cannot be fitted to equal numbers: ArviZ 0.x calls it infinitely heavy,
    and ArviZ 1.x gives up.
    """
    draws = scores.shape[0] * scores.shape[1]
    # Half of the tail that leave-one-out fits, which varies a little.
    many = min(0.2 * draws, 3 * draws**0.5) / 2
    tied = (scores == scores.min(axis=(0, 1))).sum(axis=(0, 1)) >= many
    scores[..., tied] -= APART * rng.random((*scores.shape[:2], tied.sum()), dtype=np.float32)


def choice_log_probabilities(
    X: NDArray[np.float32], shown: Triplets
) -> Iterator[tuple[tuple[int, ...], NDArray[np.float32]]]:
    """Index of each draw and its log-probabilities of the three answers, (n, 3)."""
    questions = Judgments.of(shown)
    for at in np.ndindex(X.shape[:-2]):
        drawn = torch.from_numpy(X[at])
        yield at, choice_log_probability(drawn, questions.pairs, questions.anchor).numpy()


def _about(shown: Triplets) -> dict[str, xr.Dataset]:
    coords = {"triplet": np.arange(len(shown)), "place": np.arange(3)}
    constant: dict[str, Any] = {"objects": (("triplet", "place"), shown.objects)}
    if shown.anchored.any():
        constant["anchor"] = ("triplet", shown.anchor)
    if shown.participants is not None:
        who = shown.participants
        # A column of mixed labels has no type of its own in a file.
        constant["participant"] = ("triplet", who.astype(str) if who.dtype == object else who)
    observed = xr.Dataset({"odd": ("triplet", shown.odd)}, {"triplet": coords["triplet"]})
    return {"observed_data": observed, "constant_data": xr.Dataset(constant, coords=coords)}


def _attributes(
    chains: list[Fit], data: Triplets | None, shown: Triplets | None
) -> dict[str, str | int]:
    """What was fitted to what, as text: a file holds nothing else."""
    fit = chains[0]
    attributes: dict[str, str | int] = {
        "inference_library": "pyrovice",
        "inference_library_version": __version__,
        "torch_version": version("torch"),
        "pyro_version": version("pyro-ppl"),
        "prior": str(fit.prior),
        "guide": str(fit.guide_family),
        "training": str(fit.training),
        "seed": ", ".join(str(each.seed) for each in chains),
        "data_digest": fit.data_digest,
    }
    if data is not None and shown is not None:
        attributes["predicted_data_digest"] = data.digest()
        attributes["judgments"] = f"{len(shown)} of {len(data)}"
    return attributes
