"""A fit in one file (see :mod:`pyrovice.archives`).

Loading runs no code: it reads numbers and text, and looks up names in a short list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyro
import pyro.distributions as dist
import torch
from pyro.distributions.torch_distribution import TorchDistributionMixin

from pyrovice.archives import group, pack, reading, unpack
from pyrovice.errors import GuideError, OverwriteError, PriorError, SavedFitError
from pyrovice.fitted import Fit
from pyrovice.guides import MAP, LowRank, MeanField, SiteGuide
from pyrovice.hyper import Hyperposterior
from pyrovice.model import Model
from pyrovice.posterior import (
    DrawnPosterior,
    LogNormalPosterior,
    LowRankPosterior,
    NormalPosterior,
    PointPosterior,
    Posterior,
)
from pyrovice.priors import ARD, Horseshoe, LearnedSpikeSlab, SpikeSlab
from pyrovice.refining import Langevin
from pyrovice.sampling import NUTS
from pyrovice.stopping import MaxEpochs, Stability
from pyrovice.training import Anneal, Training
from pyrovice.whole_files import write_whole

FORMAT = 1
WHAT = "a fit that pyrovice saved"
VALUES = {
    cls.__name__: cls
    for cls in (
        *(SpikeSlab, LearnedSpikeSlab, Horseshoe, ARD),
        *(MAP, MeanField, LowRank, NUTS, Langevin),
        *(Training, Anneal, Stability, MaxEpochs),
    )
}
POSTERIORS: dict[frozenset[str], type] = {
    frozenset({"mu", "sigma"}): NormalPosterior,
    frozenset({"mu", "sigma", "factor"}): LowRankPosterior,
    frozenset({"log_mu", "log_sigma"}): LogNormalPosterior,
    frozenset({"point"}): PointPosterior,
    frozenset({"stored"}): DrawnPosterior,
}


class GivenAsCode:
    """Stands for a prior or guide that was a function, which no file can hold."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise (GuideError if len(args) == 1 else PriorError)(
            f"{self.text} was given to this fit as code, and a saved fit holds no code; pass it "
            "again to pyrovice.fit."
        )

    def __repr__(self) -> str:
        return self.text


