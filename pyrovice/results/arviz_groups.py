"""A fit as an ArviZ container: posterior, predictions and pointwise likelihoods with names."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from numpy.typing import NDArray

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import whole
from pyrovice.errors import DataError, PyroviceError, tell
from pyrovice.model.priors import Features
from pyrovice.results.arviz_versions import container
from pyrovice.results.explained import explained_draws
from pyrovice.results.joint_draws import Draws, evenly, posterior_draws, prior_draws
from pyrovice.results.prediction import draw_answers, random_answers
from pyrovice.results.pruning import MIN_OBJECTS
from pyrovice.results.site_tables import labelled
from pyrovice.storage.identity import name_of
from pyrovice.storage.registry import GivenAsCode
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
    "sample_stats",
)
WITHOUT_DATA = ("posterior", "prior", "sample_stats")
# Entries of the largest group: 200 MB of log-likelihoods.
MOST_LIKELIHOODS = 50_000_000
# By how much equal log-likelihoods are told apart, in nats.
TIE_BREAK = np.float32(1e-5)

logger = logging.getLogger("pyrovice")


def to_arviz(
    fits: Fit | Sequence[Fit],
    data: Triplets | None = None,
    *,
    draws: int = 500,
    groups: Sequence[str] | None = None,
    judgments: int | None = None,
    pruned: bool = True,
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
        `log_likelihood`, `observed_data`, `constant_data` and, of chains, `sample_stats`; all
        by default.
    judgments : int, optional
        How many judgments to predict, chosen at random. By default all of them, or as
        many as keep every group below 200 MB; the attribute `judgments` of the
        container says how many of how many.
    pruned : bool
        Whether posterior and prior have the kept dimensions only. If none is kept they have
        all, which is said.
    seed : int
        The same seed gives the same draws: those of ``fit.draws(draws, seed)``.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        Whichever the installed ArviZ works with. The variable `X` holds the
        *rectified* weights of the kept dimensions; every other latent site has its own
        name, and coordinates by the plates that it is in. One draw of all groups belongs
        together. `odd` is the position of the odd one among the three ascending `objects` of
        a triplet. Predictions use all dimensions of a fit, as ``fit.predict`` does: their
        mean over draws is the same. ``fit.prune().to_arviz(data)`` is about the kept ones
        only. A fit whose prior is not at hand has no prior groups.

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
    >>> float(idata.posterior["X"].sel(object="cat", dimension=1).mean()) > 0.5
    True
    """
    chains = [fits] if not isinstance(fits, Sequence) else list(fits)
    _check(chains, data)
    wanted = _wanted(groups, data)
    draws = whole(draws, "draws", least=1)
    first = chains[0]
    drawn = _by_chain([posterior_draws(fit, draws, seed + i) for i, fit in enumerate(chains)])
    shape = drawn["X"].shape
    kept = np.arange(shape[-1]) if len(chains) > 1 else _kept(first, pruned)
    shown = None if data is None else _chosen(data, judgments, shape[0] * shape[1], seed)
    made: dict[str, xr.Dataset] = {}
    rng = random_answers(seed)
    if "posterior" in wanted:
        made["posterior"] = _variables(drawn, first, kept)
    if shown is not None:
        made |= _predictions(first, drawn, shown, wanted, "posterior_predictive", rng)
    if {"prior", "prior_predictive"} & wanted and not isinstance(first.prior, GivenAsCode):
        before = prior_draws(first, shape[1], seed)
        if "prior" in wanted:
            made["prior"] = _variables(before, first, kept)
        if shown is not None:
            without = wanted - {"log_likelihood"}
            made |= _predictions(first, before, shown, without, "prior_predictive", rng)
    if "sample_stats" in wanted and first.posterior.sample_stats and len(chains) == 1:
        made["sample_stats"] = _sample_stats(first, shape[1])
    if shown is not None:
        made |= {name: group for name, group in _about(shown).items() if name in wanted}
    return container(
        {name: made[name] for name in GROUPS if name in made}, _attributes(chains, data, shown)
    )


def _by_chain(fits: list[Draws]) -> Draws:
    """The sites that all fits have, one chain after another."""
    names = [name for name in fits[0] if all(name in drawn for drawn in fits)]
    same = [name for name in names if len({drawn[name].shape[1:] for drawn in fits}) == 1]
    return {name: np.concatenate([drawn[name] for drawn in fits]) for name in same}


def _kept(fit: Fit, pruned: bool) -> NDArray[np.intp]:
    everything = np.arange(fit.posterior.shape[1])
    if not pruned:
        return everything
    kept = fit.kept_positions()
    if len(kept) == 0:
        tell(
            f"No dimension has more than {MIN_OBJECTS} objects with a credibly positive weight, so "
            f"none is kept; the container has all {len(everything)}. Say pruned=False if that is "
            "what you want, or prune by another rule first: fit.prune(min_objects=2)."
        )
    return kept if len(kept) else everything