def save(fit: Fit, path: Path, *, overwrite: bool) -> None:
    """Write `fit` to `path`, whole or not at all."""
    if path.exists() and not overwrite:
        raise OverwriteError(
            f"{path} exists and is not replaced. Choose another name, or say "
            "fit.save(path, overwrite=True)."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")
    write_whole(path, to_bytes(fit), replace=overwrite)


def to_bytes(fit: Fit, **notes: Any) -> bytes:
    """The content of a file that holds `fit`, with `notes` about it in its record."""
    history = fit.history.reset_index()
    record = {
        "format": FORMAT,
        "pyrovice": version("pyrovice"),
        "prior": describe(fit.prior),
        "guide": describe(fit.guide_family),
        "training": describe(fit.training),
        "seed": fit.seed,
        "names": list(fit.names),
        "converged": fit.converged,
        "n_judgments": fit.n_judgments,
        "data_digest": fit.data_digest,
        "first_dimensions": fit.first_dimensions,
        "pruned": fit.pruned,
        "history": {name: str(kind) for name, kind in history.dtypes.items()},
        "notes": notes,
    }
    arrays = {f"posterior/{name}": array for name, array in fit.posterior.arrays().items()}
    arrays |= {f"hyper/{name}": draws for name, draws in fit.hyperposterior.draws.items()}
    arrays |= {f"history/{name}": history[name].to_numpy() for name in history}
    if isinstance(fit.fitted_guide, SiteGuide):
        arrays |= {
            f"guide/{name}": value.detach().cpu().numpy()
            for name, value in fit.fitted_guide.named_parameters()
        }
    return pack(record, arrays)


def load(path: str | Path) -> Fit:
    """Read a fit that :meth:`Fit.save` wrote.

    Predictions, embedding and history are those of the saved fit. The file
    holds no judgments: ``fit.model`` must be called with some.

    Examples
    --------
    >>> import tempfile, pathlib, pyrovice as pv
    >>> example = pv.load_example()
    >>> fit = pv.fit(example.triplets, dimensions=12)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "example.fit"
    >>> fit.save(path)
    >>> again = pv.load(path)
    >>> bool((again.predict(example.triplets) == fit.predict(example.triplets)).all())
    True
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; expected a file that fit.save(path) wrote."
        )
    return from_source(path)


def from_source(source: Path | bytes) -> Fit:
    """The fit in a file or in the content of one."""
    with reading(source, WHAT, SavedFitError):
        return _rebuild(*unpack(source))


def notes_in(source: Path | bytes) -> dict[str, Any]:
    """The notes that :func:`to_bytes` was given, from a file that is whole."""
    with reading(source, WHAT, SavedFitError):
        notes = unpack(source)[0]["notes"]
        if not isinstance(notes, dict):
            raise ValueError("its notes are none")
        return notes


def describe(value: Any) -> Any:
    """A prior, guide or setting as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [describe(item) for item in value]
    if type(value) is VALUES.get(type(value).__name__) and is_dataclass(value):
        return {
            "kind": type(value).__name__,
            **{f.name: describe(getattr(value, f.name)) for f in fields(value)},
        }
    if _is_pyro_distribution(value):
        arguments = {name: float(getattr(value, name)) for name in value.arg_constraints}
        return {"kind": "distribution", "name": type(value).__name__, "arguments": arguments}
    return {"kind": "code", "text": getattr(value, "__name__", None) or repr(value)}


def restore(described: Any) -> Any:
    """What :func:`describe` described."""
    if isinstance(described, list):
        return tuple(restore(item) for item in described)
    if not isinstance(described, dict):
        return described
    kind = described["kind"]
    if kind == "code":
        return GivenAsCode(str(described["text"]))
    if kind == "distribution":
        cls = getattr(dist, described["name"])
        if not (isinstance(cls, type) and issubclass(cls, TorchDistributionMixin)):
            raise SavedFitError(f"{described['name']!r} is no distribution.")
        return cls(**{name: float(value) for name, value in described["arguments"].items()})
    if kind not in VALUES:
        raise SavedFitError(f"it holds a {kind!r}, which this version of pyrovice does not know.")
    return VALUES[kind](
        **{name: restore(value) for name, value in described.items() if name != "kind"}
    )


def _is_pyro_distribution(value: Any) -> bool:
    if not isinstance(value, TorchDistributionMixin) or value.batch_shape or value.event_shape:
        return False
    cls = getattr(dist, type(value).__name__, None)
    arguments = set(inspect.signature(cls).parameters) if cls is type(value) else set()
    return bool(value.arg_constraints) and set(value.arg_constraints) <= arguments


def _rebuild(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fit:
    if record["format"] != FORMAT:
        raise SavedFitError(
            f"it has the format {record['format']}, and this version of pyrovice reads {FORMAT}. "
            f"It was written by pyrovice {record.get('pyrovice')}."
        )
    names = tuple(str(name) for name in record["names"])
    posterior = _posterior(group(arrays, "posterior"), len(names))
    prior, training = restore(record["prior"]), restore(record["training"])
    model = Model(prior, len(names), posterior.shape[1])
    family, guide = restore(record["guide"]), None
    # Pyro has no plates of size zero, so a fit without dimensions has no guide either.
    if posterior.shape[1] and not isinstance(prior, GivenAsCode) and group(arrays, "guide"):
        guide = _guide(family, model, group(arrays, "guide"))
    history = pd.DataFrame(
        {name: _column(arrays[f"history/{name}"], kind) for name, kind in record["history"].items()}
    )
    return Fit(
        prior=prior,
        guide_family=family,
        training=training,
        seed=int(record["seed"]),
        names=names,
        model=model,
        posterior=posterior,
        history=history.set_index("epoch"),
        converged=bool(record["converged"]),
        n_judgments=int(record["n_judgments"]),
        data_digest=str(record["data_digest"]),
        fitted_guide=guide,
        first_dimensions=int(record["first_dimensions"]),
        hyperposterior=_hyperposterior(group(arrays, "hyper"), posterior.shape[1]),
        pruned=bool(record["pruned"]),
    )


def _column(values: np.ndarray, kind: str) -> np.ndarray:
    if values.ndim != 1 or not {np.dtype(kind).kind, values.dtype.kind} <= set("iufb"):
        raise SavedFitError("its history does not consist of columns of numbers.")
    return values.astype(kind)


def _posterior(arrays: dict[str, np.ndarray], n_objects: int) -> Posterior:
    kind = POSTERIORS.get(frozenset(arrays))
    shapes = {array.shape[-2:] for array in arrays.values()}
    numeric = all(array.dtype in (np.float32, np.float64) for array in arrays.values())
    if kind is None or len(shapes) != 1 or not numeric or shapes.pop()[0] != n_objects:
        raise SavedFitError("its posterior does not fit its record.")
    return kind(**arrays)


def _hyperposterior(arrays: dict[str, np.ndarray], dimensions: int) -> Hyperposterior:
    if any(
        draws.ndim == 0 or draws.shape[1:] not in ((), (dimensions,)) for draws in arrays.values()
    ):
        raise SavedFitError("its hyperparameters do not fit its posterior.")
    return Hyperposterior(arrays)


def _guide(
    family: Callable[[Model], SiteGuide], model: Model, parameters: dict[str, np.ndarray]
) -> SiteGuide:
    with pyro.settings.context(module_local_params=True):
        guide = family(model)
    expected = {name: tuple(value.shape) for name, value in guide.named_parameters()}
    if expected != {name: value.shape for name, value in parameters.items()}:
        raise SavedFitError("its guide does not fit its prior.")
    for name, value in parameters.items():
        guide.put(name, torch.from_numpy(value))
    return guide