def _check(chains: list[Fit], data: Triplets | None) -> None:
    if not chains:
        raise PyroviceError("to_arviz got no fits; expected at least one.")
    shapes = {fit.posterior.shape for fit in chains}
    if len(shapes) > 1 or len({fit.names for fit in chains}) > 1:
        raise PyroviceError(
            "These fits differ in their objects or in their number of dimensions, so they are "
            "not chains of one posterior; bring them into one order first: pv.align(fits)."
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


def _chosen(data: Triplets, judgments: int | None, draws: int, seed: int) -> Triplets:
    most = (
        max(1, MOST_LIKELIHOODS // draws) if judgments is None else whole(judgments, "judgments", 1)
    )
    if most >= len(data):
        return data
    logger.info("to_arviz: %d of %d judgments, chosen at random", most, len(data))
    return data.subset(most, seed)


def _variables(drawn: Draws, fit: Fit, kept: NDArray[np.intp]) -> xr.Dataset:
    """Every site with its coordinates, of the kept dimensions."""
    found = {}
    axes_of = {name: site.axes for name, site in fit.posterior.others.items()}
    axes_of["X"] = ("object", "dimension")
    if isinstance(fit.prior, Features):
        drawn = drawn | {"explained": explained_draws(fit.prior, drawn)}
        axes_of["explained"] = ("block", "dimension")
    for name, values in drawn.items():
        axes = axes_of[name]
        variable = labelled(values, axes, fit.labels(), name)
        if "dimension" in axes and len(kept) < variable.sizes["dimension"]:
            variable = variable.isel(dimension=kept)
        found[name] = variable
    found["X"].attrs["description"] = "rectified weight of an object in a dimension, [X]+"
    if "explained" in found:
        found["explained"].attrs["description"] = "share of a dimension that a block predicts"
    return xr.Dataset(found)


def _sample_stats(fit: Fit, draws: int) -> xr.Dataset:
    """What the sampler said of the draws that are in the posterior."""
    stats = fit.posterior.sample_stats
    return xr.Dataset(
        {
            name: labelled(values[:, evenly(values.shape[1], draws)], (), {}, name)
            for name, values in stats.items()
        }
    )


def _counted(shape: tuple[int, ...]) -> dict[str, Any]:
    return {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}


def _predictions(
    fit: Fit,
    drawn: Draws,
    shown: Triplets,
    wanted: set[str],
    predictive: str,
    rng: np.random.Generator,
) -> dict[str, xr.Dataset]:
    """Drawn answers and, where wanted, the log-likelihood of the real ones, draw by draw."""
    if not {predictive, "log_likelihood"} & wanted:
        return {}
    shape = (*drawn["X"].shape[:2], len(shown))
    answers = np.empty(shape, np.int8) if predictive in wanted else None
    scores = np.empty(shape, np.float32) if "log_likelihood" in wanted else None
    given = shown.odd.astype(np.int64)[:, None]
    for at, log_p in choice_log_probabilities(fit, drawn, shown):
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
    scores[..., tied] -= TIE_BREAK * rng.random((*scores.shape[:2], tied.sum()), dtype=np.float32)


def choice_log_probabilities(
    fit: Fit, drawn: Draws, shown: Triplets
) -> Iterator[tuple[tuple[int, ...], NDArray[np.float32]]]:
    """Index of each draw and its log-probabilities of the three answers, (n, 3)."""
    questions = fit.model.judgments(shown)
    for at in np.ndindex(drawn["X"].shape[:2]):
        sites = {name: torch.as_tensor(values[at]) for name, values in drawn.items()}
        yield at, fit.model.choice_log_probability(sites, questions).numpy()


def _about(shown: Triplets) -> dict[str, xr.Dataset]:
    coords = {"triplet": np.arange(len(shown)), "place": np.arange(3)}
    names = np.array(shown.names, dtype=object)
    constant: dict[str, Any] = {
        "objects": (("triplet", "place"), shown.objects),
        "names": (("triplet", "place"), names[shown.objects]),
    }
    if shown.anchored.any():
        constant["anchor"] = ("triplet", shown.anchor)
    if shown.participants is not None:
        who = shown.participants
        # A column of mixed labels has no type of its own in a file.
        text = np.where(pd.isna(who), "", who.astype(str)) if who.dtype == object else who
        constant["participant"] = ("triplet", text)
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
        "prior": name_of(fit.prior),
        "choice": name_of(fit.choice),
        "guide": name_of(fit.guide_family),
        "training": str(fit.training),
        "seed": ", ".join(str(each.seed) for each in chains),
        "data_digest": fit.data_digest,
    }
    if data is not None and shown is not None:
        attributes["predicted_data_digest"] = data.digest()
        attributes["judgments"] = f"{len(shown)} of {len(data)}"
    return attributes
